/** The drawing as PNG. */

import type { Drawing } from "../drawing/drawing";
import { paint } from "../drawing/painter";
import type { Palette } from "../drawing/palette";
import { datasetLabel, fitting, lastPart } from "../drawing/text";
import { HEADER, rowMiddle } from "../scene/cards";

const MARGIN = 24;
/** Browsers refuse canvases above 16,384 pixels; a picture of this side can still be opened everywhere. */
const LONGEST_SIDE = 8192;

/**
 * Return the whole drawing as a PNG, twice as large as at zoom 1 where that fits.
 *
 * @throws Error the browser could not make the picture.
 */
export async function pngOf(drawing: Drawing, palette: Palette): Promise<Blob> {
  const { bounds } = drawing;
  const size = { width: bounds.right - bounds.left + 2 * MARGIN, height: bounds.bottom - bounds.top + 2 * MARGIN };
  const ratio = Math.min(2, LONGEST_SIDE / Math.max(size.width, size.height));
  const canvas = new OffscreenCanvas(Math.ceil(size.width * ratio), Math.ceil(size.height * ratio));
  const context = canvas.getContext("2d");
  if (!context) throw new Error("The browser has no canvas to draw the picture on.");
  const camera = { x: bounds.left - MARGIN, y: bounds.top - MARGIN, zoom: 1 };
  paint(context, { ...drawing, titles: [], counts: [] }, { camera, size, ratio, palette, lit: null });
  context.setTransform(ratio, 0, 0, ratio, -camera.x * ratio, -camera.y * ratio);
  paintCards(context, drawing, palette);
  return canvas.convertToBlob({ type: "image/png" });
}

function paintCards(context: OffscreenCanvasRenderingContext2D, { scene, boxes }: Drawing, palette: Palette): void {
  const { datasets, columns, jobs } = scene.graph.view;
  boxes.forEach(({ left, top, right, bottom }, box) => {
    const card = scene.cards[box];
    const name = card ? datasets.name[card.dataset] : jobs.name[scene.jobs[box - scene.cards.length]];
    const label = card ? datasetLabel(datasets, card.dataset) : lastPart(name);
    const write = (value: string, indent: number, y: number) =>
      context.fillText(fitting(context, value, right - left - 2 * indent), left + indent, top + y);
    context.fillStyle = palette.card;
    context.strokeStyle = palette.border;
    context.lineWidth = 1;
    context.beginPath();
    context.roundRect(left, top, right - left, bottom - top, 6);
    context.fill();
    context.stroke();
    context.fillStyle = palette.text;
    context.font = "600 13px system-ui, sans-serif";
    write(label, 12, HEADER / 2 - 2);
    context.font = "13px system-ui, sans-serif";
    for (const [row, column] of (card?.rows ?? []).entries()) write(columns.field[column], 20, rowMiddle(row) + 4);
  });
}
