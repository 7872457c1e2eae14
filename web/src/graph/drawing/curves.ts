/** Curves: level at ports and through the lanes of layers that are passed, Bézier curves between. */

/** A rectangle of the drawing; lengths are pixels at zoom 1. */
export interface Rect {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

export interface Curve {
  /**
   * Points x, y, x, y, …: Bézier curves from the first to the second, the third to the fourth and so on, straight lines
   * between these.
   */
  readonly points: ArrayLike<number>;
  /** Whether it runs to the left, closing a cycle. */
  readonly back: boolean;
}

/** How far a curve that runs to the left reaches beyond its ends. */
const LOOP = 70;

/** Return a rectangle around a curve. */
export function boundsOf({ points, back }: Curve): Rect {
  const reach = back ? LOOP : 0;
  let [left, top, right, bottom] = [points[0], points[1], points[0], points[1]];
  for (let place = 2; place < points.length; place += 2) {
    left = Math.min(left, points[place]);
    right = Math.max(right, points[place]);
    top = Math.min(top, points[place + 1]);
    bottom = Math.max(bottom, points[place + 1]);
  }
  return { left: left - reach, top, right: right + reach, bottom };
}

/** A pen for curves: a canvas, or a text of SVG. */
export interface Pen {
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
  bezierCurveTo(x1: number, y1: number, x2: number, y2: number, x: number, y: number): void;
}

/** Draw a curve with a pen. */
export function trace({ points, back }: Curve, pen: Pen): void {
  pen.moveTo(points[0], points[1]);
  for (let place = 0; place + 3 < points.length; place += 4) {
    if (place > 0) pen.lineTo(points[place], points[place + 1]);
    const [x1, y1, x2, y2] = [points[place], points[place + 1], points[place + 2], points[place + 3]];
    const reach = back ? LOOP : Math.max(24, (x2 - x1) / 2);
    // A curve that runs back turns round after its first port and before its last.
    const turnAfter = back && place > 0 ? -1 : 1;
    const turnBefore = back && place + 4 < points.length ? -1 : 1;
    pen.bezierCurveTo(x1 + turnAfter * reach, y1, x2 - turnBefore * reach, y2, x2, y2);
  }
}

/** Return the middle of a curve. */
export function middleOf({ points, back }: Curve): { x: number; y: number } {
  // Control points lie as far right of the start as left of the end: the middle of a piece is the mean of its ends. A
  // curve that runs back is marked on its straight part.
  const piece = back ? 2 : 4 * Math.floor((points.length / 4 - 1) / 2);
  return { x: (points[piece] + points[piece + 2]) / 2, y: (points[piece + 1] + points[piece + 3]) / 2 };
}

const SAMPLES = 16;

/** Return the distance of a point to a curve, in pixels of the drawing. */
export function distanceTo(curve: Curve, x: number, y: number): number {
  let nearest = Number.POSITIVE_INFINITY;
  let [lastX, lastY] = [curve.points[0], curve.points[1]];
  const line = (toX: number, toY: number) => {
    nearest = Math.min(nearest, distanceToLine(x, y, lastX, lastY, toX, toY));
    [lastX, lastY] = [toX, toY];
  };
  trace(curve, {
    moveTo: () => {},
    lineTo: line,
    bezierCurveTo: (x1, y1, x2, y2, endX, endY) => {
      const [startX, startY] = [lastX, lastY];
      for (let sample = 1; sample <= SAMPLES; sample++) {
        const [t, u] = [sample / SAMPLES, 1 - sample / SAMPLES];
        const [a, b, c, d] = [u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t];
        line(a * startX + b * x1 + c * x2 + d * endX, a * startY + b * y1 + c * y2 + d * endY);
      }
    },
  });
  return nearest;
}

function distanceToLine(x: number, y: number, x1: number, y1: number, x2: number, y2: number): number {
  const [dx, dy] = [x2 - x1, y2 - y1];
  const squared = dx * dx + dy * dy;
  const along = squared === 0 ? 0 : Math.min(1, Math.max(0, ((x - x1) * dx + (y - y1) * dy) / squared));
  return Math.hypot(x - x1 - along * dx, y - y1 - along * dy);
}

/** Return whether two rectangles have a point in common. */
export function overlap(a: Rect, b: Rect): boolean {
  return a.left <= b.right && b.left <= a.right && a.top <= b.bottom && b.top <= a.bottom;
}
