/** How edges look: by dashes, colour and a mark, so that no difference is one of colour alone. */

import type { View } from "../../model/view";

/** The bits of a style. */
export const INDIRECT = 1;
export const MASKING = 2;
export const OPAQUE = 4;
export const GUESS = 8;
export const STALE = 16;
export const CAME = 32;
export const WENT = 64;
/** The number of different styles. */
export const STYLES = 128;

export interface Style {
  /** Which colour of the palette. */
  readonly color: "direct" | "indirect" | "masking" | "opaque" | "stale" | "came" | "went";
  /** Lengths of dashes and gaps in pixels; empty for a solid line. */
  readonly dash: readonly number[];
  readonly width: number;
  /** The mark in the middle of the line. */
  readonly mark: "none" | "diamond" | "square" | "ring" | "plus" | "minus";
}

/** Return the style of an edge of a view. */
export function styleOf(view: View, edge: number): number {
  const { type, masking, opaque, guess } = view.transformations;
  const transformation = view.edges.transformation[edge];
  return (
    (type[transformation] === "INDIRECT" ? INDIRECT : 0) |
    (masking[transformation] ? MASKING : 0) |
    (opaque[transformation] ? OPAQUE : 0) |
    (guess[transformation] ? GUESS : 0) |
    (view.edges.stale[edge] >= 0 ? STALE : 0) |
    [0, CAME, WENT][view.edges.change?.[edge] ?? 0]
  );
}

/** Return the look of a style: a change comes before staleness, that before masking, masking before opacity. */
export function lookOf(style: number): Style {
  const dash = style & GUESS ? [1.5, 4] : style & INDIRECT ? [6, 4] : [];
  const width = style & INDIRECT ? 1.25 : 1.75;
  if (style & CAME) return { color: "came", dash, width: 2.5, mark: "plus" };
  if (style & WENT) return { color: "went", dash: [2, 3], width: 2, mark: "minus" };
  if (style & STALE) return { color: "stale", dash, width, mark: "ring" };
  if (style & MASKING) return { color: "masking", dash, width, mark: "diamond" };
  if (style & OPAQUE) return { color: "opaque", dash, width, mark: "square" };
  return { color: style & INDIRECT ? "indirect" : "direct", dash, width, mark: "none" };
}

/** The looks of all styles, by style. */
export const LOOKS: readonly Style[] = Array.from({ length: STYLES }, (_, style) => lookOf(style));
