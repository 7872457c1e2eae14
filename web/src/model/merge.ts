/** Views put together, and parts of views: by the ids of the store, which are the same in each. */

import type { View } from "./view";

/** Return a view of some of its datasets, columns and edges, given by their places; edges must have both ends in it. */
export function partOf(
  view: View,
  datasets: readonly number[],
  columns: readonly number[],
  edges: readonly number[],
): View {
  const newDataset = new Map(datasets.map((dataset, place) => [dataset, place]));
  const newColumn = new Map(columns.map((column, place) => [column, place]));
  const picked = picker(columns, view.columns);
  const pickedEdges = picker(edges, view.edges);
  const moved = (output: number) =>
    output < 0 ? -1 - (newDataset.get(-1 - output) as number) : (newColumn.get(output) as number);
  return {
    ...view,
    focus: { dataset: newDataset.get(view.focus.dataset) ?? 0, column: newColumn.get(view.focus.column) ?? -1 },
    datasets: picker(datasets, view.datasets),
    columns: { ...picked, dataset: picked.dataset.map((dataset) => newDataset.get(dataset) as number) },
    edges: {
      ...pickedEdges,
      input: pickedEdges.input.map((input) => newColumn.get(input) as number),
      output: pickedEdges.output.map(moved),
    },
  };
}

function picker<T extends object>(places: readonly number[], table: T): T {
  const arrays = Object.entries(table) as [string, readonly unknown[]][];
  return Object.fromEntries(arrays.map(([name, array]) => [name, places.map((place) => array[place])])) as T;
}

/**
 * Return a view with one hop more of some of its columns.
 *
 * @param hop the view of the hop: of a column, or of a whole dataset, of whose other columns nothing is taken.
 */
export function grown(view: View, hop: View, direction: "up" | "down"): View {
  const known = { columns: new Set(view.columns.id), datasets: new Set(view.datasets.id) };
  const { input, output } = hop.edges;
  const leads = (edge: number) => {
    if (direction === "down") return known.columns.has(hop.columns.id[input[edge]]);
    const end = output[edge];
    return end < 0 ? known.datasets.has(hop.datasets.id[-1 - end]) : known.columns.has(hop.columns.id[end]);
  };
  const edges = input.map((_, edge) => edge).filter(leads);
  const ends = edges.flatMap((edge) => (output[edge] < 0 ? [input[edge]] : [input[edge], output[edge]]));
  // Those that are there already, too: they may now be whole.
  const columns = new Set([
    ...ends,
    ...hop.columns.id.flatMap((id, column) => (known.columns.has(id) ? [column] : [])),
  ]);
  const wholes = edges.filter((edge) => output[edge] < 0).map((edge) => -1 - output[edge]);
  const datasets = new Set([...[...columns].map((column) => hop.columns.dataset[column]), ...wholes]);
  return union(view, partOf(hop, [...datasets], [...columns], edges)).view;
}

/** The edges of a comparison: in both views, in the later alone, in the earlier alone. */
export const CHANGES = ["same", "came", "went"] as const;

/** Return all that two views have, with `edges.change` by which of them have each edge. */
export function compared(before: View, after: View): View {
  const { view, edges } = union(after, before);
  const change = view.edges.input.map((_, edge): 0 | 1 | 2 => (edge < after.edges.input.length ? 1 : 2));
  for (const edge of edges) if (change[edge] === 1) change[edge] = 0;
  return { ...view, edges: { ...view.edges, change } };
}

/** Return all that two views have, the first as it is with what the second adds behind it, and where its edges are there. */
function union(first: View, second: View): { view: View; edges: readonly number[] } {
  const texts = [...new Set([...first.descriptions, ...second.descriptions])];
  const datasets = joined(first.datasets, second.datasets, ["id"]);
  const jobs = joined(first.jobs, second.jobs, ["id"]);
  const dataset = second.columns.dataset.map((place) => datasets.places[place]);
  const columns = joined(first.columns, { ...second.columns, dataset }, ["id"]);
  const own = second.transformations.description.map((place) => texts.indexOf(second.descriptions[place]));
  const ownFirst = first.transformations.description.map((place) => texts.indexOf(first.descriptions[place]));
  const transformations = joined(
    { ...first.transformations, description: ownFirst },
    { ...second.transformations, description: own },
    ["type", "subtype", "masking", "opaque", "guess", "description"],
  );
  const overwriters = { ...second.stale, job: second.stale.job.map((place) => jobs.places[place]) };
  const stale = joined(first.stale, overwriters, ["since", "run", "job"]);
  const moved = {
    ...second.edges,
    input: second.edges.input.map((place) => columns.places[place]),
    output: second.edges.output.map((end) => (end < 0 ? -1 - datasets.places[-1 - end] : columns.places[end])),
    transformation: second.edges.transformation.map((place) => transformations.places[place]),
    job: second.edges.job.map((place) => jobs.places[place]),
    stale: second.edges.stale.map((place) => (place < 0 ? -1 : stale.places[place])),
  };
  const edges = joined(first.edges, moved, ["input", "output", "transformation", "job"]);
  const { moreUp, moreDown } = columns.table;
  const more = { moreUp: [...moreUp], moreDown: [...moreDown] };
  columns.places.forEach((place, column) => {
    // What either view has no more of, both have together.
    more.moreUp[place] &= second.columns.moreUp[column];
    more.moreDown[place] &= second.columns.moreDown[column];
  });
  return {
    view: {
      ...first,
      datasets: datasets.table,
      columns: { ...columns.table, ...(more as Pick<View["columns"], "moreUp" | "moreDown">) },
      transformations: transformations.table,
      descriptions: texts,
      jobs: jobs.table,
      stale: stale.table,
      edges: edges.table,
      truncated: [...new Set([...first.truncated, ...second.truncated])],
    },
    edges: edges.places,
  };
}

/** Return the rows of two tables, equal ones once, and where those of the second are; rows of equal keys are equal. */
function joined<T extends object>(first: T, second: T, keys: readonly (keyof T)[]): { table: T; places: number[] } {
  const [name] = keys;
  const keyOf = (table: T, row: number) => keys.map((key) => (table[key] as readonly unknown[])[row]).join(" ");
  const count = (first[name] as readonly unknown[]).length;
  const rows = new Map(Array.from({ length: count }, (_, row) => [keyOf(first, row), row]));
  const added: number[] = [];
  const places = (second[name] as readonly unknown[]).map((_, row) => {
    const key = keyOf(second, row);
    const place = rows.get(key) ?? count + added.push(row) - 1;
    rows.set(key, place);
    return place;
  });
  const arrays = Object.entries(first) as [keyof T, readonly unknown[]][];
  const table = Object.fromEntries(
    arrays.map(([array, values]) => [
      array,
      [...values, ...added.map((row) => (second[array] as readonly unknown[])[row])],
    ]),
  );
  return { table: table as T, places };
}
