/**
 * The worker that paints.
 *
 * A canvas of the page only records what is drawn; the rasterizing comes later, and where many lines were drawn in many
 * frames it stops the page for seconds. Here it costs what it costs beside the page, and a frame is a finished bitmap.
 */

import { type LineArrays, Lines } from "./lines";
import { type Frame, type Picture, paint } from "./painter";

/** A picture as it passes to the worker. */
export interface PictureMessage extends Omit<Picture, "strands" | "bundles"> {
  readonly strands: LineArrays;
  readonly bundles: LineArrays;
}

export type Message = { readonly picture: PictureMessage } | { readonly frame: Frame };

let picture: Picture | null = null;
const canvas = new OffscreenCanvas(1, 1);
// Without this the bitmap would be rasterized only when the page shows it.
const context = canvas.getContext("2d", { willReadFrequently: true });

addEventListener("message", ({ data }: MessageEvent<Message>) => {
  if ("picture" in data) {
    const { strands, bundles } = data.picture;
    picture = { ...data.picture, strands: new Lines(strands), bundles: new Lines(bundles) };
    return;
  }
  const { size, ratio } = data.frame;
  canvas.width = Math.max(1, Math.round(size.width * ratio));
  canvas.height = Math.max(1, Math.round(size.height * ratio));
  if (picture && context) paint(context, picture, data.frame);
  const bitmap = canvas.transferToImageBitmap();
  postMessage(bitmap, { transfer: [bitmap] });
});
