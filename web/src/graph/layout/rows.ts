/** Placing the boxes of one layer above each other, each as near as can be to where its links would have it. */

import { GAP } from "./request";

/** Boxes from top to bottom with their heights and the tops that they would like to have. */
export interface Column {
  readonly boxes: readonly number[];
  readonly heights: ArrayLike<number>;
  readonly desired: ArrayLike<number>;
}

/**
 * Set the tops of boxes so that they keep their order and GAP, and the squares of their distances to the desired tops
 * have the least sum (pool adjacent violators: boxes that would overlap move together, to the mean of their wishes).
 *
 * @param top set at the places of the boxes.
 */
export function stack({ boxes, heights, desired }: Column, top: Float64Array): void {
  const blocks: { first: number; count: number; mean: number }[] = [];
  let offset = 0;
  const offsets = boxes.map((box) => {
    const before = offset;
    offset += heights[box] + GAP;
    return before;
  });
  boxes.forEach((box, place) => {
    let block = { first: place, count: 1, mean: desired[box] - offsets[place] };
    while (blocks.length > 0 && blocks[blocks.length - 1].mean > block.mean) {
      const above = blocks.pop() as typeof block;
      const count = above.count + block.count;
      block = { first: above.first, count, mean: (above.mean * above.count + block.mean * block.count) / count };
    }
    blocks.push(block);
  });
  for (const { first, count, mean } of blocks) {
    for (let place = first; place < first + count; place++) top[boxes[place]] = mean + offsets[place];
  }
}

/**
 * Set the tops of new boxes in the free places between those that stay, each in the nearest to its desired top.
 *
 * Boxes that stay move down only where one above them has grown.
 */
export function fillGaps(staying: readonly number[], { boxes, heights, desired }: Column, top: Float64Array): void {
  const taken = [...staying].sort((a, b) => top[a] - top[b]);
  let free = Number.NEGATIVE_INFINITY;
  for (const box of taken) {
    top[box] = Math.max(top[box], free);
    free = top[box] + heights[box] + GAP;
  }
  for (const box of boxes) {
    const place = nearestGap(taken, heights, top, desired[box], heights[box]);
    top[box] = place.top;
    taken.splice(place.before, 0, box);
  }
}

function nearestGap(
  taken: readonly number[],
  heights: ArrayLike<number>,
  top: Float64Array,
  desired: number,
  height: number,
): { top: number; before: number } {
  let best = { top: desired, before: 0 };
  let nearest = Number.POSITIVE_INFINITY;
  for (let before = 0; before <= taken.length; before++) {
    const above = taken[before - 1];
    const lowest = before > 0 ? top[above] + heights[above] + GAP : Number.NEGATIVE_INFINITY;
    const highest = before < taken.length ? top[taken[before]] - GAP - height : Number.POSITIVE_INFINITY;
    const place = Math.min(Math.max(desired, lowest), highest);
    if (lowest <= highest && Math.abs(place - desired) < nearest) {
      nearest = Math.abs(place - desired);
      best = { top: place, before };
    }
  }
  return best;
}
