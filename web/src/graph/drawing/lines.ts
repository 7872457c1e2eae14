/** Lines: many curves in flat arrays that pass to a worker, found by where they are. */

import Flatbush from "flatbush";
import { boundsOf, type Curve, distanceTo, type Rect } from "./curves";

export interface LineArrays {
  /** The points of line i are `points[start[i]]` to `points[start[i + 1] - 1]`. */
  readonly points: Float32Array;
  readonly start: Int32Array;
  readonly back: Uint8Array;
  /** Which of the looks each has. */
  readonly style: Uint8Array;
}

/** Return curves and their styles as flat arrays. */
export function lineArrays(curves: readonly Curve[], style: Uint8Array): LineArrays {
  const start = new Int32Array(curves.length + 1);
  curves.forEach((curve, place) => {
    start[place + 1] = start[place] + curve.points.length;
  });
  const points = new Float32Array(start[curves.length]);
  curves.forEach((curve, place) => {
    points.set(curve.points, start[place]);
  });
  return { points, start, back: Uint8Array.from(curves, (curve) => (curve.back ? 1 : 0)), style };
}

/** Lines with an index of where they are. */
export class Lines {
  readonly count: number;
  private readonly index: Flatbush | null;

  constructor(readonly arrays: LineArrays) {
    this.count = arrays.style.length;
    this.index = this.count > 0 ? new Flatbush(this.count, 16, Float32Array) : null;
    for (let place = 0; place < this.count; place++) {
      const { left, top, right, bottom } = boundsOf(this.curve(place));
      this.index?.add(left, top, right, bottom);
    }
    this.index?.finish();
  }

  curve(place: number): Curve {
    const { points, start, back } = this.arrays;
    return { points: points.subarray(start[place], start[place + 1]), back: back[place] === 1 };
  }

  /** Return the places of lines whose bounds meet a rectangle, in their order. */
  within({ left, top, right, bottom }: Rect): number[] {
    return this.index?.search(left, top, right, bottom).sort((a, b) => a - b) ?? [];
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
