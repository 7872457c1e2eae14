/** Painting on a canvas: bands, lines with arrow heads and marks, and where cards cannot be read, their boxes. */

import { LOOKS, type Style } from "../scene/styles";
import { type Camera, COLUMN_ZOOM, type Size, seen } from "./camera";
import { type Curve, middleOf, overlap, type Rect, trace } from "./curves";
import type { Lit } from "./drawing";
import type { Lines } from "./lines";
import type { Palette } from "./palette";
import { fitting, wrapped } from "./text";

export type Context = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;

export interface Picture {
  readonly strands: Lines;
  readonly bundles: Lines;
  readonly boxes: readonly Rect[];
  /** The title of each box, and below it how many columns it has; empty for jobs. */
  readonly titles: readonly string[];
  readonly counts: readonly string[];
  readonly bands: readonly { readonly name: string; readonly rect: Rect }[];
}

/** The colours, and which lines and boxes are lit. */
export interface Look {
  readonly palette: Palette;
  /** Null lights all. */
  readonly lit: Lit | null;
}

export interface Frame extends Look {
  readonly camera: Camera;
  readonly size: Size;
  /** Pixels of the canvas for one of the screen. */
  readonly ratio: number;
}

const DIMMED = 0.12;
/**
 * The most lines that are thicker than a pixel. The rasterizer draws lines of one pixel without stroking them first: 5,500
 * took 23 ms so, and 914 ms when they were thicker.
 */
const MOST_THICK = 400;
const DASH_ZOOM = 0.2;
/** How far heads and marks reach beyond the bounds of their lines, in pixels of the screen. */
const BEYOND_LINE = 12;
/** The height of titles in pixels of the screen, and the narrowest box that has one. */
const TITLE = 11.5;
const NARROWEST = 42;
const LINE_HEIGHT = 1.2;

/** Return whether a zoom shows columns, and so each strand; else datasets and bundles. */
export function showsColumns(zoom: number): boolean {
  return zoom >= COLUMN_ZOOM;
}

/** Return the lines that a zoom shows. */
function linesAt({ strands, bundles }: Picture, zoom: number): Lines {
  return showsColumns(zoom) ? strands : bundles;
}

/** Return whether so many lines are in a frame that each is one pixel wide. */
export function isThin(picture: Picture, { camera, size }: Frame): boolean {
  return linesAt(picture, camera.zoom).within(seen(camera, size)).length > MOST_THICK;
}

/** Paint what a camera sees, or a part of it, in pixels of the canvas. */
export function paint(
  context: Context,
  picture: Picture,
  frame: Frame,
  thin = isThin(picture, frame),
  part = pixelsOf(frame),
): void {
  const { camera, ratio, palette } = frame;
  const scale = camera.zoom * ratio;
  const [x, y, width, height] = [part.left, part.top, part.right - part.left, part.bottom - part.top];
  context.save();
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  context.fillStyle = palette.canvas;
  context.fillRect(x, y, width, height);
  context.setTransform(scale, 0, 0, scale, -camera.x * scale, -camera.y * scale);
  const region = seen({ x: camera.x + x / scale, y: camera.y + y / scale, zoom: scale }, { width, height });
  for (const band of picture.bands) paintBand(context, band, frame);
  paintLines(context, picture, frame, thin, region);
  if (!showsColumns(camera.zoom)) paintBoxes(context, picture, frame, region);
  context.restore();
}

/** Return a frame's size in pixels of the canvas. */
export function pixelsOf({ size, ratio }: Frame): Rect {
  return { left: 0, top: 0, right: Math.round(size.width * ratio), bottom: Math.round(size.height * ratio) };
}

function paintLines(context: Context, picture: Picture, frame: Frame, thin: boolean, region: Rect): void {
  const { camera, lit } = frame;
  const columns = showsColumns(camera.zoom);
  const lines = linesAt(picture, camera.zoom);
  const flags = lit && (columns ? lit.strands : lit.bundles);
  const margin = BEYOND_LINE / camera.zoom;
  const visible = lines.within({
    left: region.left - margin,
    top: region.top - margin,
    right: region.right + margin,
    bottom: region.bottom + margin,
  });
  const dimmed = flags ? visible.filter((place) => !flags[place]) : [];
  const bright = flags ? visible.filter((place) => flags[place]) : visible;
  for (const [places, alpha] of [
    [dimmed, DIMMED],
    [bright, columns ? 0.9 : 0.6],
  ] as const) {
    context.globalAlpha = alpha;
    for (const [style, curves] of byStyle(lines, places)) paintCurves(context, style, curves, frame, thin);
  }
  context.globalAlpha = 1;
}

function byStyle(lines: Lines, places: readonly number[]): Map<number, Curve[]> {
  const curves = new Map<number, Curve[]>();
  for (const place of places) {
    const style = lines.arrays.style[place];
    const list = curves.get(style);
    if (list) list.push(lines.curve(place));
    else curves.set(style, [lines.curve(place)]);
  }
  return curves;
}

