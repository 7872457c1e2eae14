/** The pointer: drags pan, the wheel zooms, two fingers do both; a still pointer finds the line it is on. */

import { useEffect } from "preact/hooks";
import { listOf } from "../model/graph";
import type { Drawing } from "./drawing/drawing";
import { showsColumns } from "./drawing/painter";
import type { HoveredPlace } from "./parts/HoveredLine";
import type { Stage } from "./stage";

/** How near the pointer must be to a line, in pixels of the screen. */
const REACH = 6;
/** How far the pointer goes before a press is a drag. */
const DRAG = 4;
/** Zoom for one step of a wheel's 100 pixels. */
const WHEEL = 1.2;

interface Ref<T> {
  readonly current: T | null;
}

/** Listen to the pointer on the stage. */
export function usePointer(
  root: Ref<HTMLElement>,
  stage: Ref<Stage>,
  drawing: Drawing | null,
  onHover: (hovered: HoveredPlace | null) => void,
  onEdges: (edges: readonly number[]) => void,
): void {
  useEffect(() => {
    const element = root.current;
    if (!element) return;
    const pointers = new Pointers(element, stage, drawing, onHover, onEdges);
    const stop = new AbortController();
    const { signal } = stop;
    element.addEventListener("wheel", (event) => pointers.wheel(event), { passive: false, signal });
    element.addEventListener("pointerdown", (event) => pointers.down(event), { signal });
    element.addEventListener("pointermove", (event) => pointers.move(event), { signal });
    element.addEventListener("pointerup", (event) => pointers.up(event), { signal });
    element.addEventListener("pointercancel", (event) => pointers.up(event), { signal });
    element.addEventListener("pointerleave", () => onHover(null), { signal });
    return () => stop.abort();
  }, [drawing, onEdges]);
}

class Pointers {
  /** Where each pressed pointer is. */
  private readonly pressed = new Map<number, { x: number; y: number }>();
  private dragged = 0;

  constructor(
    private readonly element: HTMLElement,
    private readonly stage: Ref<Stage>,
    private readonly drawing: Drawing | null,
    private readonly onHover: (hovered: HoveredPlace | null) => void,
    private readonly onEdges: (edges: readonly number[]) => void,
  ) {}

  wheel(event: WheelEvent): void {
    event.preventDefault();
    this.onHover(null);
    const { left, top } = this.element.getBoundingClientRect();
    if (event.shiftKey) this.stage.current?.pan(-event.deltaY - event.deltaX, 0);
    else this.stage.current?.zoom(WHEEL ** (-event.deltaY / 100), event.clientX - left, event.clientY - top);
  }

  down(event: PointerEvent): void {
    if (event.button !== 0 || this.isControl(event.target)) return;
    this.pressed.set(event.pointerId, { x: event.clientX, y: event.clientY });
    this.dragged = 0;
  }

  move(event: PointerEvent): void {
    const last = this.pressed.get(event.pointerId);
    if (!last) {
      if (this.pressed.size === 0) this.onHover(this.isControl(event.target) ? null : this.lineAt(event));
      return;
    }
    const [dx, dy] = [event.clientX - last.x, event.clientY - last.y];
    this.dragged += Math.hypot(dx, dy);
    if (this.dragged < DRAG) return;
    // Only a drag captures the pointer: a press that stays is a click of what is below it.
    this.element.setPointerCapture(event.pointerId);
    if (this.pressed.size === 2) this.pinch(event.pointerId, event);
    else this.stage.current?.pan(dx, dy);
    this.pressed.set(event.pointerId, { x: event.clientX, y: event.clientY });
  }

  up(event: PointerEvent): void {
    if (!this.pressed.delete(event.pointerId) || this.dragged >= DRAG || event.type === "pointercancel") return;
    const line = this.lineAt(event);
    if (line && this.drawing) this.onEdges([...listOf(this.drawing.scene.strands.edges, line.strand)]);
  }

  private pinch(moved: number, event: PointerEvent): void {
    const other = [...this.pressed].find(([id]) => id !== moved)?.[1];
    const last = this.pressed.get(moved);
    if (!other || !last) return;
    const before = Math.hypot(last.x - other.x, last.y - other.y);
    const after = Math.hypot(event.clientX - other.x, event.clientY - other.y);
    const { left, top } = this.element.getBoundingClientRect();
    this.stage.current?.zoom(after / Math.max(1, before), other.x - left, other.y - top);
  }

  private lineAt(event: PointerEvent): HoveredPlace | null {
    const stage = this.stage.current;
    if (!stage || !this.drawing || !showsColumns(stage.camera.zoom)) return null;
    const { x, y } = stage.pointAt(event.clientX, event.clientY);
    const strand = this.drawing.strands.nearest(x, y, REACH / stage.camera.zoom);
    return strand < 0 ? null : { strand, x, y };
  }

  private isControl(target: EventTarget | null): boolean {
    return target instanceof Element && target.closest("button, input, select, .hw-minimap, .hw-card") !== null;
  }
}
