/** Views for measurements and pictures, made from a seed. */

import type { Subtype, TransformationType, View } from "../src/model/view";

/** Return a repeatable source of whole numbers from 0 to one below an end. */
function randomOf(seed: number): (end: number) => number {
  let state = seed;
  return (end) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) % end;
  };
}

const KINDS: readonly (readonly [TransformationType, Subtype])[] = [
  ["DIRECT", "IDENTITY"],
  ["DIRECT", "TRANSFORMATION"],
  ["DIRECT", "AGGREGATION"],
  ["INDIRECT", "CONDITIONAL"],
  ["INDIRECT", "FILTER"],
  ["INDIRECT", "JOIN"],
];

/** Return a view of datasets with equally many columns, each made from columns of up to three of the 100 before it. */
export function randomView(datasets: number, columns: number, edges: number, seed = 7): View {
  const random = randomOf(seed);
  const count = datasets * columns;
  const input = new Array<number>(edges);
  const output = new Array<number>(edges);
  const sources = Array.from({ length: datasets }, (_, dataset) =>
    Array.from({ length: 3 }, () => Math.max(0, dataset - 1 - random(Math.min(100, Math.max(1, dataset))))),
  );
  const first = Math.max(1, Math.floor(datasets / 20));
  for (let edge = 0; edge < edges; edge++) {
    const target = first + (edge % (datasets - first));
    input[edge] = sources[target][random(3)] * columns + random(columns);
    output[edge] = target * columns + random(columns);
  }
  const each = <T>(length: number, of: (place: number) => T) => Array.from({ length }, (_, place) => of(place));
  return {
    focus: { dataset: Math.floor(datasets / 2), column: Math.floor(datasets / 2) * columns },
    asOf: null,
    depth: { up: null, down: null },
    datasets: {
      id: each(datasets, (place) => place),
      namespace: each(datasets, (place) => `s3://lake-${place % 5}`),
      name: each(datasets, (place) => `warehouse/layer_${place % 7}/table_${place}`),
      width: each(datasets, () => columns),
    },
    columns: {
      id: each(count, (place) => place),
      dataset: each(count, (place) => Math.floor(place / columns)),
      field: each(count, (place) => `column_${place % columns}`),
      dataType: each(count, (place) => ["string", "bigint", "decimal(10,2)", "timestamp"][place % 4]),
      up: each(count, () => null),
      down: each(count, () => null),
      moreUp: each(count, () => 0),
      moreDown: each(count, () => 0),
    },
    transformations: {
      type: KINDS.map(([type]) => type),
      subtype: KINDS.map(([, subtype]) => subtype),
      masking: KINDS.map(() => false),
      opaque: KINDS.map(() => false),
      guess: KINDS.map(() => false),
      description: KINDS.map(() => -1),
    },
    descriptions: [],
    jobs: { id: [1], namespace: ["spark"], name: ["nightly"] },
    stale: { since: [], run: [], job: [] },
    edges: {
      input,
      output,
      transformation: each(edges, () => random(KINDS.length)),
      job: each(edges, () => 0),
      stale: each(edges, () => -1),
    },
    truncated: [],
  };
}