function paintCurves(context: Context, style: number, curves: readonly Curve[], frame: Frame, thin: boolean): void {
  const { palette } = frame;
  const { zoom } = frame.camera;
  const look = LOOKS[style];
  const columns = showsColumns(zoom);
  context.strokeStyle = context.fillStyle = palette[look.color];
  context.lineWidth = (thin ? 1 / frame.ratio : look.width) / Math.min(1, zoom);
  // Farther away dashes cannot be seen, and would cost half of the time.
  context.setLineDash(zoom < DASH_ZOOM ? [] : look.dash.map((length) => length / Math.min(1, zoom)));
  context.beginPath();
  for (const curve of curves) trace(curve, context);
  context.stroke();
  context.setLineDash([]);
  if (zoom < COLUMN_ZOOM / 2) return;
  paintHeads(context, curves, columns ? 1 : 1.6);
  if (columns && look.mark !== "none") for (const curve of curves) paintMark(context, look.mark, curve, palette);
  for (const curve of curves) if (curve.back) paintTurn(context, curve, columns ? 1 : 1.6);
}

function paintHeads(context: Context, curves: readonly Curve[], scale: number): void {
  context.beginPath();
  for (const { points } of curves) {
    const [x, y] = [points[points.length - 2], points[points.length - 1]];
    context.moveTo(x, y);
    context.lineTo(x - 8 * scale, y - 4 * scale);
    context.lineTo(x - 8 * scale, y + 4 * scale);
  }
  context.fill();
}

/** Two heads to the left on the line of an edge that closes a cycle. */
function paintTurn(context: Context, curve: Curve, scale: number): void {
  const { x, y } = middleOf(curve);
  context.beginPath();
  for (const shift of [-5 * scale, 5 * scale]) {
    context.moveTo(x + shift - 5 * scale, y);
    context.lineTo(x + shift + 4 * scale, y - 6 * scale);
    context.lineTo(x + shift + 4 * scale, y + 6 * scale);
  }
  context.fill();
}

function paintMark(context: Context, mark: Style["mark"], curve: Curve, palette: Palette): void {
  const { x, y } = middleOf(curve);
  context.beginPath();
  if (mark === "square") context.rect(x - 4, y - 4, 8, 8);
  else if (mark === "ring") context.arc(x, y, 4.5, 0, 2 * Math.PI);
  else if (mark === "plus" || mark === "minus") {
    context.rect(x - 6, y - 2, 12, 4);
    if (mark === "plus") context.rect(x - 2, y - 6, 4, 12);
  } else {
    context.moveTo(x, y - 6);
    context.lineTo(x + 6, y);
    context.lineTo(x, y + 6);
    context.lineTo(x - 6, y);
    context.closePath();
  }
  if (mark === "ring") context.fillStyle = palette.canvas;
  context.fill();
  context.lineWidth = 2;
  if (mark === "ring") context.stroke();
}

function paintBand(context: Context, { name, rect }: Picture["bands"][number], { camera, palette }: Frame): void {
  const [width, height] = [rect.right - rect.left, Math.min(30, 13 / camera.zoom)];
  context.fillStyle = palette.muted;
  context.globalAlpha = 0.07;
  context.fillRect(rect.left, rect.top, width, rect.bottom - rect.top);
  context.globalAlpha = 1;
  context.font = `600 ${height}px system-ui, sans-serif`;
  context.fillText(fitting(context, name, width - 16), rect.left + 8, rect.top + height + 4);
}

function paintBoxes(context: Context, picture: Picture, frame: Frame, region: Rect): void {
  const { camera, palette, lit } = frame;
  context.lineWidth = 1 / camera.zoom;
  picture.boxes.forEach((rect, box) => {
    if (!overlap(rect, region)) return;
    const [width, height] = [rect.right - rect.left, rect.bottom - rect.top];
    context.globalAlpha = lit && !lit.boxes[box] ? 0.3 : 1;
    context.fillStyle = palette.card;
    context.strokeStyle = lit?.boxes[box] ? palette.accent : palette.border;
    context.fillRect(rect.left, rect.top, width, height);
    context.strokeRect(rect.left, rect.top, width, height);
    if (width * camera.zoom >= NARROWEST) paintTitle(context, picture, box, frame);
  });
  context.globalAlpha = 1;
}

/** Paint the title of a box as large at every zoom, on as many lines as the box has room for, and its count below. */
function paintTitle(context: Context, picture: Picture, box: number, { camera, palette }: Frame): void {
  const { left, top, right, bottom } = picture.boxes[box];
  const size = TITLE / camera.zoom;
  const [width, step] = [right - left - size, size * LINE_HEIGHT];
  const room = Math.max(1, Math.floor((bottom - top - size / 2) / step));
  const count = picture.counts[box];
  const counted = room > 1 && count !== "";
  context.font = `600 ${size}px system-ui, sans-serif`;
  context.fillStyle = palette.text;
  const lines = wrapped(context, picture.titles[box], width, Math.min(4, room - (counted ? 1 : 0)));
  // A low box has its title in the middle: below its upper side there would be too little room.
  const first = room > 1 ? top + step : (top + bottom) / 2 + 0.36 * size;
  lines.forEach((line, place) => {
    context.fillText(line, left + size / 2, first + step * place);
  });
  if (!counted) return;
  context.font = `${size}px system-ui, sans-serif`;
  context.fillStyle = palette.muted;
  context.fillText(fitting(context, count, width), left + size / 2, top + step * (lines.length + 1));
}
