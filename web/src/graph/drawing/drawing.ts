/** The drawing: a scene whose boxes have places and whose strands are curves. */

import type { Path } from "../../model/path";
import type { Layout } from "../layout/request";
import { CARD_WIDTH } from "../scene/cards";
import type { Scene } from "../scene/scene";
import { JOB_HEIGHT, type Strand } from "../scene/strands";
import { curveOf, type Rect } from "./curves";
import { Lines, lineArrays } from "./lines";

export interface Drawing {
  readonly scene: Scene;
  /** Where each box is. */
  readonly boxes: readonly Rect[];
  /** One line for each strand of the scene, in its order. */
  readonly strands: Lines;
  /** One line for each pair of boxes, through the middle of its strands. */
  readonly bundles: Lines;
  /** The bundle of each strand. */
  readonly bundleOf: Int32Array;
  /** The bands of groups with their names. */
  readonly bands: readonly { readonly name: string; readonly rect: Rect }[];
  /** All boxes and bands. */
  readonly bounds: Rect;
}

/** Return the drawing of a scene with its layout. */
export function drawingOf(scene: Scene, layout: Layout, pitch: number): Drawing {
  const heights = [...scene.cards.map((card) => card.height), ...scene.jobs.map(() => JOB_HEIGHT)];
  const boxes = heights.map((height, box): Rect => {
    const [left, top] = [layout.x[box], layout.y[box]];
    return { left, top, right: left + CARD_WIDTH, bottom: top + height };
  });
  const curves = scene.strands.map((strand, place) => curveOf(strand, place, layout, boxes, pitch));
  const styles = Uint8Array.from(scene.strands, (strand) => strand.style);
  const { members, bundleOf } = pairsOf(scene.strands);
  const middles = members.map((list) => curveOf(middleStrand(list, scene.strands), list[0], layout, boxes, pitch));
  const heaviest = Uint8Array.from(members, (list) => heaviestStyle(list, scene.strands));
  const bands = bandsOf(scene, boxes);
  return {
    scene,
    boxes,
    strands: new Lines(lineArrays(curves, styles)),
    bundles: new Lines(lineArrays(middles, heaviest)),
    bundleOf,
    bands,
    bounds: around([...boxes, ...bands.map((band) => band.rect)]),
  };
}

function pairsOf(strands: readonly Strand[]): { members: number[][]; bundleOf: Int32Array } {
  const places = new Map<string, number>();
  const members: number[][] = [];
  const bundleOf = Int32Array.from(strands, ({ from, to }, strand) => {
    const key = `${from} ${to}`;
    const place = places.get(key) ?? members.push([]) - 1;
    places.set(key, place);
    members[place].push(strand);
    return place;
  });
  return { members, bundleOf };
}

function middleStrand(list: readonly number[], strands: readonly Strand[]): Strand {
  const mean = (of: (strand: Strand) => number) => list.reduce((sum, one) => sum + of(strands[one]), 0) / list.length;
  return { ...strands[list[0]], fromY: mean((one) => one.fromY), toY: mean((one) => one.toY) };
}

/** Return the style of most edges. */
function heaviestStyle(list: readonly number[], strands: readonly Strand[]): number {
  const weights = new Map<number, number>();
  for (const strand of list) {
    const { style, edges } = strands[strand];
    weights.set(style, (weights.get(style) ?? 0) + edges.length);
  }
  return [...weights].reduce((best, one) => (one[1] > best[1] ? one : best))[0];
}

function bandsOf({ groups }: Scene, boxes: readonly Rect[]): Drawing["bands"] {
  if (!groups) return [];
  return groups.names.map((name, group) => {
    const { left, top, right, bottom } = around(boxes.filter((_, box) => groups.of[box] === group));
    return { name, rect: { left: left - 20, top: top - 34, right: right + 20, bottom: bottom + 14 } };
  });
}

/** Return the rectangle around rectangles; an empty one around none. */
export function around(rects: readonly Rect[]): Rect {
  if (rects.length === 0) return { left: 0, top: 0, right: 0, bottom: 0 };
  return rects.reduce((whole, rect) => ({
    left: Math.min(whole.left, rect.left),
    top: Math.min(whole.top, rect.top),
    right: Math.max(whole.right, rect.right),
    bottom: Math.max(whole.bottom, rect.bottom),
  }));
}

/** Which lines and boxes are lit while the others are dimmed. */
export interface Lit {
  readonly strands: Uint8Array;
  readonly bundles: Uint8Array;
  readonly boxes: Uint8Array;
}

/** Return what a path lights. */
export function litBy(path: Path, { scene, bundleOf, bundles, boxes }: Drawing): Lit {
  const strands = Uint8Array.from(scene.strands, ({ edges }) => (edges.some((edge) => path.edges[edge]) ? 1 : 0));
  const lit = { strands, bundles: new Uint8Array(bundles.count), boxes: new Uint8Array(boxes.length) };
  strands.forEach((one, strand) => {
    if (!one) return;
    lit.bundles[bundleOf[strand]] = 1;
    lit.boxes[scene.strands[strand].from] = lit.boxes[scene.strands[strand].to] = 1;
  });
  for (const column of path.start) {
    const box = scene.boxOf[scene.graph.view.columns.dataset[column]];
    if (box >= 0) lit.boxes[box] = 1;
  }
  return lit;
}
