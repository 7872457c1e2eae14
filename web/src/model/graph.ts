/** A View with its edges by column and by dataset, so that paths can be followed. */

import type { Fold } from "./folds";
import type { Subtype, View } from "./view";

/** Lists of numbers, one list for each key: those of key k are `items[start[k]]` to `items[start[k + 1] - 1]`. */
export interface Lists {
  readonly start: Int32Array;
  readonly items: Int32Array;
}

export interface LineageGraph {
  readonly view: View;
  /** The view without folds, which has the same edges in the same places. */
  readonly whole: View;
  readonly folds: readonly Fold[];
  /** Columns of each dataset, in the order of the view. */
  readonly columnsOf: Lists;
  /** Edges into each column. */
  readonly inputsOf: Lists;
  /** Edges out of each column. */
  readonly outputsOf: Lists;
  /** Edges into all rows of each dataset. */
  readonly rowEdgesOf: Lists;
}

/** Return a view as a graph. */
export function graphOf(view: View): LineageGraph {
  const columns = view.columns.id.length;
  const { input, output } = view.edges;
  return {
    view,
    whole: view,
    folds: [],
    columnsOf: listsOf(view.columns.dataset, view.datasets.id.length),
    inputsOf: listsOf(output, columns),
    outputsOf: listsOf(input, columns),
    rowEdgesOf: listsOf(
      output.map((one) => -1 - one),
      view.datasets.id.length,
    ),
  };
}

/** Return the places of an array by their value; values below 0 are left out. */
export function listsOf(keys: ArrayLike<number>, size: number): Lists {
  const start = new Int32Array(size + 1);
  for (let i = 0; i < keys.length; i++) if (keys[i] >= 0) start[keys[i] + 1]++;
  for (let k = 0; k < size; k++) start[k + 1] += start[k];
  const items = new Int32Array(start[size]);
  const next = start.slice();
  for (let i = 0; i < keys.length; i++) if (keys[i] >= 0) items[next[keys[i]]++] = i;
  return { start, items };
}

/** Return the list of one key. */
export function listOf(lists: Lists, key: number): Int32Array {
  return lists.items.subarray(lists.start[key], lists.start[key + 1]);
}

/** Return the dataset that an edge ends in. */
export function outputDataset(view: View, edge: number): number {
  const output = view.edges.output[edge];
  return output < 0 ? -1 - output : view.columns.dataset[output];
}

/** Return for each edge whether its subtype is shown. */
export function shownEdges(view: View, hidden: ReadonlySet<Subtype>): Uint8Array {
  const shown = view.transformations.subtype.map((one) => !hidden.has(one));
  return new Uint8Array(view.edges.transformation.length).map((_, edge) =>
    shown[view.edges.transformation[edge]] ? 1 : 0,
  );
}
