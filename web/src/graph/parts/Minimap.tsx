import { useEffect, useRef } from "preact/hooks";
import { type Camera, fitted, type Size, seen } from "../drawing/camera";
import type { Rect } from "../drawing/curves";
import type { Drawing } from "../drawing/drawing";
import { paletteOf } from "../drawing/palette";
import type { Stage } from "../stage";

export interface MinimapProps {
  readonly drawing: Drawing;
  readonly stage: { readonly current: Stage | null };
}

const SIZE: Size = { width: 180, height: 120 };

/**
 * All boxes small, with a frame around what is seen; a press or a drag moves the camera there. It is away while all is
 * seen, so that it covers nothing.
 */
export function Minimap({ drawing, stage }: MinimapProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const root = useRef<HTMLDivElement>(null);
  const map = fitted(drawing.bounds, SIZE, 4);
  useEffect(() => {
    if (canvas.current) paintMap(canvas.current, drawing, map);
    const { current } = stage;
    if (!current) return;
    // Not by state: it moves with each frame of a drag.
    current.onCamera = () => {
      const view = seen(current.camera, current.size);
      placeFrame(frame.current, view, map);
      if (root.current) root.current.hidden = within(drawing.bounds, view);
    };
    current.onCamera();
    return () => {
      current.onCamera = null;
    };
  }, [drawing]);
  const go = (event: PointerEvent) => {
    if (event.buttons !== 1) return;
    event.stopPropagation();
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const [x, y] = [map.x + (event.clientX - box.left) / map.zoom, map.y + (event.clientY - box.top) / map.zoom];
    stage.current?.centre({ left: x, right: x, top: y, bottom: y });
  };
  return (
    <div ref={root} class="hw-minimap" aria-hidden="true" onPointerDown={go} onPointerMove={go}>
      <canvas ref={canvas} width={SIZE.width * 2} height={SIZE.height * 2} />
      <div ref={frame} class="hw-minimap-frame" />
    </div>
  );
}

function within(inner: Rect, outer: Rect): boolean {
  return (
    inner.left >= outer.left && inner.right <= outer.right && inner.top >= outer.top && inner.bottom <= outer.bottom
  );
}

function placeFrame(frame: HTMLElement | null, view: Rect, map: Camera): void {
  if (!frame) return;
  // A transform moves without a layout of the page.
  frame.style.transform = `translate(${(view.left - map.x) * map.zoom}px, ${(view.top - map.y) * map.zoom}px)`;
  frame.style.width = `${(view.right - view.left) * map.zoom}px`;
  frame.style.height = `${(view.bottom - view.top) * map.zoom}px`;
}

function paintMap(canvas: HTMLCanvasElement, { boxes }: Drawing, { x, y, zoom }: Camera): void {
  const context = canvas.getContext("2d");
  if (!context) return;
  const palette = paletteOf(canvas);
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.setTransform(2 * zoom, 0, 0, 2 * zoom, -2 * x * zoom, -2 * y * zoom);
  context.fillStyle = palette.muted;
  for (const { left, top, right, bottom } of boxes) {
    context.fillRect(left, top, Math.max(right - left, 1 / zoom), Math.max(bottom - top, 1 / zoom));
  }
}
