/** Views for tests, made from arrows: `a.x > b.y` is an edge from column x of dataset a to column y of dataset b. */

import type { Subtype, View } from "../../src/model/view";

const DIRECT = new Set(["IDENTITY", "TRANSFORMATION", "AGGREGATION"]);

/**
 * Return the view that arrows describe, about the first column named.
 *
 * `a.x > b.y FILTER` names the subtype, without one it is IDENTITY; `a.x > b` is an edge to all rows of b.
 */
export function viewOf(...arrows: string[]): View {
  const datasets: string[] = [];
  const columns: string[] = [];
  const subtypes: Subtype[] = [];
  const edges = arrows.map((arrow) => {
    const [input, output, subtype = "IDENTITY"] = arrow.split(/ > | /);
    const source = column(input, columns, datasets);
    const target = output.includes(".") ? column(output, columns, datasets) : -1 - place(output, datasets);
    return [source, target, place(subtype as Subtype, subtypes)];
  });
  return assemble(datasets, columns, subtypes, edges);
}

function place<T>(value: T, values: T[]): number {
  const found = values.indexOf(value);
  return found >= 0 ? found : values.push(value) - 1;
}

function column(name: string, columns: string[], datasets: string[]): number {
  place(name.split(".")[0], datasets);
  return place(name, columns);
}

function assemble(datasets: string[], columns: string[], subtypes: Subtype[], edges: number[][]): View {
  const datasetOf = columns.map((name) => datasets.indexOf(name.split(".")[0]));
  return {
    focus: { dataset: 0, column: columns.length ? 0 : -1 },
    asOf: null,
    depth: { up: null, down: null },
    datasets: {
      id: datasets.map((_, i) => 100 + i),
      namespace: datasets.map(() => "file"),
      name: datasets,
      width: datasets.map((_, i) => datasetOf.filter((one) => one === i).length),
    },
    columns: {
      id: columns.map((_, i) => 1000 + i),
      dataset: datasetOf,
      field: columns.map((name) => name.split(".").slice(1).join(".")),
      dataType: columns.map(() => "string"),
      up: columns.map(() => null),
      down: columns.map(() => null),
      moreUp: columns.map(() => 0),
      moreDown: columns.map(() => 0),
    },
    transformations: {
      type: subtypes.map((one) => (DIRECT.has(one) ? "DIRECT" : "INDIRECT")),
      subtype: subtypes,
      masking: subtypes.map(() => false),
      opaque: subtypes.map(() => false),
      guess: subtypes.map(() => false),
      description: subtypes.map(() => -1),
    },
    descriptions: [],
    jobs: { id: [1], namespace: ["spark"], name: ["job"] },
    stale: { since: [], run: [], job: [] },
    edges: {
      input: edges.map(([input]) => input),
      output: edges.map(([, output]) => output),
      transformation: edges.map(([, , transformation]) => transformation),
      job: edges.map(() => 0),
      stale: edges.map(() => -1),
    },
    truncated: [],
  };
}
