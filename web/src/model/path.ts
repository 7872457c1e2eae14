/** The path of a column: all columns before and after it, and the edges between. */

import type { LineageGraph, Lists } from "./graph";

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
  const { input, output } = graph.view.edges;
  const { inputsOf, outputsOf, rowEdgesOf, columnsOf } = graph;
  const up = walk(graph, start, depth.up, (column, reach) => {
    const follow = (edge: number) => {
      if (!shown[edge]) return;
      edges[edge] = 1;
      reach(input[edge]);
    };
    each(inputsOf, column, follow);
    each(rowEdgesOf, graph.view.columns.dataset[column], follow);
  });
  const down = walk(graph, start, depth.down, (column, reach) => {
    each(outputsOf, column, (edge) => {
      if (!shown[edge]) return;
      edges[edge] = 1;
      if (output[edge] >= 0) reach(output[edge]);
      else each(columnsOf, -1 - output[edge], reach);
    });
  });
  return { start, up, down, edges };
}

/** Call a function with each item of a list; a part of an array, which `listOf` makes, costs more than most lists. */
function each({ start, items }: Lists, key: number, act: (item: number) => void): void {
  for (let place = start[key]; place < start[key + 1]; place++) act(items[place]);
}

type Visit = (column: number, reach: (next: number) => void) => void;

function walk(graph: LineageGraph, start: readonly number[], depth: number, visit: Visit): Int32Array {
  const distance = new Int32Array(graph.view.columns.id.length).fill(-1);
  const queue = new Int32Array(distance.length);
  let [end, next] = [0, 0];
  const reach = (column: number) => {
    if (distance[column] >= 0) return;
    distance[column] = next;
    queue[end++] = column;
  };
  start.forEach(reach);
  for (let place = 0; place < end; place++) {
    next = distance[queue[place]] + 1;
    if (next > depth) break;
    visit(queue[place], reach);
  }
  return distance;
}

/** Return whether a column is on a path. */
export function onPath(path: Path, column: number): boolean {
  return path.up[column] >= 0 || path.down[column] >= 0;
}
