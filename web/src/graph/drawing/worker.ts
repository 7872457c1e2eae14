/**
 * The worker that paints.
 *
 * A canvas of the page only records what is drawn; the rasterizing comes later, and where many lines were drawn in many
 * frames it stops the page for seconds. Here it costs what it costs beside the page, and a frame is a finished bitmap.
 */

import { type LineArrays, Lines } from "./lines";
import type { Frame, Look, Picture } from "./painter";
import { Surface } from "./surface";

/** A picture as it passes to the worker. */
export interface PictureMessage extends Omit<Picture, "strands" | "bundles"> {
  readonly strands: LineArrays;
  readonly bundles: LineArrays;
}

export type Message =
  | { readonly picture: PictureMessage }
  | { readonly look: Look }
  | { readonly frame: Omit<Frame, keyof Look> };

let picture: Picture | null = null;
let look: Look | null = null;
const surface = new Surface();

addEventListener("message", async ({ data }: MessageEvent<Message>) => {
  if ("picture" in data) {
    const { strands, bundles } = data.picture;
    picture = { ...data.picture, strands: new Lines(strands), bundles: new Lines(bundles) };
  } else if ("look" in data) look = data.look;
  else if (picture && look) {
    const bitmap = await createImageBitmap(surface.paint(picture, { ...data.frame, ...look }));
    postMessage(bitmap, { transfer: [bitmap] });
  }
});
