/** Layers: each box to the right of all that it is made from. */

import { forward, neighbours, type Order } from "./cycles";
import { adjacencyOf, type Pairs } from "./pairs";

const NONE = Number.MIN_SAFE_INTEGER;

/**
 * Return the layer of each box, a whole number that may be negative.
 *
 * Boxes that have a layer keep it unless a new box must go between two of them: then those to the right move on, by
 * whole layers. New boxes go as near as they can to those that are there; with none there, each takes the length of the
 * longest path to it, and boxes that feed more than they read move right to what they feed.
 *
 * @param placed the layers so far, NaN for new boxes.
 */
export function layersOf(pairs: Pairs, order: Order, placed: ArrayLike<number>): Int32Array {
  const { tails, heads } = forward(pairs, order.reversed);
  const { outgoing, incoming } = adjacencyOf(tails, heads, placed.length);
  const layer = new Float64Array(placed.length).fill(NONE);
  const backwards = order.boxes.slice().reverse();
  const afterInputs = (box: number) => after(neighbours(incoming, tails, box), layer);
  const beforeOutputs = (box: number) => before(neighbours(outgoing, heads, box), layer);

  for (const box of order.boxes)
    layer[box] = Math.max(Number.isNaN(placed[box]) ? NONE : placed[box], afterInputs(box));
  for (const box of backwards) if (layer[box] === NONE) layer[box] = beforeOutputs(box);
  for (const box of order.boxes) if (layer[box] === NONE) layer[box] = Math.max(0, afterInputs(box));
  const weights = (list: Int32Array) => list.reduce((sum, pair) => sum + pairs.weight[pair], 0);
  for (const box of backwards) {
    const [into, out] = [incoming, outgoing].map(({ start, items }) =>
      weights(items.subarray(start[box], start[box + 1])),
    );
    if (Number.isNaN(placed[box]) && out > into) layer[box] = Math.max(layer[box], beforeOutputs(box));
  }
  return Int32Array.from(layer);
}

function after(boxes: Int32Array, layer: Float64Array): number {
  return boxes.reduce((highest, box) => (layer[box] === NONE ? highest : Math.max(highest, layer[box] + 1)), NONE);
}

function before(boxes: Int32Array, layer: Float64Array): number {
  const lowest = boxes.reduce(
    (least, box) => (layer[box] === NONE ? least : Math.min(least, layer[box] - 1)),
    Number.MAX_SAFE_INTEGER,
  );
  return lowest === Number.MAX_SAFE_INTEGER ? NONE : lowest;
}
