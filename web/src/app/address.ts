/** The address of the page: the whole state of what is shown, so that it can be shared, and gone back and forward in. */

import { FIRST_STATE, type GraphState, type Hop, ROW_SUBTYPES, VALUE_SUBTYPES } from "../model/state";
import type { Subtype } from "../model/view";

export const PAGES = ["home", "lineage", "impact", "paths", "why", "tags", "dataset", "job"] as const;
export type PageName = (typeof PAGES)[number];

/** The edges that a view follows: those that carry the value, or those that decide about rows too. */
export type Influence = "value" | "all";

export interface Address {
  readonly page: PageName;
  /** The namespace of the dataset or job; on the home page that which is browsed. */
  readonly namespace: string;
  readonly dataset: string;
  readonly field: string;
  /** Any ending of a column's name, instead of the three above. */
  readonly column: string;
  readonly job: string;
  /** The column at the other end of paths. */
  readonly to: string;
  /** The moment of the lineage, ISO 8601, or the id of the run from which on it was current; empty for now. */
  readonly asOf: string;
  /** The moment or run that it is compared with; empty without a comparison. */
  readonly compare: string;
  /** The hops that were added to the view, in their order: `12u.d3d` is one before column 12 and one after dataset 3. */
  readonly hops: string;
  readonly influence: Influence;
  /** Whether fields within columns are followed one by one. */
  readonly nested: boolean;
  /** The edge whose details are shown: ids of its ends, joined by a dot. */
  readonly edge: string;
  readonly graph: GraphState;
}

export const HOME: Address = {
  page: "home",
  namespace: "",
  dataset: "",
  field: "",
  column: "",
  job: "",
  to: "",
  asOf: "",
  compare: "",
  hops: "",
  influence: "value",
  nested: false,
  edge: "",
  graph: FIRST_STATE,
};

const TEXTS = ["namespace", "dataset", "field", "column", "job", "to", "asOf", "compare", "hops", "edge"] as const;
const SUBTYPES: ReadonlySet<string> = new Set([...VALUE_SUBTYPES, ...ROW_SUBTYPES]);

/** Return the address that the query of a URL holds; what it does not hold, or what has no meaning, is as at first. */
export function readAddress(query: string): Address {
  const params = new URLSearchParams(query);
  const texts = Object.fromEntries(TEXTS.map((name) => [name, params.get(name) ?? ""]));
  const named = params.has("dataset") || params.has("column");
  const page = PAGES.find((one) => one === params.get("page")) ?? (named ? "lineage" : "home");
  return {
    ...HOME,
    ...texts,
    page,
    influence: params.get("influence") === "all" ? "all" : "value",
    nested: params.get("nested") === "on",
    graph: readGraph(params),
  };
}

function readGraph(params: URLSearchParams): GraphState {
  const group = params.get("group");
  return {
    column: readNumber(params.get("selected")),
    rest: params.get("rest") === "dim" ? "dim" : "away",
    hidden: (params.get("hidden") ?? "").split(",").filter((one): one is Subtype => SUBTYPES.has(one)),
    depth: { up: readNumber(params.get("up")), down: readNumber(params.get("down")) },
    jobs: params.get("jobs") === "on",
    group: group === "namespace" || group === "job" ? group : "none",
    unfolded: (params.get("unfolded") ?? "").split(",").flatMap((one) => readNumber(one) ?? []),
    form: params.get("form") === "table" ? "table" : "graph",
  };
}

function readNumber(text: string | null): number | null {
  return text !== null && /^\d{1,16}$/.test(text) ? Number(text) : null;
}

/** Return the query of a URL for an address, `""` for the home page; what is as at first is left out. */
export function writeAddress(address: Address): string {
  const params = new URLSearchParams();
  const put = (name: string, value: string, first = "") => {
    if (value !== first) params.set(name, value);
  };
  const named = address.dataset !== "" || address.column !== "";
  put("page", address.page, named ? "lineage" : "home");
  for (const name of TEXTS) put(name, address[name]);
  put("influence", address.influence, "value");
  put("nested", address.nested ? "on" : "");
  const { graph } = address;
  put("selected", textOf(graph.column));
  put("rest", graph.rest, "away");
  put("hidden", graph.hidden.join(","));
  put("up", textOf(graph.depth.up));
  put("down", textOf(graph.depth.down));
  put("jobs", graph.jobs ? "on" : "");
  put("group", graph.group, "none");
  put("unfolded", graph.unfolded.join(","));
  put("form", graph.form, "graph");
  const query = params.toString();
  return query ? `?${query}` : "";
}

function textOf(value: number | null): string {
  return value === null ? "" : String(value);
}

/** Return the hops of an address; what is none is left out. */
export function hopsOf({ hops }: Address): Hop[] {
  return [...hops.matchAll(/(?<=^|\.)(d?)(\d{1,16})([ud])(?=\.|$)/g)].map(([, dataset, id, direction]) => ({
    of: dataset ? "dataset" : "column",
    id: Number(id),
    direction: direction === "u" ? "up" : "down",
  }));
}

/** Return the hops of an address with one more. */
export function hopsWith({ hops }: Address, { of, id, direction }: Hop): string {
  return [hops, `${of === "dataset" ? "d" : ""}${id}${direction[0]}`].filter(Boolean).join(".");
}

/** A column or a dataset by its whole name. */
export interface Name {
  readonly namespace: string;
  readonly name: string;
  readonly field?: string;
}

/** Return the address of a page about a column or dataset, at the moment that is looked at now. */
export function addressOf(name: Name, page: PageName = "lineage", asOf = ""): Address {
  return { ...HOME, page, namespace: name.namespace, dataset: name.name, field: name.field ?? "", asOf };
}

/** Return the name that an address is about, as the parameters of a question. */
export function nameParams({ column, namespace, dataset, field }: Address): Record<string, string> {
  if (column) return { column };
  return field ? { namespace, dataset, field } : { namespace, dataset };
}

/** Return the parameter of a question that follows fields within columns one by one; a question about one does so anyway. */
export function nestedParams({ nested }: Pick<Address, "nested">): { nested: "true" | null } {
  return { nested: nested ? "true" : null };
}

/** Return a name as people read it: the last part of the dataset's name, and the field. */
export function shortName({ name, field }: Name): string {
  const last = name.split("/").filter(Boolean).pop() ?? name;
  return field ? `${last}.${field}` : last;
}
