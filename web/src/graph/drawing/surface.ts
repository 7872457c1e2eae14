/** The surface that is painted on: a frame takes over what the one before shows of it, and only the rest is painted. */

import type { Size } from "./camera";
import type { Rect } from "./curves";
import { type Frame, isThin, type Picture, paint, pixelsOf } from "./painter";

interface Painted {
  readonly picture: Picture;
  readonly frame: Frame;
  readonly thin: boolean;
}

export class Surface {
  private painted: Painted | null = null;
  private canvas = new OffscreenCanvas(1, 1);
  private spare = new OffscreenCanvas(1, 1);

  /** Paint a frame of a picture, and return the canvas that has it until the next is painted. */
  paint(picture: Picture, frame: Frame): OffscreenCanvas {
    const next = { picture, frame, thin: isThin(picture, frame) };
    const shift = this.painted && shiftOf(this.painted, next);
    const { canvas } = this;
    [this.canvas, this.spare] = [this.spare, canvas];
    const whole = pixelsOf(frame);
    this.canvas.width = Math.max(1, whole.right);
    this.canvas.height = Math.max(1, whole.bottom);
    // Without `willReadFrequently` the bitmap would be rasterized only when the page shows it.
    const context = this.canvas.getContext("2d", { alpha: false, willReadFrequently: true });
    if (!context) return this.canvas;
    if (shift) context.drawImage(canvas, shift.x, shift.y);
    for (const part of shift ? outside(whole, shift, canvas) : [whole]) paint(context, picture, frame, next.thin, part);
    this.painted = next;
    return this.canvas;
  }
}

/** Return how many pixels right and down a frame has what another shows; null where it shows something else. */
export function shiftOf(before: Painted, after: Painted): { x: number; y: number } | null {
  const [from, to] = [before.frame, after.frame];
  const same =
    before.picture === after.picture &&
    before.thin === after.thin &&
    from.lit === to.lit &&
    from.ratio === to.ratio &&
    from.palette === to.palette &&
    from.camera.zoom === to.camera.zoom;
  if (!same) return null;
  const pixels = (lengths: number) => Math.round(lengths * to.camera.zoom * to.ratio);
  return { x: pixels(from.camera.x - to.camera.x), y: pixels(from.camera.y - to.camera.y) };
}

/** Return the parts of a rectangle that an image at a place does not cover, as rectangles that do not overlap. */
export function outside(whole: Rect, { x, y }: { x: number; y: number }, { width, height }: Size): Rect[] {
  const [top, bottom] = [Math.max(whole.top, y), Math.min(whole.bottom, y + height)];
  if (top >= bottom || x >= whole.right || x + width <= whole.left) return [whole];
  const parts = [
    { ...whole, bottom: top },
    { ...whole, top: bottom },
    { ...whole, top, bottom, right: x },
    { ...whole, top, bottom, left: x + width },
  ];
  return parts.filter(({ left, top, right, bottom }) => left < right && top < bottom);
}
