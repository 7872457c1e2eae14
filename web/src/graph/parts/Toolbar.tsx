import type { GraphState, Grouping } from "../../model/state";
import type { Drawing } from "../drawing/drawing";
import { counted, numeral } from "../drawing/text";
import { ExportMenu, type ExportMenuProps } from "../export/ExportMenu";
import type { Stage } from "../stage";

export interface ToolbarProps {
  readonly state: GraphState;
  readonly drawing: Drawing | null;
  readonly saved: ExportMenuProps["saved"];
  change(changed: Partial<GraphState>): void;
  tidy(): void;
  stage(): Stage | null;
}

/** Choices of what is shown of the view, and how. */
export function Toolbar({ state, drawing, saved, change, tidy, stage }: ToolbarProps) {
  const graph = state.form === "graph";
  return (
    <div class="hw-toolbar" role="toolbar" aria-label="Graph">
      <Toggle label="Dim the rest" on={state.rest === "dim"} onToggle={(on) => change({ rest: on ? "dim" : "away" })} />
      <Toggle label="Jobs" on={state.jobs} onToggle={(jobs) => change({ jobs })} />
      <label class="hw-select">
        Group
        <select value={state.group} onChange={(event) => change({ group: event.currentTarget.value as Grouping })}>
          <option value="none">none</option>
          <option value="namespace">namespace</option>
          <option value="job">job</option>
        </select>
      </label>
      <Toggle label="Table" on={!graph} onToggle={(on) => change({ form: on ? "table" : "graph" })} />
      <span class="hw-spring" />
      {drawing ? <output class="hw-count">{shownOf(drawing)}</output> : null}
      {state.column === null ? null : (
        <button type="button" onClick={() => change({ column: null })} title="Show all of the view (Esc)">
          Show all
        </button>
      )}
      {state.unfolded.length > 0 ? (
        <button type="button" onClick={() => change({ unfolded: [] })} title="Show many readers and sources as one box">
          Fold
        </button>
      ) : null}
      {graph ? (
        <>
          <button type="button" onClick={tidy} title="Lay out anew">
            Tidy
          </button>
          <button type="button" onClick={() => stage()?.zoom(1 / 1.4)} aria-label="Zoom out" title="Zoom out">
            −
          </button>
          <button type="button" onClick={() => stage()?.zoom(1.4)} aria-label="Zoom in" title="Zoom in">
            +
          </button>
          <button type="button" onClick={() => stage()?.fit()} title="See all that is drawn">
            Fit
          </button>
        </>
      ) : null}
      {drawing ? <ExportMenu drawing={drawing} saved={saved} /> : null}
    </div>
  );
}

/** Return in words how much of the view is shown: `2 of 7 datasets, 31 columns`. */
function shownOf({ scene: { cards, graph } }: Drawing): string {
  const count = (shown: number, all: number, thing: string) =>
    shown < all ? `${numeral(shown)} of ${counted(all, thing)}` : counted(all, thing);
  const { datasets, columns } = graph.whole;
  const single = cards.filter((card) => card.dataset < datasets.id.length);
  const shown = single.reduce((sum, card) => sum + card.columns.length, 0);
  const folded = graph.folds.reduce((sum, fold) => sum + fold.members.length, 0);
  const words = `${count(single.length, datasets.id.length, "dataset")}, ${count(shown, columns.id.length, "column")}`;
  return folded > 0 ? `${words}; ${numeral(folded)} folded` : words;
}

interface ToggleProps {
  readonly label: string;
  readonly on: boolean;
  onToggle(on: boolean): void;
}

function Toggle({ label, on, onToggle }: ToggleProps) {
  return (
    <button type="button" aria-pressed={on} onClick={() => onToggle(!on)}>
      {label}
    </button>
  );
}
