/** Drawings for tests: a view laid out as the page does it, without workers. */

import { type Drawing, drawingOf } from "../../src/graph/drawing/drawing";
import { layOut } from "../../src/graph/layout/layout";
import { type Place, requestOf, type Scene, type SceneOptions, sceneOf } from "../../src/graph/scene/scene";
import type { Strands } from "../../src/graph/scene/strands";
import { graphOf, type LineageGraph, listOf, shownEdges } from "../../src/model/graph";
import { ANY_DEPTH, pathOf } from "../../src/model/path";
import type { View } from "../../src/model/view";

export interface Options extends Partial<Omit<SceneOptions, "path" | "edges">> {
  /** The column whose path is shown. */
  readonly start?: number;
}

export function sceneFor(view: View, { start, ...options }: Options = {}): Scene {
  const graph = graphOf(view);
  const edges = shownEdges(view, new Set());
  const path = start === undefined ? null : pathOf(graph, [start], edges);
  return sceneOf(graph, { edges, path, jobs: false, group: "none", cardStates: new Map(), ...options });
}

/** Return the drawing of all edges of a graph. */
export function drawingOfGraph(graph: LineageGraph): Drawing {
  const edges = shownEdges(graph.view, new Set());
  return drawn(sceneOf(graph, { edges, path: null, jobs: false, group: "none", cardStates: new Map() }));
}

export function drawingFor(view: View, options: Options = {}): Drawing {
  return drawn(sceneFor(view, options));
}

function drawn(scene: Scene): Drawing {
  const request = requestOf(scene, new Map<string, Place>());
  return drawingOf(scene, layOut(request), request.pitch);
}

/** Return a view as the table and the keyboard follow it. */
export function followedFor(view: View, start?: number) {
  const graph = graphOf(view);
  const shown = shownEdges(view, new Set());
  const path = start === undefined ? null : pathOf(graph, [start], shown);
  return { graph, shown, depth: ANY_DEPTH, path };
}

/** Return the places of the edges of each strand. */
export function edgesOf({ count, edges }: Strands): number[][] {
  return Array.from({ length: count }, (_, strand) => [...listOf(edges, strand)]);
}
