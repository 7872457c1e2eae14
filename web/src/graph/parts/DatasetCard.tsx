import { memo } from "preact/compat";
import { foldOf } from "../../model/folds";
import { type LineageGraph, listOf } from "../../model/graph";
import type { Hop } from "../../model/state";
import type { Rect } from "../drawing/curves";
import { datasetLabel, numeral, shortened } from "../drawing/text";
import { type Card, type CardState, countOf, PAGE_ROWS } from "../scene/cards";

export interface CardActions {
  select(column: number): void;
  preview(column: number | null): void;
  changeCard(dataset: number, state: CardState): void;
  readonly openDataset: ((dataset: number) => void) | null;
  unfold(dataset: number): void;
  readonly expand: ((dataset: number, hop: Hop) => void) | null;
}

export interface DatasetCardProps {
  readonly graph: LineageGraph;
  readonly card: Card;
  readonly rect: Rect;
  /**
   * A 1 for the card and one for each row that is lit, a 0 for each other row; empty where none is. A text, so that cards
   * off the path are not rendered again: style sheets dim them.
   */
  readonly lit: string;
  readonly selected: number;
  readonly active: number;
  readonly actions: CardActions;
}

/** A dataset with its columns as rows, in the place where the layout put it. */
export const DatasetCard = memo((props: DatasetCardProps) => {
  const { graph, card, rect, lit } = props;
  const { datasets } = graph.view;
  const name = datasets.name[card.dataset];
  const focus = graph.view.focus.dataset === card.dataset;
  const fold = foldOf(graph.view, card.dataset) >= 0;
  const style = { left: `${rect.left}px`, top: `${rect.top}px`, height: `${rect.bottom - rect.top}px` };
  return (
    <section
      class={`hw-card${focus ? " hw-focus" : ""}${fold ? " hw-fold" : ""}${lit ? " hw-on" : ""}`}
      style={style}
      aria-label={`Dataset ${shortened(name)}`}
    >
      <header class="hw-card-header">
        <button
          type="button"
          tabIndex={-1}
          class="hw-card-name"
          title={shortened(`${name}\n${datasets.namespace[card.dataset]}`)}
          disabled={!props.actions.openDataset && !fold}
          onClick={() => (fold ? props.actions.unfold(card.dataset) : props.actions.openDataset?.(card.dataset))}
        >
          <bdi>{datasetLabel(datasets, card.dataset)}</bdi>
        </button>
        <CollapseButton {...props} />
        <CardHops {...props} />
        <span class="hw-card-namespace">
          <bdi>{fold ? "Show all" : shortened(datasets.namespace[card.dataset])}</bdi>
        </span>
      </header>
      {card.rows.map((column, row) => (
        <ColumnRow key={column} {...props} column={column} bright={lit[row + 1] === "1"} />
      ))}
      {card.rows.length < card.columns.length || card.state.filter !== "" ? <CardFooter {...props} /> : null}
    </section>
  );
});

function CollapseButton({ card, actions }: DatasetCardProps) {
  const { collapsed } = card.state;
  return (
    <button
      type="button"
      tabIndex={-1}
      class="hw-icon"
      aria-expanded={!collapsed}
      title={collapsed ? "Show the columns" : "Hide the columns"}
      onClick={() => actions.changeCard(card.dataset, { ...card.state, collapsed: !collapsed })}
    >
      {collapsed ? "▸" : "▾"}
    </button>
  );
}

function ColumnRow(props: DatasetCardProps & { readonly column: number; readonly bright: boolean }) {
  const { graph, column, bright, selected, active, actions } = props;
  const { columns } = graph.view;
  const field = columns.field[column];
  const classes = ["hw-row"];
  if (bright) classes.push("hw-lit");
  if (column === selected) classes.push("hw-selected");
  return (
    <div class={classes.join(" ")}>
      <ColumnHop {...props} direction="up" />
      <button
        type="button"
        class="hw-column"
        data-column={column}
        tabIndex={column === active ? 0 : -1}
        aria-pressed={column === selected}
        title={shortened(`${field}${columns.dataType[column] ? `: ${columns.dataType[column]}` : ""}`)}
        onClick={() => actions.select(column)}
        onMouseEnter={() => actions.preview(column)}
        onMouseLeave={() => actions.preview(null)}
      >
        <bdi class="hw-field">{shortened(field)}</bdi>
        <span class="hw-type">{shortened(columns.dataType[column] ?? "")}</span>
      </button>
      <ColumnHop {...props} direction="down" />
    </div>
  );
}

