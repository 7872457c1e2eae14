/** The scene: the boxes and strands that a view makes in a state, before they have places. */

import { type LineageGraph, outputDataset } from "../../model/graph";
import { onPath, type Path } from "../../model/path";
import type { Grouping } from "../../model/state";
import type { LayoutRequest } from "../layout/request";
import { CARD_WIDTH, type Card, type CardState, cardOf, FIRST_CARD } from "./cards";
import { type Boxes, JOB_HEIGHT, type Strands, strandsOf } from "./strands";

/** The space between layers: room for curves that climb. */
const LAYER_GAP = 152;

export interface Scene {
  readonly graph: LineageGraph;
  /** The first boxes, one for each dataset. */
  readonly cards: readonly Card[];
  /** The boxes after them: places of jobs in the view. */
  readonly jobs: readonly number[];
  readonly strands: Strands;
  /** The box of each dataset of the view, -1 for one that is not shown. */
  readonly boxOf: Int32Array;
  /** The group of each box and the names of groups; null without groups. */
  readonly groups: { readonly of: Int32Array; readonly names: readonly string[] } | null;
}

export interface SceneOptions {
  /** 1 for each edge to draw. */
  readonly edges: Uint8Array;
  /** The path that is shown alone, null for all. */
  readonly path: Path | null;
  readonly jobs: boolean;
  readonly group: Grouping;
  /** The states of cards, by the dataset's id. */
  readonly cardStates: ReadonlyMap<number, CardState>;
}

/** Return the scene of a view. */
export function sceneOf(graph: LineageGraph, options: SceneOptions): Scene {
  const { view } = graph;
  const { path } = options;
  const drawn = path ? options.edges.map((one, edge) => one & path.edges[edge]) : options.edges;
  const folded = new Set(graph.folds.flatMap(({ members }) => members));
  const included = new Uint8Array(view.columns.id.length).map((_, column) =>
    folded.has(view.columns.dataset[column]) || (path && !onPath(path, column)) ? 0 : 1,
  );
  const shown = datasetsOf(graph, included, drawn);
  const cards = shown.map((dataset) => {
    const state = options.cardStates.get(view.datasets.id[dataset]) ?? FIRST_CARD;
    return cardOf(graph, dataset, included, state);
  });
  const boxOf = new Int32Array(view.datasets.id.length).fill(-1);
  cards.forEach(({ dataset }, box) => {
    boxOf[dataset] = box;
  });
  const jobs = options.jobs ? [...new Set(view.edges.job.filter((_, edge) => drawn[edge]))] : [];
  const scene = { graph, cards, jobs, boxOf };
  return { ...scene, strands: strandsOf(scene, drawn), groups: groupsOf(scene, drawn, options.group) };
}

function datasetsOf({ view }: LineageGraph, included: Uint8Array, drawn: Uint8Array): number[] {
  const shown = new Uint8Array(view.datasets.id.length);
  included.forEach((one, column) => {
    if (one) shown[view.columns.dataset[column]] = 1;
  });
  drawn.forEach((one, edge) => {
    if (one) shown[outputDataset(view, edge)] = 1;
  });
  return view.datasets.id.map((_, dataset) => dataset).filter((dataset) => shown[dataset]);
}

function groupsOf({ graph, cards, jobs, boxOf }: Boxes, drawn: Uint8Array, grouping: Grouping): Scene["groups"] {
  if (grouping === "none") return null;
  const { view } = graph;
  const names: string[] = [];
  const rank = (name: string) => (names.includes(name) ? names.indexOf(name) : names.push(name) - 1);
  const maker = new Map<number, number>();
  drawn.forEach((one, edge) => {
    if (one) maker.set(outputDataset(view, edge), view.edges.job[edge]);
  });
  const ofCards = cards.map(({ dataset }) => {
    const job = maker.get(dataset);
    if (grouping === "namespace") return rank(view.datasets.namespace[dataset]);
    return rank(job === undefined ? "Sources" : view.jobs.name[job]);
  });
  const ofJobs = jobs.map((job) => {
    if (grouping === "job") return rank(view.jobs.name[job]);
    const made = [...maker].find(([, one]) => one === job)?.[0];
    return made === undefined ? 0 : ofCards[boxOf[made]];
  });
  return { of: Int32Array.from([...ofCards, ...ofJobs]), names };
}

/** A place of a box, by which it is found again in the next layout. */
export interface Place {
  readonly x: number;
  readonly y: number;
}

/** Return a name for each box that stays the same while views grow. */
export function boxKeys({ graph: { view }, cards, jobs }: Scene): string[] {
  return [
    ...cards.map(({ dataset }) => `dataset ${view.datasets.id[dataset]}`),
    ...jobs.map((job) => `job ${view.jobs.id[job]}`),
  ];
}

/** Return the request for the layout of a scene, with the places that boxes already have. */
export function requestOf(scene: Scene, places: ReadonlyMap<string, Place>): LayoutRequest {
  const { cards, jobs, strands, groups } = scene;
  const placed = boxKeys(scene).map((key) => places.get(key));
  return {
    heights: Float32Array.from([...cards.map((card) => card.height), ...jobs.map(() => JOB_HEIGHT)]),
    groups: groups?.of ?? null,
    placedX: Float32Array.from(placed, (place) => place?.x ?? Number.NaN),
    placedY: Float32Array.from(placed, (place) => place?.y ?? Number.NaN),
    from: strands.from,
    fromY: strands.fromY,
    to: strands.to,
    toY: strands.toY,
    pitch: CARD_WIDTH + LAYER_GAP,
  };
}
