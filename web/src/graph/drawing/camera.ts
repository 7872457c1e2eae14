/** The camera: which part of the drawing is seen, and how large. */

import type { Rect } from "./curves";

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The point of the drawing in the left upper corner, and pixels of the screen for one of the drawing. */
export interface Camera {
  readonly x: number;
  readonly y: number;
  readonly zoom: number;
}

export const SMALLEST_ZOOM = 0.005;
export const LARGEST_ZOOM = 2;
/** From this zoom on columns can be read: cards have rows, and each strand is a line. */
export const COLUMN_ZOOM = 0.5;

/** Return how much is left free around what is seen, in pixels of the screen: less on a narrow one. */
const marginOf = ({ width }: Size) => Math.min(40, Math.round(width / 24));

/** Return the part of the drawing that is seen. */
export function seen({ x, y, zoom }: Camera, { width, height }: Size): Rect {
  return { left: x, top: y, right: x + width / zoom, bottom: y + height / zoom };
}

/** Return the camera moved by pixels of the screen. */
export function panned({ x, y, zoom }: Camera, dx: number, dy: number): Camera {
  return { x: x - dx / zoom, y: y - dy / zoom, zoom };
}

/** Return the camera zoomed by a factor; the point of the drawing under a point of the screen stays there. */
export function zoomed({ x, y, zoom }: Camera, factor: number, screenX: number, screenY: number): Camera {
  const next = Math.min(LARGEST_ZOOM, Math.max(SMALLEST_ZOOM, zoom * factor));
  return { x: x + screenX / zoom - screenX / next, y: y + screenY / zoom - screenY / next, zoom: next };
}

/** Return the camera that sees a whole rectangle, at zoom 1 at most, with a margin in pixels of the screen. */
export function fitted(rect: Rect, size: Size, margin = marginOf(size)): Camera {
  const { width, height } = size;
  const [wide, tall] = [rect.right - rect.left, rect.bottom - rect.top];
  const fits = Math.min((width - 2 * margin) / Math.max(1, wide), (height - 2 * margin) / Math.max(1, tall));
  const zoom = Math.min(1, fits);
  return {
    x: (rect.left + rect.right) / 2 - width / zoom / 2,
    y: (rect.top + rect.bottom) / 2 - height / zoom / 2,
    zoom,
  };
}

/**
 * Return the camera with a rectangle in the middle, or nearer to a side where else room would be empty beyond the bounds.
 *
 * Of a rectangle that is larger than the screen its left and upper side are seen.
 */
export function centred(rect: Rect, bounds: Rect, size: Size, zoom: number): Camera {
  const margin = marginOf(size) / zoom;
  const along = (low: number, high: number, first: number, last: number, length: number) => {
    if (high - low > length - 2 * margin) return low - margin;
    if (last - first < length - 2 * margin) return (first + last - length) / 2;
    return Math.max(first - margin, Math.min((low + high - length) / 2, last + margin - length));
  };
  return {
    x: along(rect.left, rect.right, bounds.left, bounds.right, size.width / zoom),
    y: along(rect.top, rect.bottom, bounds.top, bounds.bottom, size.height / zoom),
    zoom,
  };
}

/** Return the camera moved as little as shows a rectangle; unmoved where that is seen already. */
export function revealed(camera: Camera, rect: Rect, size: Size): Camera {
  const margin = marginOf(size) / camera.zoom;
  const { left, top, right, bottom } = seen(camera, size);
  const along = (low: number, high: number, from: number, to: number) =>
    from < low + margin
      ? from - low - margin
      : to > high - margin
        ? Math.min(to - high + margin, from - low - margin)
        : 0;
  return {
    x: camera.x + along(left, right, rect.left, rect.right),
    y: camera.y + along(top, bottom, rect.top, rect.bottom),
    zoom: camera.zoom,
  };
}
