/** Edges in words, for tips, tables and what a screen reader says. */

import { CHANGES } from "../model/merge";
import type { View } from "../model/view";
import { datasetLabel, lastPart, numeral, shortened } from "./drawing/text";

/** The most edges of one line that are described. */
const MOST_EDGES = 4;

/** Return one line of text for each of some edges, and one for the rest. */
export function describeEdges(view: View, edges: readonly number[]): string[] {
  const lines = edges.slice(0, MOST_EDGES).map((edge) => describeEdge(view, edge));
  const rest = edges.length - MOST_EDGES;
  return rest > 0 ? [...lines, `and ${numeral(rest)} more`] : lines;
}

/** Return an edge in one line: `price → total · AGGREGATION · sum(price) · job daily`. */
export function describeEdge(view: View, edge: number): string {
  const { input, output, job } = view.edges;
  const target =
    output[edge] < 0 ? `all rows of ${datasetLabel(view.datasets, -1 - output[edge])}` : columnName(view, output[edge]);
  const parts = [
    `${columnName(view, input[edge])} → ${target}`,
    ...kindOf(view, edge),
    `job ${lastPart(view.jobs.name[job[edge]])}`,
  ];
  return parts.join(" · ");
}

/** Return the transformation of an edge in words, each property one text. */
export function kindOf(view: View, edge: number): string[] {
  const { type, subtype, masking, opaque, guess, description } = view.transformations;
  const place = view.edges.transformation[edge];
  const stale = view.edges.stale[edge];
  const change = CHANGES[view.edges.change?.[edge] ?? 0];
  const words = [...(change === "same" ? [] : [change]), `${type[place]} ${subtype[place]}`];
  if (masking[place]) words.push("masking");
  if (opaque[place]) words.push("opaque");
  if (guess[place]) words.push("guessed");
  if (stale >= 0) words.push(`possibly replaced since ${view.stale.since[stale]}`);
  if (description[place] >= 0) words.push(shortened(view.descriptions[description[place]]));
  return words;
}

/** Return a column with the end of its dataset's name: `orders.price`. */
export function columnName({ datasets, columns }: View, column: number): string {
  return `${datasetLabel(datasets, columns.dataset[column])}.${shortened(columns.field[column])}`;
}
