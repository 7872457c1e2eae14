/** Lines: many curves in flat arrays that pass to a worker, found by where they are. */

import Flatbush from "flatbush";
import type { Layout } from "../layout/request";
import { CARD_WIDTH } from "../scene/cards";
import type { Ends } from "../scene/strands";
import { boundsOf, type Curve, distanceTo, type Rect } from "./curves";

export interface LineArrays {
  /** The points of line i are `points[start[i]]` to `points[start[i + 1] - 1]`. */
  readonly points: Float32Array;
  readonly start: Int32Array;
  readonly back: Uint8Array;
  /** Which of the looks each has. */
  readonly style: Uint8Array;
}

/** Where lines pass: for each the pair of boxes in the layout, whether it runs back, and how far it is below its bends. */
export interface Routes {
  readonly pair: ArrayLike<number>;
  readonly back: ArrayLike<number>;
  readonly bendOffset: ArrayLike<number>;
}

/** How far below boxes a line without bends runs back. */
const BELOW = 14;

/** Return the lines between boxes that have places, along their routes through a layout. */
export function lineArrays(
  ends: Ends,
  { pair, back, bendOffset }: Routes,
  { bendStart, bendY }: Layout,
  boxes: readonly Rect[],
  pitch: number,
): LineArrays {
  const count = ends.from.length;
  const bendsOf = (line: number) => (pair[line] < 0 ? 0 : bendStart[pair[line] + 1] - bendStart[pair[line]]);
  const start = new Int32Array(count + 1);
  for (let line = 0; line < count; line++) {
    start[line + 1] = start[line] + 4 + 4 * (bendsOf(line) || back[line]);
  }
  const points = new Float32Array(start[count]);
  for (let line = 0; line < count; line++) {
    const [from, to] = [boxes[ends.from[line]], boxes[ends.to[line]]];
    points.set([from.right, from.top + ends.fromY[line]], start[line]);
    points.set([to.left, to.top + ends.toY[line]], start[line + 1] - 2);
    if (bendsOf(line) === 0 && back[line]) {
      const y = Math.max(from.bottom, to.bottom) + BELOW;
      points.set([from.right, y, to.left, y], start[line] + 2);
    }
    for (let bend = 0; bend < bendsOf(line); bend++) {
      const y = bendY[bendStart[pair[line]] + bend] + bendOffset[line];
      const left = from.left + (back[line] ? -1 : 1) * (bend + 1) * pitch;
      const right = left + CARD_WIDTH;
      points.set(back[line] ? [right, y, left, y] : [left, y, right, y], start[line] + 2 + 4 * bend);
    }
  }
  return { points, start, back: Uint8Array.from(back), style: ends.style };
}

/** Lines with an index of where they are, which is made when it is first asked. */
export class Lines {
  readonly count: number;
  private index: Flatbush | null = null;

  constructor(readonly arrays: LineArrays) {
    this.count = arrays.style.length;
  }

  curve(place: number): Curve {
    const { points, start, back } = this.arrays;
    return { points: points.subarray(start[place], start[place + 1]), back: back[place] === 1 };
  }

  /** Return the places of lines whose bounds meet a rectangle, in their order. */
  within({ left, top, right, bottom }: Rect): number[] {
    if (this.count === 0) return [];
    this.index ??= indexOf(this);
    return this.index.search(left, top, right, bottom).sort((a, b) => a - b);
  }

  /** Return the place of the line that is nearest to a point, -1 where none is within the distance. */
  nearest(x: number, y: number, distance: number): number {
    let [best, least] = [-1, distance];
    for (const place of this.within({
      left: x - distance,
      top: y - distance,
      right: x + distance,
      bottom: y + distance,
    })) {
      const apart = distanceTo(this.curve(place), x, y);
      if (apart > least) continue;
      [best, least] = [place, apart];
    }
    return best;
  }
}

function indexOf(lines: Lines): Flatbush {
  const index = new Flatbush(lines.count, 16, Float32Array);
  for (let place = 0; place < lines.count; place++) {
    const { left, top, right, bottom } = boundsOf(lines.curve(place));
    index.add(left, top, right, bottom);
  }
  index.finish();
  return index;
}
