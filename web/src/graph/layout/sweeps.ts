/** Sweeps: the order and the heights of boxes in their layers, by the barycentre of the ports they are joined to. */

import { type Lists, listOf, listsOf } from "../../model/graph";
import type { Adjacency } from "./pairs";
import { fillGaps, stack } from "./rows";

/** Boxes in layers, joined by arcs that run from left to right. */
export interface Layered {
  /** Layer of each box, from 0. */
  readonly layer: Int32Array;
  readonly heights: Float32Array;
  readonly tails: Int32Array;
  readonly heads: Int32Array;
  /** The number of links of each arc. */
  readonly weight: Float64Array;
  /** The sum over its links of the height of the port at the tail less that of the port at the head. */
  readonly drop: Float64Array;
  readonly adjacency: Adjacency;
}

type Side = "incoming" | "outgoing";

const SWEEPS = 24;
/** The sweeps without links that are shorter by this share after which no more are made: most graphs need ten. */
const PATIENCE = 4;
const SHORTER = 0.005;
/** Sweeps before the bands of groups are put in order, so that groups that read each other lie side by side. */
const SWEEPS_WITHOUT_GROUPS = 8;

/**
 * Return the top of each box: of all sweeps those with the shortest links, then straightened.
 *
 * @param groups the group of each box; boxes of a group are put into one band. Null without groups.
 */
export function arrange(graph: Layered, groups: Int32Array | null): Float64Array {
  const layers = layersOf(graph);
  let top = new Float64Array(graph.layer.length);
  for (const boxes of layers) stack({ boxes, heights: graph.heights, desired: top }, top);
  let rank: Float64Array | null = null;
  let best = { length: Number.POSITIVE_INFINITY, top };
  let shortest = Number.POSITIVE_INFINITY;
  let end = groups ? SWEEPS_WITHOUT_GROUPS + PATIENCE : PATIENCE;
  for (let sweep = 0; sweep < Math.min(end, SWEEPS); sweep++) {
    const isFirstGrouped = groups && sweep === SWEEPS_WITHOUT_GROUPS;
    if (isFirstGrouped) rank = ranksOf(groups, top);
    top = top.slice();
    sweepOnce(graph, layers, sweep % 2 === 0, rank, top);
    const length = lengthOf(graph, top);
    if (length < shortest * (1 - SHORTER)) {
      shortest = length;
      end = Math.max(end, sweep + 1 + PATIENCE);
    }
    if (length < best.length || isFirstGrouped) best = { length, top };
  }
  straighten(graph, layers, rank, best.top);
  if (groups) separateBands(graph, groups, rank as Float64Array, best.top);
  return best.top;
}

/** Set the tops of the boxes that are new, near those that stay. */
export function arrangeNew(graph: Layered, stays: ArrayLike<number>, top: Float64Array): void {
  const known = Uint8Array.from({ length: top.length }, (_, box) => stays[box]);
  const added = layersOf(graph)
    .flat()
    .filter((box) => !stays[box]);
  for (const boxes of [added, added.toReversed(), added]) {
    for (const box of boxes) {
      const wish = barycentre(graph, ["incoming", "outgoing"], box, top, known);
      if (wish === null) continue;
      top[box] = wish;
      known[box] = 1;
    }
  }
  for (const layer of layersOf(graph)) {
    const boxes = layer.filter((box) => !stays[box]).sort((a, b) => top[a] - top[b] || a - b);
    const staying = layer.filter((box) => stays[box]);
    fillGaps(staying, { boxes, heights: graph.heights, desired: top.slice() }, top);
  }
}

function layersOf({ layer }: Layered): number[][] {
  const count = layer.reduce((most, one) => Math.max(most, one + 1), 0);
  const lists: Lists = listsOf(layer, count);
  return Array.from({ length: count }, (_, one) => [...listOf(lists, one)]);
}

