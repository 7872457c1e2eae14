/** Lanes: room between the boxes of the layers that a link passes, so that it can be followed with the eye. */

import { listOf, listsOf } from "../../model/graph";
import type { Pairs } from "./pairs";

/** The space between two links in a lane, and the most that a lane is high. */
const LINK_SPACE = 5;
const MOST_HEIGHT = 60;
/** Above this number of lanes links pass behind boxes: the drawing is then too large to follow single lines anyhow. */
const MOST_LANES = 6000;

/** Boxes with the lanes behind them, and the arcs from layer to layer. */
export interface Lanes {
  readonly layer: Int32Array;
  readonly heights: Float32Array;
  readonly tails: Int32Array;
  readonly heads: Int32Array;
  readonly weight: Float64Array;
  readonly drop: Float64Array;
  /** The lanes of pair p are the boxes `start[p]` to `start[p + 1] - 1`, from left to right. */
  readonly start: Int32Array;
}

interface Arc {
  tail: number;
  head: number;
  weight: number;
  drop: number;
}

/** Return boxes and lanes. `tails` and `heads` are those of pairs, from left to right; `layer` begins at 0. */
export function lanesOf(
  pairs: Pairs,
  reversed: Uint8Array,
  { tails, heads }: { tails: Int32Array; heads: Int32Array },
  layer: Int32Array,
  boxHeights: Float32Array,
): Lanes {
  const passed = tails.map((tail, pair) => Math.max(0, layer[heads[pair]] - layer[tail] - 1));
  const wide = passed.reduce((sum, one) => sum + one, 0) > MOST_LANES;
  const start = new Int32Array(tails.length + 1).fill(layer.length);
  const layers = [...layer];
  const heights = [...boxHeights];
  const arcs: Arc[] = [];
  tails.forEach((tail, pair) => {
    const weight = pairs.weight[pair];
    // The links of a reversed pair leave at its head.
    const [leftY, rightY] = reversed[pair]
      ? [pairs.toY[pair], pairs.fromY[pair]]
      : [pairs.fromY[pair], pairs.toY[pair]];
    let [previous, height] = [tail, leftY];
    for (let step = 1; step <= (wide ? 0 : passed[pair]); step++) {
      const lane = layers.push(layer[tail] + step) - 1;
      heights.push(laneHeight(weight));
      const middle = (weight * laneHeight(weight)) / 2;
      arcs.push({ tail: previous, head: lane, weight, drop: height - middle });
      [previous, height] = [lane, middle];
    }
    arcs.push({ tail: previous, head: heads[pair], weight, drop: height - rightY });
    start[pair + 1] = layers.length;
  });
  return {
    layer: Int32Array.from(layers),
    heights: Float32Array.from(heights),
    tails: Int32Array.from(arcs, (arc) => arc.tail),
    heads: Int32Array.from(arcs, (arc) => arc.head),
    weight: Float64Array.from(arcs, (arc) => arc.weight),
    drop: Float64Array.from(arcs, (arc) => arc.drop),
    start,
  };
}

/** Return the height of the lanes of a pair with so many links. */
export function laneHeight(links: number): number {
  return Math.min(MOST_HEIGHT, (links + 1) * LINK_SPACE);
}

/**
 * Return how far below the middle of its lane each link lies: side by side in the order of their ports, so that they do
 * not cross there.
 */
export function laneOffsets(pairs: Pairs, height: ArrayLike<number>): Float32Array {
  const lists = listsOf(pairs.pair, pairs.weight.length);
  const offsets = new Float32Array(height.length);
  for (let pair = 0; pair < pairs.weight.length; pair++) {
    const links = [...listOf(lists, pair)].sort((a, b) => height[a] - height[b] || a - b);
    const space = laneHeight(links.length) / (links.length + 1);
    links.forEach((link, rank) => {
      offsets[link] = (rank - (links.length - 1) / 2) * space;
    });
  }
  return offsets;
}
