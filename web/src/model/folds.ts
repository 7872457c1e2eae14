/** Folds: many datasets at an end of the view that only read one dataset, or are only read by it, as one box. */

import { graphOf, type LineageGraph, outputDataset } from "./graph";
import type { View } from "./view";

/** The most datasets on one side of another that are shown each by itself, where they lead no further. */
export const MOST_APART = 20;

export interface Fold {
  /** The name of the fold in an address; it stays the same while views grow. */
  readonly id: number;
  /** Place of the dataset that stands for the others, behind those of the view. */
  readonly dataset: number;
  /** Places of the datasets that it stands for. */
  readonly members: readonly number[];
}

/** Return the id of the fold that a dataset of a folded graph stands for; below 0 for a dataset that is one. */
export function foldOf({ datasets }: View, dataset: number): number {
  return -1 - datasets.id[dataset];
}

/** A side of datasets: the other ends of the edges that leave it, or of those that enter it. */
type Neighbours = readonly ReadonlySet<number>[];

/**
 * Return a graph in which a dataset with a column for each schema stands for many at an end; the same where none are.
 *
 * Places of datasets, columns and edges stay; the datasets and columns that stand for others come behind.
 *
 * @param drawn 1 for each edge that is drawn.
 * @param unfolded ids of folds that are shown in full.
 */
export function foldedGraph(graph: LineageGraph, drawn: Uint8Array, unfolded: readonly number[]): LineageGraph {
  const { view } = graph;
  const { before, after } = neighboursOf(view, drawn);
  const ends = (near: Neighbours, far: Neighbours, side: number) =>
    crowds(view, near, far).flatMap(([dataset, members]) => {
      const id = 2 * view.datasets.id[dataset] + side;
      const title = `${members.length} ${side ? "sources" : "readers"} of ${partsOf(view.datasets.name[dataset]).at(-1)}`;
      return unfolded.includes(id) ? [] : [{ id, title, members }];
    });
  const folds = [...ends(before, after, 0), ...ends(after, before, 1)];
  if (folds.length === 0) return graph;
  const count = view.datasets.id.length;
  const standing = folds.map(({ id, members }, place): Fold => ({ id, dataset: count + place, members }));
  return { ...graphOf(standIn(view, folds)), whole: view, folds: standing };
}

function neighboursOf(view: View, drawn: Uint8Array): { before: Neighbours; after: Neighbours } {
  const sets = () => view.datasets.id.map(() => new Set<number>());
  const [before, after] = [sets(), sets()];
  view.edges.input.forEach((input, edge) => {
    const [from, to] = [view.columns.dataset[input], outputDataset(view, edge)];
    if (!drawn[edge] || from === to) return;
    before[to].add(from);
    after[from].add(to);
  });
  return { before, after };
}

/** Return datasets with many at one side of them that have nothing beyond, each of those with one neighbour alone. */
function crowds(view: View, near: Neighbours, far: Neighbours): [number, number[]][] {
  const byNeighbour = new Map<number, number[]>();
  near.forEach((neighbours, dataset) => {
    if (far[dataset].size > 0 || dataset === view.focus.dataset) return;
    const [most] = [...neighbours].sort((one, other) => far[other].size - far[one].size || one - other);
    if (most === undefined) return;
    const members = byNeighbour.get(most);
    if (members) members.push(dataset);
    else byNeighbour.set(most, [dataset]);
  });
  return [...byNeighbour].filter(([, members]) => members.length > MOST_APART);
}

interface Crowd {
  readonly id: number;
  readonly title: string;
  readonly members: readonly number[];
}

/** Return a view with a dataset for each crowd, and its edges there. */
function standIn(view: View, crowds: readonly Crowd[]): View {
  const { datasets, columns, edges } = view;
  const datasetOf = new Map<number, number>();
  const columnOf = new Map<number, number>();
  const rows: { dataset: number; field: string }[] = [];
  crowds.forEach(({ members }, place) => {
    const dataset = datasets.id.length + place;
    for (const [schema, named] of bySchema(view, members)) {
      const column = columns.id.length + rows.push({ dataset, field: `${schema} · ${named.length}` }) - 1;
      for (const member of named) {
        datasetOf.set(member, dataset);
        columnOf.set(member, column);
      }
    }
  });
  const moved = (column: number) => columnOf.get(columns.dataset[column]) ?? column;
  const widths = crowds.map((_, place) => rows.filter((row) => row.dataset === datasets.id.length + place).length);
  const none = rows.map(() => null);
  const noMore = rows.map(() => 0 as const);
  return {
    ...view,
    datasets: {
      // Below 0, where the store has none; `foldOf` reads them.
      id: [...datasets.id, ...crowds.map(({ id }) => -1 - id)],
      namespace: [...datasets.namespace, ...crowds.map(({ members }) => datasets.namespace[members[0]])],
      name: [...datasets.name, ...crowds.map(({ title }) => title)],
      width: [...datasets.width, ...widths],
    },
    columns: {
      id: [...columns.id, ...rows.map((_, row) => -1 - row)],
      dataset: [...columns.dataset, ...rows.map((row) => row.dataset)],
      field: [...columns.field, ...rows.map((row) => row.field)],
      dataType: [...columns.dataType, ...none],
      up: [...columns.up, ...none],
      down: [...columns.down, ...none],
      moreUp: [...columns.moreUp, ...noMore],
      moreDown: [...columns.moreDown, ...noMore],
    },
    edges: {
      ...edges,
      input: edges.input.map(moved),
      output: edges.output.map((end) => {
        if (end >= 0) return moved(end);
        const dataset = datasetOf.get(-1 - end);
        return dataset === undefined ? end : -1 - dataset;
      }),
    },
  };
}

/** Return datasets by the part of their names before the last. */
function bySchema(view: View, members: readonly number[]): Map<string, number[]> {
  const schemas = new Map<string, number[]>();
  for (const member of members) {
    const schema = partsOf(view.datasets.name[member]).at(-2) ?? view.datasets.namespace[member];
    schemas.set(schema, [...(schemas.get(schema) ?? []), member]);
  }
  return schemas;
}

/** Return the parts of a path, or of a name with dots. */
function partsOf(name: string): string[] {
  return name.split(name.includes("/") ? "/" : ".").filter(Boolean);
}
