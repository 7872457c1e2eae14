/** Walking with the arrow keys: up and down between columns, left and right along edges. */

import { listOf } from "../model/graph";
import type { Hop } from "../model/state";
import type { View } from "../model/view";
import { columnName, kindOf } from "./describe";
import type { Drawing } from "./drawing/drawing";
import type { Followed } from "./useScene";

/** A column that was walked to, and the edge that led there; -1 without one. */
export interface Walk {
  readonly column: number;
  readonly edge: number;
}

/** Return where a key leads from a column; null for other keys and where nothing is. */
export function walk(followed: Followed, drawing: Drawing, column: number, key: string): Walk | null {
  if (key === "ArrowLeft") return before(followed, drawing, column);
  if (key === "ArrowRight") return after(followed, drawing, column);
  if (key === "ArrowUp") return inLayer(drawing, column, -1);
  if (key === "ArrowDown") return inLayer(drawing, column, 1);
  return null;
}

function before({ graph, shown }: Followed, drawing: Drawing, column: number): Walk | null {
  const { view } = graph;
  const edges = [...listOf(graph.inputsOf, column), ...listOf(graph.rowEdgesOf, view.columns.dataset[column])];
  const edge = edges.find((one) => shown[one] && isDrawn(drawing, view.edges.input[one]));
  return edge === undefined ? null : { column: view.edges.input[edge], edge };
}

function after({ graph, shown }: Followed, drawing: Drawing, column: number): Walk | null {
  for (const edge of listOf(graph.outputsOf, column)) {
    const output = graph.view.edges.output[edge];
    const next = output >= 0 ? output : (listOf(graph.columnsOf, -1 - output)[0] ?? -1);
    if (shown[edge] && next >= 0 && isDrawn(drawing, next)) return { column: next, edge };
  }
  return null;
}

function isDrawn({ scene }: Drawing, column: number): boolean {
  return scene.boxOf[scene.graph.view.columns.dataset[column]] >= 0;
}

/** Return the next column of a card, and after its last the first of the card below. */
function inLayer({ scene, boxes }: Drawing, column: number, step: 1 | -1): Walk | null {
  const { dataset } = scene.graph.view.columns;
  const box = scene.boxOf[dataset[column]];
  if (box < 0) return null;
  const { rows } = scene.cards[box];
  const next = rows[rows.indexOf(column) + step];
  if (rows.includes(column) && next !== undefined) return { column: next, edge: -1 };
  const beyond = scene.cards
    .map((_, other) => other)
    .filter((other) => boxes[other].left === boxes[box].left && (boxes[other].top - boxes[box].top) * step > 0)
    .filter((other) => scene.cards[other].rows.length > 0)
    .sort((a, b) => (boxes[a].top - boxes[b].top) * step)[0];
  if (beyond === undefined) return null;
  return { column: scene.cards[beyond].rows.at(step > 0 ? 0 : -1) as number, edge: -1 };
}

/** Return the hop that a key with Shift adds to a column; null for other keys, and where the store has no more. */
export function hopBeyond({ columns }: View, column: number, key: string): Hop | null {
  const direction = key === "ArrowLeft" ? "up" : key === "ArrowRight" ? "down" : null;
  if (!direction || !(direction === "up" ? columns.moreUp : columns.moreDown)[column]) return null;
  return { of: "column", id: columns.id[column], direction };
}

/** Return what a screen reader says of a column that was walked to. */
export function announcement({ graph, shown }: Followed, { column, edge }: Walk): string {
  const { view } = graph;
  const count = (edges: Int32Array) => edges.filter((one) => shown[one]).length;
  const inputs = count(listOf(graph.inputsOf, column));
  const rows = count(listOf(graph.rowEdgesOf, view.columns.dataset[column]));
  const outputs = count(listOf(graph.outputsOf, column));
  const by = edge < 0 ? [] : [kindOf(view, edge).join(", ")];
  return [columnName(view, column), ...by, `${inputs + rows} in, ${outputs} out`].join("; ");
}
