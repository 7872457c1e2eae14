/** The stage: camera, painted bitmap and the world of cards above it, moved together without rendering anew. */

import { type Camera, COLUMN_ZOOM, centred, fitted, panned, revealed, type Size, seen, zoomed } from "./drawing/camera";
import { PaintWorker } from "./drawing/client";
import { overlap, type Rect } from "./drawing/curves";
import type { Drawing, Lit } from "./drawing/drawing";
import { type Frame, showsColumns } from "./drawing/painter";
import { type Palette, paletteOf } from "./drawing/palette";

/** The part of a screen that is painted beyond each side, so that a pan shows no edge of the bitmap. */
const BEYOND = 0.25;
/** How much a bitmap is scaled while the zoom changes, before the next is ordered. */
const STRETCH = { least: 0.6, most: 1.6 };
/** How far outside cards are made already, in pixels of the screen. */
const CARD_MARGIN = 240;
/** The zoom at which a drawing opens at the focus where as a whole its columns would not be seen. */
const FOCUS_ZOOM = 0.75;
/** On a narrow screen it is smaller, so that two cards are seen with the lines between: of so many pixels at zoom 1. */
const TWO_CARDS = 690;
/** Below this zoom cards have larger letters. */
const FAR_ZOOM = 0.75;
const GLIDE = 250; // milliseconds
const REST = 150; // milliseconds
/** The most cards that are made in one frame while the camera moves; more would hold it up. */
const MOST_NEW = 4;

export interface StageElements {
  readonly root: HTMLElement;
  readonly canvas: HTMLCanvasElement;
  readonly world: HTMLElement;
}

export class Stage {
  camera: Camera = { x: 0, y: 0, zoom: 1 };
  size: Size = { width: 1, height: 1 };
  /** Called after each move of the camera. */
  onCamera: (() => void) | null = null;
  private drawing: Drawing | null = null;
  private lit: Lit | null = null;
  private shown: Frame | null = null;
  /** The boxes that have cards; null before a new drawing has any. */
  private inSight: ReadonlySet<number> | null = null;
  /** What the camera was put to, so that it is put there again in another size; null since anything else moved it. */
  private aim: "start" | "whole" | null = null;
  /** The frame that will find the boxes in sight. */
  private finding = 0;
  /** The timer until the camera rests. */
  private resting = 0;
  /** The move that is under way; the next move ends it. */
  private glide: ((now: number) => void) | null = null;
  private palette: Palette;
  private readonly painter = new PaintWorker((bitmap, frame) => this.present(bitmap, frame));
  private readonly bitmaps: ImageBitmapRenderingContext | null;
  private readonly resized = new ResizeObserver(() => this.measure());

  constructor(
    private readonly elements: StageElements,
    /** Receives the boxes in sight, as cards to be made; none while cards are too small to read. */
    private readonly onBoxes: (boxes: readonly number[]) => void,
  ) {
    this.palette = paletteOf(elements.root);
    this.bitmaps = elements.canvas.getContext("bitmaprenderer", { alpha: false });
    this.resized.observe(elements.root);
    this.measure();
  }

  /** Show a drawing; the first is fitted, with later ones the anchor box stays where it is on the screen. */
  show(drawing: Drawing, lit: Lit | null, anchor: { readonly before: Rect; readonly after: Rect } | null): void {
    const first = this.drawing === null;
    this.drawing = drawing;
    this.lit = lit;
    this.inSight = null;
    this.painter.show(drawing);
    if (first) this.open();
    else if (anchor) {
      const { before, after } = anchor;
      const { x, y, zoom } = this.camera;
      this.moveTo({ x: x + after.left - before.left, y: y + after.top - before.top, zoom });
    } else this.moveTo(this.camera);
    if (!this.seesAny(drawing)) this.open();
    this.repaint();
  }

  light(lit: Lit | null): void {
    this.lit = lit;
    this.repaint();
  }

  moveTo(camera: Camera): void {
    this.glide = null;
    this.see(camera);
  }