interface HopProps extends DatasetCardProps {
  readonly column: number;
  readonly direction: "up" | "down";
}

/** A button for the next hop where the store has more; else the mark of a root or a final use. */
function ColumnHop(props: HopProps) {
  const { graph, card, column, direction, actions } = props;
  const { columns } = graph.view;
  const hop: Hop = { of: "column", id: columns.id[column], direction };
  if (moreOf(graph, direction)[column]) return <HopButton actions={actions} dataset={card.dataset} hop={hop} />;
  const last = isEnd(graph, column, direction);
  const title = direction === "up" ? "Root: made from no other column" : "Final use: no other column is made from it";
  return last ? (
    <span class={`hw-end hw-end-${direction}`} role="img" aria-label={title} title={title} />
  ) : (
    <span class="hw-end" />
  );
}

/** The buttons for the next hop of all columns of a card. */
function CardHops({ graph, card, actions }: DatasetCardProps) {
  const id = graph.view.datasets.id[card.dataset];
  return (
    <>
      {(["up", "down"] as const)
        .filter((direction) => card.columns.some((column) => moreOf(graph, direction)[column]))
        .map((direction) => (
          <HopButton key={direction} actions={actions} dataset={card.dataset} hop={{ of: "dataset", id, direction }} />
        ))}
    </>
  );
}

function moreOf({ view: { columns } }: LineageGraph, direction: "up" | "down"): readonly number[] {
  return direction === "up" ? columns.moreUp : columns.moreDown;
}

function HopButton({ actions, dataset, hop }: { actions: CardActions; dataset: number; hop: Hop }) {
  const side = hop.direction === "up" ? "before" : "after";
  const more = `${side} ${hop.of === "column" ? "this column" : "these columns"}`;
  return (
    <button
      type="button"
      tabIndex={-1}
      class={`hw-hop hw-hop-${hop.of} hw-hop-${hop.direction}`}
      title={actions.expand ? `Show one hop more ${more}` : `There is more ${more} than was saved`}
      disabled={!actions.expand}
      onClick={() => actions.expand?.(dataset, hop)}
    >
      +
    </button>
  );
}

/** Return whether the store has nothing before a column, or nothing after it. */
export function isEnd(graph: LineageGraph, column: number, direction: "up" | "down"): boolean {
  const { columns } = graph.view;
  if (direction === "down") return !columns.moreDown[column] && listOf(graph.outputsOf, column).length === 0;
  const rowEdges = listOf(graph.rowEdgesOf, columns.dataset[column]);
  return !columns.moreUp[column] && listOf(graph.inputsOf, column).length + rowEdges.length === 0;
}

function CardFooter({ graph, card, actions }: DatasetCardProps) {
  const { state, dataset, matching } = card;
  const change = (changed: Partial<CardState>) => actions.changeCard(dataset, { ...state, ...changed });
  const width = graph.view.datasets.width[dataset];
  const title = width > card.columns.length ? `The dataset has ${numeral(width)} columns in all` : undefined;
  const last = (state.page + 1) * PAGE_ROWS >= matching.length;
  return (
    <footer class="hw-card-footer">
      <span class="hw-count" title={title}>
        {countOf(card)}
      </span>
      {state.collapsed ? null : (
        <input
          class="hw-card-filter"
          tabIndex={-1}
          type="search"
          placeholder="Filter"
          aria-label="Filter the columns of this dataset"
          value={state.filter}
          onInput={(event) => change({ filter: event.currentTarget.value, page: 0 })}
        />
      )}
      <button
        type="button"
        tabIndex={-1}
        class="hw-icon"
        title="Columns before these"
        disabled={state.page === 0}
        onClick={() => change({ page: state.page - 1 })}
      >
        ▲
      </button>
      <button
        type="button"
        tabIndex={-1}
        class="hw-icon"
        title="Columns after these"
        disabled={last || state.collapsed}
        onClick={() => change({ page: state.page + 1 })}
      >
        ▼
      </button>
    </footer>
  );
}
