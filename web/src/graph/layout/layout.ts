/** The layout: layers from left to right, boxes above each other in them, lanes between boxes for links that pass. */

import { forward, type Order, orderOf } from "./cycles";
import { type Lanes, laneOffsets, lanesOf } from "./lanes";
import { layersOf } from "./layers";
import { adjacencyOf, pairsOf } from "./pairs";
import type { Layout, LayoutRequest } from "./request";
import { arrange, arrangeNew, type Layered } from "./sweeps";

/**
 * Return the places of boxes and the bends of links.
 *
 * The answer depends on the request alone. Boxes do not overlap, and links run from left to right except those that are
 * marked as closing a cycle. Boxes that have a place keep it, unless a new one must go between two layers (then those to
 * the right move on by whole layers) or a box above has grown; with groups all are placed anew.
 */
export function layOut(request: LayoutRequest): Layout {
  const { groups, heights, pitch } = request;
  const pairs = pairsOf(request);
  const placed = request.placedX.map((x) => (groups ? Number.NaN : Math.round(x / pitch)));
  const order = orderOf(pairs, placed);
  const layer = layersOf(pairs, order, placed);
  const lowest = layer.reduce((least, one) => Math.min(least, one), 0);
  const ends = forward(pairs, order.reversed);
  const boxLayers = layer.map((one) => one - lowest);
  const lanes = lanesOf(pairs, order.reversed, ends, boxLayers, heights);
  const graph = { ...lanes, adjacency: adjacencyOf(lanes.tails, lanes.heads, lanes.layer.length) };
  const stays = Uint8Array.from(lanes.layer, (_, box) => (box < placed.length && placed[box] === layer[box] ? 1 : 0));
  const top = stays.includes(1)
    ? grown(graph, stays, request.placedY)
    : arrange(graph, laneGroups(groups, lanes, ends));
  return {
    x: Float32Array.from(layer, (one) => one * pitch),
    y: Float32Array.from(top.subarray(0, heights.length), Math.round),
    back: Uint8Array.from(pairs.pair, (pair) => (pair < 0 || order.reversed[pair] ? 1 : 0)),
    pair: pairs.pair,
    ...bends(lanes, order, top, heights.length),
    bendOffset: laneOffsets(pairs, middles(request)),
  };
}

function grown(graph: Layered, stays: Uint8Array, placedY: Float32Array): Float64Array {
  // A box that moved to another layer seeks a place near its old height, as a new one does near its neighbours.
  const top = Float64Array.from(stays, (_, box) => (placedY[box] >= 0 || placedY[box] < 0 ? placedY[box] : 0));
  arrangeNew(graph, stays, top);
  return top;
}

/** A lane is in the band of the box that it leads to. */
function laneGroups(groups: Int32Array | null, lanes: Lanes, { heads }: { heads: Int32Array }): Int32Array | null {
  if (!groups) return null;
  const all = new Int32Array(lanes.layer.length);
  all.set(groups);
  heads.forEach((head, pair) => {
    all.fill(groups[head], lanes.start[pair], lanes.start[pair + 1]);
  });
  return all;
}

/** Return the bends by pair; those of a reversed pair are from right to left, as its links run. */
function bends({ start, heights }: Lanes, { reversed }: Order, top: Float64Array, boxes: number) {
  const bendY = Float32Array.from(top.subarray(boxes), (one, lane) => one + heights[boxes + lane] / 2);
  const bendStart = start.map((one) => one - boxes);
  reversed.forEach((one, pair) => {
    if (one) bendY.subarray(bendStart[pair], bendStart[pair + 1]).reverse();
  });
  return { bendStart, bendY };
}

/** Return the mean height of the two ports of each link. */
function middles({ fromY, toY }: LayoutRequest): Float32Array {
  return fromY.map((y, link) => (y + toY[link]) / 2);
}
