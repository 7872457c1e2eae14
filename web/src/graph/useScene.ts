/** From a view and its state to a drawing: what is computed at once, and what the layout's worker returns later. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { foldedGraph } from "../model/folds";
import { graphOf, type LineageGraph, shownEdges } from "../model/graph";
import { type Depth, type Path, pathOf } from "../model/path";
import { type GraphState, startOf } from "../model/state";
import type { View } from "../model/view";
import { type Drawing, drawingOf } from "./drawing/drawing";
import { LayoutWorker } from "./layout/client";
import type { CardState } from "./scene/cards";
import { boxKeys, type Place, requestOf, type Scene, sceneOf } from "./scene/scene";

export interface Followed {
  readonly graph: LineageGraph;
  /** 1 for each edge whose subtype is shown. */
  readonly shown: Uint8Array;
  readonly depth: Depth;
  /** The path of the selected column; null where none is selected. */
  readonly path: Path | null;
}

/** Return the graph of a view and the path that its state shows. */
export function useFollowed(view: View, state: GraphState): Followed {
  const whole = useMemo(() => graphOf(view), [view]);
  const shown = useMemo(() => shownEdges(view, new Set(state.hidden)), [view, state.hidden]);
  const { up, down } = state.depth;
  const followed = useMemo(() => {
    const depth = { up: up ?? Number.POSITIVE_INFINITY, down: down ?? Number.POSITIVE_INFINITY };
    const start = startOf(whole, state);
    return { depth, start, path: start.length > 0 ? pathOf(whole, start, shown, depth) : null };
  }, [whole, shown, state.column, up, down]);
  const alone = state.rest === "away" ? followed.path : null;
  const graph = useMemo(() => {
    if (state.form === "table") return whole;
    return foldedGraph(whole, alone ? shown.map((one, edge) => one & alone.edges[edge]) : shown, state.unfolded);
  }, [whole, shown, alone, state.unfolded, state.form]);
  return useMemo(() => {
    const { depth, start, path } = followed;
    return { graph, shown, depth, path: path && graph !== whole ? pathOf(graph, start, shown, depth) : path };
  }, [graph, shown, followed]);
}

export interface Drawn {
  readonly drawing: Drawing | null;
  /** Lay out anew all that is shown, as if it had no places yet. */
  tidy(): void;
}

/** Return the drawing of what is shown; while the layout of the next is under way, the one before. */
export function useDrawing(followed: Followed, state: GraphState, cardStates: ReadonlyMap<number, CardState>): Drawn {
  const { graph, shown } = followed;
  const path = state.rest === "away" ? followed.path : null;
  const { jobs, group } = state;
  const [tidied, setTidied] = useState(0);
  const scene = useMemo(
    () => sceneOf(graph, { edges: shown, path, jobs, group, cardStates }),
    [graph, shown, path, jobs, group, cardStates],
  );
  // A path that is shown alone has places of its own, so that leaving it brings back the places before.
  const key = `${tidied} ${jobs} ${group} ${path && state.column}`;
  const places = useRef(new Map<string, Map<string, Place>>());
  const drawing = useLayout(scene, key, places.current);
  return { drawing, tidy: () => setTidied(tidied + 1) };
}

/** How many drawings are drawn as they were before, when one comes back to them; the oldest are forgotten. */
const MOST_PLACES = 24;

function useLayout(scene: Scene, key: string, places: Map<string, Map<string, Place>>): Drawing | null {
  const [drawing, setDrawing] = useState<Drawing | null>(null);
  const worker = useRef<LayoutWorker | null>(null);
  useEffect(() => () => worker.current?.close(), []);
  useEffect(() => {
    worker.current ??= new LayoutWorker();
    let current = true;
    const request = requestOf(scene, places.get(key) ?? new Map());
    worker.current.layOut(request).then((layout) => {
      if (!current) return;
      const keys = boxKeys(scene);
      places.delete(key);
      places.set(key, new Map(keys.map((box, place) => [box, { x: layout.x[place], y: layout.y[place] }])));
      for (const oldest of places.keys()) if (places.size > MOST_PLACES) places.delete(oldest);
      setDrawing(drawingOf(scene, layout, request.pitch));
    });
    return () => {
      current = false;
    };
  }, [scene, key, places]);
  return drawing;
}
