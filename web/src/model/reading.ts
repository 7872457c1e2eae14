/** Reading a View document: a document that breaks its contract is refused here, and nothing behind has to doubt it. */

import type { View } from "./view";

/** A document that is no View: a server of another version, or a file that was changed. */
export class ViewError extends Error {
  override readonly name = "ViewError";
}

const TABLES = {
  datasets: ["id", "namespace", "name", "width"],
  columns: ["id", "dataset", "field", "dataType", "up", "down", "moreUp", "moreDown"],
  transformations: ["type", "subtype", "masking", "opaque", "guess", "description"],
  jobs: ["id", "namespace", "name"],
  stale: ["since", "run", "job"],
  edges: ["input", "output", "transformation", "job", "stale"],
} as const satisfies {
  [T in Exclude<keyof View, "focus" | "asOf" | "depth" | "descriptions" | "truncated">]: unknown;
};

type TableName = keyof typeof TABLES;

/** References from a table to places of another; `optional` ones are -1 where there is none. */
const REFERENCES: readonly {
  table: TableName;
  array: string;
  target: TableName | "descriptions";
  optional: boolean;
}[] = [
  { table: "columns", array: "dataset", target: "datasets", optional: false },
  { table: "transformations", array: "description", target: "descriptions", optional: true },
  { table: "stale", array: "job", target: "jobs", optional: false },
  { table: "edges", array: "input", target: "columns", optional: false },
  { table: "edges", array: "transformation", target: "transformations", optional: false },
  { table: "edges", array: "job", target: "jobs", optional: false },
  { table: "edges", array: "stale", target: "stale", optional: true },
];

type Arrays = Readonly<Record<string, readonly unknown[]>>;

/**
 * Return a document as a View.
 *
 * @throws ViewError a table is missing, its arrays differ in length, or a reference leads nowhere.
 */
export function readView(document: unknown): View {
  if (typeof document !== "object" || document === null) throw new ViewError("Expected an object, not a View.");
  const record = document as Record<string, unknown>;
  for (const [name, arrays] of Object.entries(TABLES)) requireTable(record[name], name, arrays);
  if (!Array.isArray(record.descriptions)) throw new ViewError("The View has no descriptions.");
  const view = document as View;
  for (const reference of REFERENCES) {
    requirePlaces(view, reference.table, reference.array, reference.optional ? -1 : 0, size(view, reference.target));
  }
  requirePlaces(view, "edges", "output", -size(view, "datasets"), size(view, "columns"));
  requireFocus(view);
  return view;
}

function requireTable(table: unknown, name: string, arrays: readonly string[]): void {
  const lengths = new Set(arrays.map((array) => (table as Arrays | undefined)?.[array]?.length));
  if (lengths.size !== 1 || lengths.has(undefined)) {
    throw new ViewError(`The table ${name} of the View must have equally long arrays ${arrays.join(", ")}.`);
  }
}

function requirePlaces(view: View, table: TableName, array: string, lowest: number, end: number): void {
  for (const place of (view[table] as unknown as Arrays)[array] as readonly number[]) {
    if (!Number.isInteger(place) || place < lowest || place >= end) {
      throw new ViewError(`In the View, ${table}.${array} has ${place}; expected ${lowest} to ${end - 1}.`);
    }
  }
}

function requireFocus(view: View): void {
  const { dataset, column } = view.focus ?? {};
  const inside = dataset >= 0 && dataset < size(view, "datasets") && column >= -1 && column < size(view, "columns");
  if (!inside) throw new ViewError("The View has no focus among its datasets and columns.");
}

function size(view: View, table: TableName | "descriptions"): number {
  return table === "descriptions" ? view.descriptions.length : Object.values(view[table])[0].length;
}
