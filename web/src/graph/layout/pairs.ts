/** Links taken together by the pair of boxes that they join: all that layers and order depend on. */

import { type Lists, listsOf } from "../../model/graph";
import type { LayoutRequest } from "./request";

export interface Pairs {
  readonly from: Int32Array;
  readonly to: Int32Array;
  /** The number of links. */
  readonly weight: Float64Array;
  /** The sum over the links of the heights of the ports they leave, and of those they enter. */
  readonly fromY: Float64Array;
  readonly toY: Float64Array;
  /** The pair of each link, -1 for one from a box to itself. */
  readonly pair: Int32Array;
}

/** The pairs that leave and enter each box. */
export interface Adjacency {
  readonly outgoing: Lists;
  readonly incoming: Lists;
}

/** Return the pairs of boxes that links join, in the order of their first links. */
export function pairsOf({ heights, from, to, fromY, toY }: LayoutRequest): Pairs {
  const places = new Map<number, number>();
  const pair = new Int32Array(from.length);
  const firsts: number[] = [];
  for (let link = 0; link < from.length; link++) {
    const key = from[link] * heights.length + to[link];
    let place = from[link] === to[link] ? -1 : places.get(key);
    if (place === undefined) {
      place = firsts.push(link) - 1;
      places.set(key, place);
    }
    pair[link] = place;
  }
  const weight = new Float64Array(firsts.length);
  const [leaving, entering] = [new Float64Array(firsts.length), new Float64Array(firsts.length)];
  pair.forEach((place, link) => {
    if (place < 0) return;
    weight[place]++;
    leaving[place] += fromY[link];
    entering[place] += toY[link];
  });
  const ends = (boxes: Int32Array) => Int32Array.from(firsts, (link) => boxes[link]);
  return { from: ends(from), to: ends(to), weight, fromY: leaving, toY: entering, pair };
}

/** Return the pairs by the box they leave and by the box they enter. */
export function adjacencyOf(tails: ArrayLike<number>, heads: ArrayLike<number>, boxes: number): Adjacency {
  return { outgoing: listsOf(tails, boxes), incoming: listsOf(heads, boxes) };
}
