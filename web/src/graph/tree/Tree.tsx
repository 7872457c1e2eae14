import { useMemo, useRef, useState } from "preact/hooks";
import type { GraphState } from "../../model/state";
import { numeral } from "../drawing/text";
import type { Followed } from "../useScene";
import { type TreeRow, treeRows } from "./rows";

export interface TreeProps {
  readonly followed: Followed;
  readonly state: GraphState;
  onState(state: GraphState): void;
  onEdges(edges: readonly number[]): void;
}

/** The rows of the table beyond these are shown on demand. */
const MOST_ROWS = 500;

/**
 * The state of the graph as a treegrid (WAI-ARIA 1.2): right opens a row or goes into it, left closes it or goes out, up
 * and down go through the rows, Enter shows the path of a row's column.
 */
export function Tree({ followed, state, onState, onEdges }: TreeProps) {
  const [expanded, setExpanded] = useState<ReadonlySet<string>>(() => firstExpanded(followed));
  const [active, setActive] = useState(0);
  const [limit, setLimit] = useState(MOST_ROWS);
  const body = useRef<HTMLTableSectionElement>(null);
  const rows = useMemo(() => treeRows(followed, expanded), [followed, expanded]);
  const toggle = ({ key }: TreeRow, open: boolean) => {
    const next = new Set(expanded);
    if (open) next.add(key);
    else next.delete(key);
    setExpanded(next);
  };
  const choose = (row: TreeRow) => {
    if (row.edge >= 0) onEdges([row.edge]);
    if (row.column >= 0) onState({ ...state, column: followed.graph.view.columns.id[row.column] });
  };
  const go = (place: number) => {
    if (place < 0 || place >= Math.min(limit, rows.length)) return;
    setActive(place);
    body.current?.querySelectorAll<HTMLElement>("tr")[place]?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const row = rows[active];
    const keys: Record<string, () => void> = {
      ArrowUp: () => go(active - 1),
      ArrowDown: () => go(active + 1),
      Home: () => go(0),
      End: () => go(Math.min(limit, rows.length) - 1),
      ArrowRight: () => (row.expandable && !row.expanded ? toggle(row, true) : go(active + 1)),
      ArrowLeft: () => (row.expanded ? toggle(row, false) : go(parentOf(rows, active))),
      Enter: () => choose(row),
      Escape: () => onState({ ...state, column: null }),
    };
    if (!row || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  };
  return (
    <div class="hw-tree">
      <table role="treegrid" aria-label="Lineage as a table" onKeyDown={onKeyDown}>
        <thead>
          <tr>
            <th scope="col">Column</th>
            <th scope="col">How</th>
            <th scope="col">Job</th>
          </tr>
        </thead>
        <tbody ref={body}>
          {rows.slice(0, limit).map((row, place) => (
            <Row
              key={row.key}
              row={row}
              active={place === Math.min(active, rows.length - 1)}
              onToggle={() => toggle(row, !row.expanded)}
              onFocus={() => setActive(place)}
              onChoose={() => choose(row)}
            />
          ))}
        </tbody>
      </table>
      {rows.length > limit ? (
        <button type="button" onClick={() => setLimit(limit + MOST_ROWS)}>
          {numeral(limit)} of {numeral(rows.length)} rows shown; show more
        </button>
      ) : null}
    </div>
  );
}

/** Both sides of the selected column are open at first. */
function firstExpanded({ path }: Followed): Set<string> {
  return new Set((path?.start ?? []).flatMap((column) => [`${column}/up`, `${column}/down`]));
}

function parentOf(rows: readonly TreeRow[], place: number): number {
  const { level } = rows[place];
  return rows.findLastIndex((row, before) => before < place && row.level < level);
}

interface RowProps {
  readonly row: TreeRow;
  readonly active: boolean;
  onToggle(): void;
  onFocus(): void;
  onChoose(): void;
}

function Row({ row, active, onToggle, onFocus, onChoose }: RowProps) {
  const expandedState = row.expandable ? { "aria-expanded": row.expanded } : {};
  return (
    <tr
      tabIndex={active ? 0 : -1}
      aria-level={row.level}
      aria-posinset={row.position}
      aria-setsize={row.siblings}
      {...expandedState}
      onFocus={onFocus}
      onDblClick={onChoose}
    >
      <td style={{ paddingInlineStart: `${row.level * 18}px` }}>
        {row.expandable ? (
          <button type="button" class="hw-icon" tabIndex={-1} aria-hidden="true" onClick={onToggle}>
            {row.expanded ? "▾" : "▸"}
          </button>
        ) : (
          <span class="hw-icon" />
        )}
        <bdi>{row.label}</bdi>
      </td>
      <td>{row.how}</td>
      <td>
        <bdi>{row.job}</bdi>
      </td>
    </tr>
  );
}
