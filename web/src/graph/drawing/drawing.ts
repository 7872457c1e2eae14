/** The drawing: a scene whose boxes have places and whose strands are curves. */

import { listOf, listsOf } from "../../model/graph";
import type { Path } from "../../model/path";
import type { Layout } from "../layout/request";
import { CARD_WIDTH } from "../scene/cards";
import type { Scene } from "../scene/scene";
import { type Ends, JOB_HEIGHT, type Strands } from "../scene/strands";
import { STYLES } from "../scene/styles";
import type { Rect } from "./curves";
import { Lines, lineArrays, type Routes } from "./lines";

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
  const bands = bandsOf(scene, boxes);
  const { strands } = scene;
  const { ends, routes, bundleOf } = bundlesOf(strands, layout);
  return {
    scene,
    boxes,
    strands: new Lines(lineArrays(strands, layout, layout, boxes, pitch)),
    bundles: new Lines(lineArrays(ends, routes, layout, boxes, pitch)),
    bundleOf,
    bands,
    bounds: around([...boxes, ...bands.map((band) => band.rect)]),
  };
}

/** Return one line for each pair of boxes, with the style of most of its edges, and the line of each strand. */
function bundlesOf(strands: Strands, layout: Layout): { ends: Ends; routes: Routes; bundleOf: Int32Array } {
  const pairs = layout.bendStart.length - 1;
  const loops = new Map<number, number>(); // strands from a box to itself are of no pair
  const bundleOf = layout.pair.map((pair, strand) => {
    if (pair >= 0) return pair;
    const box = strands.from[strand];
    return loops.get(box) ?? (loops.set(box, pairs + loops.size).get(box) as number);
  });
  const count = pairs + loops.size;
  const members = listsOf(bundleOf, count);
  const first = new Int32Array(count).map((_, bundle) => members.items[members.start[bundle]]);
  const mean = (heights: Float32Array) =>
    new Float32Array(count).map((_, bundle) => {
      const list = listOf(members, bundle);
      return list.reduce((sum, strand) => sum + heights[strand], 0) / list.length;
    });
  return {
    ends: {
      from: first.map((strand) => strands.from[strand]),
      to: first.map((strand) => strands.to[strand]),
      fromY: mean(strands.fromY),
      toY: mean(strands.toY),
      style: new Uint8Array(count).map((_, bundle) => heaviestStyle(listOf(members, bundle), strands)),
    },
    routes: {
      pair: first.map((strand) => layout.pair[strand]),
      back: first.map((strand) => layout.back[strand]),
      bendOffset: new Float32Array(count),
    },
    bundleOf,
  };
}

function heaviestStyle(list: Int32Array, { style, edges }: Strands): number {
  const weights = new Uint32Array(STYLES);
  let heaviest = 0;
  for (const strand of list) {
    weights[style[strand]] += edges.start[strand + 1] - edges.start[strand];
    if (weights[style[strand]] > weights[heaviest]) heaviest = style[strand];
  }
  return heaviest;
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
  const { from, to, edges, count } = scene.strands;
  const lit = {
    strands: new Uint8Array(count),
    bundles: new Uint8Array(bundles.count),
    boxes: new Uint8Array(boxes.length),
  };
  for (let strand = 0; strand < count; strand++) {
    let place = edges.start[strand];
    while (place < edges.start[strand + 1] && !path.edges[edges.items[place]]) place++;
    if (place === edges.start[strand + 1]) continue;
    lit.strands[strand] = lit.bundles[bundleOf[strand]] = 1;
    lit.boxes[from[strand]] = lit.boxes[to[strand]] = 1;
  }
  for (const column of path.start) {
    const box = scene.boxOf[scene.graph.view.columns.dataset[column]];
    if (box >= 0) lit.boxes[box] = 1;
  }
  return lit;
}