  /** See a rectangle, moving as little as that takes, in so many frames that the eye can follow. */
  glideTo(rect: Rect): void {
    const [from, to] = [this.camera, revealed(this.camera, rect, this.size)];
    const start = performance.now();
    const glide = (now: number) => {
      if (this.glide !== glide) return;
      const part = Math.min(1, Math.max(0, (now - start) / GLIDE));
      this.see({ x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part, zoom: from.zoom });
      if (part < 1) requestAnimationFrame(glide);
    };
    this.glide = glide;
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) this.moveTo(to);
    else requestAnimationFrame(glide);
  }

  private see(camera: Camera): void {
    this.camera = camera;
    this.aim = null;
    this.elements.world.style.transform = transformOf({ x: 0, y: 0, zoom: 1 }, camera);
    if (this.elements.world.style.willChange === "") this.letter();
    // Cards are scaled as they were painted while the camera moves, and painted anew when it rests.
    this.elements.world.style.willChange = "transform";
    clearTimeout(this.resting);
    this.resting = window.setTimeout(() => this.rest(), REST);
    this.placeBitmap();
    if (!this.covered()) this.repaint(BEYOND);
    this.findBoxesSoon();
    this.onCamera?.();
  }

  /** Size the letters of cards, which takes too long for a frame of a zoom. */
  private letter(): void {
    this.elements.world.toggleAttribute("data-far", this.camera.zoom < FAR_ZOOM);
  }

  private rest(): void {
    this.elements.world.style.willChange = "";
    this.letter();
    if (this.shown?.camera.zoom !== this.camera.zoom) this.repaint();
  }

  pan(dx: number, dy: number): void {
    this.moveTo(panned(this.camera, dx, dy));
  }

  zoom(factor: number, x = this.size.width / 2, y = this.size.height / 2): void {
    this.moveTo(zoomed(this.camera, factor, x, y));
  }

  /** See the whole drawing. */
  fit(): void {
    if (!this.drawing) return;
    this.moveTo(fitted(this.drawing.bounds, this.size));
    this.aim = "whole";
  }

  reveal(rect: Rect): void {
    this.moveTo(revealed(this.camera, rect, this.size));
  }

  centre(rect: Rect, zoom = this.camera.zoom): void {
    this.moveTo(centred(rect, this.drawing?.bounds ?? rect, this.size, zoom));
  }

  /** Return the point of the drawing under a point of the window. */
  pointAt(clientX: number, clientY: number): { x: number; y: number } {
    const { left, top } = this.elements.root.getBoundingClientRect();
    return {
      x: this.camera.x + (clientX - left) / this.camera.zoom,
      y: this.camera.y + (clientY - top) / this.camera.zoom,
    };
  }

  close(): void {
    cancelAnimationFrame(this.finding);
    clearTimeout(this.resting);
    this.resized.disconnect();
    this.painter.close();
  }

  /** Paint in the colours that the page has now. */
  recolour(): void {
    this.palette = paletteOf(this.elements.root);
    this.repaint();
  }

  /** Order a bitmap of what is seen; with what is beyond it, where only that is new. */
  private repaint(beyond = 0): void {
    if (!this.drawing) return;
    const { camera, size } = this;
    const ratio = Math.min(2, devicePixelRatio);
    // At whole pixels, so that the next bitmap can take over what this one has.
    const scale = camera.zoom * ratio;
    const place = (along: number, length: number) => Math.floor(along * scale - beyond * length * ratio) / scale;
    const grown = (length: number) => Math.ceil(length * (1 + 2 * beyond) * ratio + 1) / ratio;
    this.painter.paint({
      camera: { x: place(camera.x, size.width), y: place(camera.y, size.height), zoom: camera.zoom },
      size: { width: grown(size.width), height: grown(size.height) },
      ratio,
      palette: this.palette,
      lit: this.lit,
    });
  }

  private seesAny({ boxes }: Drawing): boolean {
    const view = seen(this.camera, this.size);
    return boxes.some((rect) => overlap(rect, view));
  }

  private open(): void {
    this.fit();
    const { drawing } = this;
    if (!drawing) return;
    const focus = drawing.boxes[drawing.scene.boxOf[drawing.scene.graph.view.focus.dataset]];
    if (focus && !showsColumns(this.camera.zoom))
      this.centre(focus, Math.max(COLUMN_ZOOM, Math.min(FOCUS_ZOOM, this.size.width / TWO_CARDS)));
    this.aim = "start";
  }

  private measure(): void {
    const { clientWidth, clientHeight } = this.elements.root;
    this.size = { width: Math.max(1, clientWidth), height: Math.max(1, clientHeight) };
    if (this.aim === "start") this.open();
    else if (this.aim === "whole") this.fit();
    else this.moveTo(this.camera);
  }

  private present(bitmap: ImageBitmap, frame: Frame): void {
    this.shown = frame;
    this.bitmaps?.transferFromImageBitmap(bitmap);
    const { style } = this.elements.canvas;
    style.width = `${frame.size.width}px`;
    style.height = `${frame.size.height}px`;
    this.placeBitmap();
    if (!this.covered()) this.repaint(BEYOND);
  }

  /** Put the bitmap where the camera would see what it shows. */
  private placeBitmap(): void {
    if (!this.shown) return;
    const { style } = this.elements.canvas;
    style.transform = transformOf(this.shown.camera, this.camera);
    // The same picture at the same size, and copied in a fifth of the time.
    style.imageRendering = this.shown.camera.zoom === this.camera.zoom ? "pixelated" : "auto";
  }

  private covered(): boolean {
    if (!this.shown) return false;
    const [before, now] = [this.shown.camera.zoom, this.camera.zoom];
    if (showsColumns(before) !== showsColumns(now)) return false;
    if (now / before < STRETCH.least || now / before > STRETCH.most) return false;
    const [view, painted] = [seen(this.camera, this.size), seen(this.shown.camera, this.shown.size)];
    // Half of what is painted beyond the screen is left when the next bitmap is ordered.
    const spare = { x: ((view.right - view.left) * BEYOND) / 2, y: ((view.bottom - view.top) * BEYOND) / 2 };
    return (
      view.left - spare.x >= painted.left &&
      view.top - spare.y >= painted.top &&
      view.right + spare.x <= painted.right &&
      view.bottom + spare.y <= painted.bottom
    );
  }

  /** Find boxes once a frame, however often the camera moves; those of a new drawing at once. */
  private findBoxesSoon(): void {
    if (this.inSight === null) this.findBoxes();
    else
      this.finding ||= requestAnimationFrame(() => {
        this.finding = 0;
        this.findBoxes();
      });
  }

  private findBoxes(): void {
    const boxes: number[] = [];
    if (this.drawing && showsColumns(this.camera.zoom)) {
      const { left, top, right, bottom } = seen(this.camera, this.size);
      const margin = CARD_MARGIN / this.camera.zoom;
      const wide = { left: left - margin, top: top - margin, right: right + margin, bottom: bottom + margin };
      for (const [box, rect] of this.drawing.boxes.entries()) if (overlap(rect, wide)) boxes.push(box);
    }
    const { inSight } = this;
    const added = inSight ? boxes.filter((box) => !inSight.has(box)) : [];
    const later = new Set(added.slice(MOST_NEW));
    if (later.size > 0) this.findBoxesSoon();
    const shown = boxes.filter((box) => !later.has(box));
    if (inSight && added.length === 0 && shown.length === inSight.size) return;
    this.inSight = new Set(shown);
    this.onBoxes(shown);
  }
}

/** Return the transform that puts what one camera sees where another sees it, by whole pixels: others must be mixed. */
function transformOf(from: Camera, to: Camera): string {
  const move = (one: number, other: number) =>
    Math.round((one - other) * to.zoom * devicePixelRatio) / devicePixelRatio;
  return `translate(${move(from.x, to.x)}px, ${move(from.y, to.y)}px) scale(${to.zoom / from.zoom})`;
}
