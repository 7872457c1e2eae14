/** The request and the answer of the layout, as plain arrays that pass to a worker. */

/** Boxes and the links between their ports. Lengths are in pixels of the drawing at zoom 1. */
export interface LayoutRequest {
  /** Height of each box. */
  readonly heights: Float32Array;
  /** Group of each box, from 0; boxes of one group lie in one horizontal band. Null without groups. */
  readonly groups: Int32Array | null;
  /** Where each box already is; NaN for a new one. Without groups those that are there stay. */
  readonly placedX: Float32Array;
  readonly placedY: Float32Array;
  /** The box that each link leaves, and the height of the port in it. */
  readonly from: Int32Array;
  readonly fromY: Float32Array;
  /** The box that each link enters, and the height of the port in it. */
  readonly to: Int32Array;
  readonly toY: Float32Array;
  /** The distance between the left sides of neighbouring layers. */
  readonly pitch: number;
}

export interface Layout {
  /** The left upper corner of each box. */
  readonly x: Float32Array;
  readonly y: Float32Array;
  /** 1 for each link that closes a cycle, and so runs from right to left. */
  readonly back: Uint8Array;
  /**
   * The bends of links that pass layers, shared by the links of one pair of boxes: the link i bends at the heights
   * `bendY[bendStart[p]]` to `bendY[bendStart[p + 1] - 1]` of the layers between, from its start to its end, with
   * p = `pair[i]`; -1 for a link from a box to itself.
   */
  readonly pair: Int32Array;
  readonly bendStart: Int32Array;
  readonly bendY: Float32Array;
  /** How far below its bends each link lies, so that those of one pair run side by side. */
  readonly bendOffset: Float32Array;
}

/** The vertical space between boxes. */
export const GAP = 28;