function sweepOnce(
  graph: Layered,
  layers: number[][],
  forth: boolean,
  rank: Float64Array | null,
  top: Float64Array,
): void {
  const desired = top.slice();
  for (const boxes of forth ? layers : layers.toReversed()) {
    for (const box of boxes) desired[box] = barycentre(graph, [forth ? "incoming" : "outgoing"], box, top) ?? top[box];
    boxes.sort((a, b) => (rank ? rank[a] - rank[b] : 0) || desired[a] - desired[b] || a - b);
    stack({ boxes, heights: graph.heights, desired }, top);
  }
}

/** Move boxes between the neighbours on both sides; their order stays. */
function straighten(graph: Layered, layers: number[][], rank: Float64Array | null, top: Float64Array): void {
  const desired = top.slice();
  for (let round = 0; round < 6; round++) {
    for (const boxes of round % 2 ? layers : layers.toReversed()) {
      boxes.sort((a, b) => (rank ? rank[a] - rank[b] : 0) || top[a] - top[b] || a - b);
      for (const box of boxes) desired[box] = barycentre(graph, ["incoming", "outgoing"], box, top) ?? top[box];
      stack({ boxes, heights: graph.heights, desired }, top);
    }
  }
}

/** Return the top at which the links of a box run level on average; null for a box without links to known boxes. */
function barycentre(
  { adjacency, heads, tails, weight, drop }: Layered,
  sides: readonly Side[],
  box: number,
  top: Float64Array,
  known?: Uint8Array,
): number | null {
  let [sum, links] = [0, 0];
  for (const side of sides) {
    const incoming = side === "incoming";
    for (const arc of listOf(adjacency[side], box)) {
      const other = incoming ? tails[arc] : heads[arc];
      if (known && !known[other]) continue;
      sum += top[other] * weight[arc] + (incoming ? drop[arc] : -drop[arc]);
      links += weight[arc];
    }
  }
  return links > 0 ? sum / links : null;
}

function lengthOf({ tails, heads, weight, drop }: Layered, top: Float64Array): number {
  let length = 0;
  for (let arc = 0; arc < tails.length; arc++) {
    length += Math.abs((top[heads[arc]] - top[tails[arc]]) * weight[arc] - drop[arc]);
  }
  return length;
}

/** Return the rank of each box's group: groups by the mean top of their boxes. */
function ranksOf(groups: Int32Array, top: Float64Array): Float64Array {
  const count = groups.reduce((most, one) => Math.max(most, one + 1), 0);
  const lists = listsOf(groups, count);
  const means = Array.from({ length: count }, (_, group) => {
    const boxes = listOf(lists, group);
    return boxes.reduce((sum, box) => sum + top[box], 0) / Math.max(1, boxes.length);
  });
  const sorted = means.map((_, group) => group).sort((a, b) => means[a] - means[b] || a - b);
  return Float64Array.from(groups, (group) => sorted.indexOf(group));
}

/** The space between the bands of two groups, which has the title of the lower one. */
const BAND_GAP = 72;

function separateBands({ heights }: Layered, groups: Int32Array, rank: Float64Array, top: Float64Array): void {
  const count = groups.reduce((most, one) => Math.max(most, one + 1), 0);
  const lowest = new Float64Array(count).fill(Number.POSITIVE_INFINITY);
  const highest = new Float64Array(count).fill(Number.NEGATIVE_INFINITY);
  top.forEach((one, box) => {
    lowest[rank[box]] = Math.min(lowest[rank[box]], one);
    highest[rank[box]] = Math.max(highest[rank[box]], one + heights[box]);
  });
  let next = 0;
  const shift = lowest.map((low, band) => {
    const moved = Number.isFinite(low) ? next - low : 0;
    if (Number.isFinite(low)) next += highest[band] - low + BAND_GAP;
    return moved;
  });
  for (let box = 0; box < top.length; box++) top[box] += shift[rank[box]];
}
