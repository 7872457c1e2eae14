/** The state of the graph that an address can hold: what is shown of a view, and how. */

import type { LineageGraph } from "./graph";
import type { Subtype } from "./view";

export type Grouping = "none" | "namespace" | "job";

export interface GraphState {
  /** Id of the column whose path is shown; null for all that the view has. */
  readonly column: number | null;
  /** Whether the rest of the view is gone while a path is shown, or dimmed. */
  readonly rest: "away" | "dim";
  /** The subtypes that are not drawn and not followed. */
  readonly hidden: readonly Subtype[];
  /** The largest number of hops on each side of the path; null for no bound. */
  readonly depth: { readonly up: number | null; readonly down: number | null };
  /** Whether jobs are boxes between datasets. */
  readonly jobs: boolean;
  readonly group: Grouping;
  /** Ids of the folds of `folds.ts` that are shown in full. */
  readonly unfolded: readonly number[];
  /** The graph, or the same state as a table for keyboards and screen readers. */
  readonly form: "graph" | "table";
}

/** One hop before or after a column, or before or after the columns of a dataset that the view has; by its id. */
export interface Hop {
  readonly of: "column" | "dataset";
  readonly id: number;
  readonly direction: "up" | "down";
}

export const FIRST_STATE: GraphState = {
  column: null,
  rest: "away",
  hidden: [],
  depth: { up: null, down: null },
  jobs: false,
  group: "none",
  unfolded: [],
  form: "graph",
};

export const VALUE_SUBTYPES: readonly Subtype[] = ["IDENTITY", "TRANSFORMATION", "AGGREGATION"];
export const ROW_SUBTYPES: readonly Subtype[] = ["CONDITIONAL", "WINDOW", "FILTER", "JOIN", "GROUP_BY", "SORT"];

/** Return the places of the columns that the path starts from; empty where no path is shown. */
export function startOf({ view }: LineageGraph, state: GraphState): number[] {
  const place = state.column === null ? -1 : view.columns.id.indexOf(state.column);
  return place < 0 ? [] : [place];
}
