/** The path of a column: all columns before and after it, and the edges between. */

import { type LineageGraph, listOf } from "./graph";

export interface Path {
  /** The columns it starts from. */
  readonly start: readonly number[];
  /** Hops before the start for each column, -1 for those that are not before it. */
  readonly up: Int32Array;
  /** Hops after the start for each column, -1 for those that are not after it. */
  readonly down: Int32Array;
  /** 1 for each edge on the path. */
  readonly edges: Uint8Array;
}

/** The largest number of hops on each side. */
export interface Depth {
  readonly up: number;
  readonly down: number;
}

export const ANY_DEPTH: Depth = { up: Number.POSITIVE_INFINITY, down: Number.POSITIVE_INFINITY };

/**
 * Return the path of columns along the edges that are shown.
 *
 * An edge into all rows of a dataset leads to every column of it, as it does in the server's walks.
 */
export function pathOf(graph: LineageGraph, start: readonly number[], shown: Uint8Array, depth = ANY_DEPTH): Path {
  const edges = new Uint8Array(shown.length);
  const up = walk(graph, start, depth.up, (column, reach) => {
    const follow = (edge: number) => {
      if (!shown[edge]) return;
      edges[edge] = 1;
      reach(graph.view.edges.input[edge]);
    };
    listOf(graph.inputsOf, column).forEach(follow);
    listOf(graph.rowEdgesOf, graph.view.columns.dataset[column]).forEach(follow);
  });
  const down = walk(graph, start, depth.down, (column, reach) => {
    for (const edge of listOf(graph.outputsOf, column)) {
      if (!shown[edge]) continue;
      edges[edge] = 1;
      const output = graph.view.edges.output[edge];
      if (output >= 0) reach(output);
      else listOf(graph.columnsOf, -1 - output).forEach(reach);
    }
  });
  return { start, up, down, edges };
}

type Visit = (column: number, reach: (next: number) => void) => void;

function walk(graph: LineageGraph, start: readonly number[], depth: number, visit: Visit): Int32Array {
  const distance = new Int32Array(graph.view.columns.id.length).fill(-1);
  const queue = [...start];
  for (const column of start) distance[column] = 0;
  for (let i = 0; i < queue.length; i++) {
    const next = distance[queue[i]] + 1;
    if (next > depth) break;
    visit(queue[i], (column) => {
      if (distance[column] >= 0) return;
      distance[column] = next;
      queue.push(column);
    });
  }
  return distance;
}

/** Return whether a column is on a path. */
export function onPath(path: Path, column: number): boolean {
  return path.up[column] >= 0 || path.down[column] >= 0;
}
