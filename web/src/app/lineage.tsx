/** The page of a column or dataset: what leads to it and what comes of it, and the details of a step beside it. */

import { useEffect, useRef } from "preact/hooks";
import { Graph } from "../graph/Graph";
import type { GraphState, Hop } from "../model/state";
import type { View } from "../model/view";
import { type Address, addressOf, hopsWith, type Name } from "./address";
import type { PageProps } from "./app";
import { useChanges } from "./changes";
import { Comparison } from "./comparison";
import { EdgePanel } from "./edge";
import { type Go, useLoaded } from "./hooks";
import { remember } from "./places";
import { savedFile } from "./savedFile";
import { Shown } from "./states";
import { Subject } from "./subject";
import { loadView, type ViewCache, viewPath } from "./views";

export function LineagePage({ address, go }: PageProps) {
  const cache = useRef<ViewCache>(new Map()).current;
  const answer = useLoaded(`${viewPath(address)} ${address.hops} ${address.compare}`, (signal) =>
    loadView(address, cache, signal),
  );
  const reload = () => {
    cache.clear();
    answer.reload();
  };
  const live = useChanges(address.asOf === "", reload);
  return (
    <Shown answer={{ ...answer, reload }}>
      {(view) => <Lineage view={view} address={address} go={go} live={live} loading={answer.loading} />}
    </Shown>
  );
}

interface LineageProps extends PageProps {
  view: View;
  live: string;
  loading: boolean;
}

function Lineage({ view, address, go, live, loading }: LineageProps) {
  const name = focusOf(view);
  useExactName(address, name, go);
  const change = (changed: Partial<Address>, how: "push" | "replace" = "push") => go({ ...address, ...changed }, how);
  const expand = (hop: Hop) => change({ hops: hopsWith(address, hop) });
  return (
    <div class="lineage" aria-busy={loading}>
      <Subject name={name} address={address} go={go} type={focusType(view)}>
        <fieldset class="switch">
          <legend>Edges</legend>
          <label title="Only edges that carry the value">
            <input
              type="radio"
              name="influence"
              checked={address.influence === "value"}
              onChange={() => change({ influence: "value", edge: "" })}
            />
            Values
          </label>
          <label title="Filters, joins, grouping and sorting, too: what decides which rows there are">
            <input
              type="radio"
              name="influence"
              checked={address.influence === "all"}
              onChange={() => change({ influence: "all", edge: "" })}
            />
            Values and rows
          </label>
        </fieldset>
        {(address.nested || hasNested(view)) && (
          <label title="Follow fields within columns one by one, where it is known what they are made of">
            <input type="checkbox" checked={address.nested} onChange={() => change({ nested: !address.nested })} />{" "}
            Nested fields
          </label>
        )}
        <Depths graph={address.graph} change={(graph) => change({ graph })} />
        <output class="live" title={live}>
          {live}
        </output>
      </Subject>
      <Truncated view={view} />
      <div class="work">
        <Graph
          view={view}
          state={address.graph}
          onState={(graph) => change({ graph }, isStep(address.graph, graph) ? "push" : "replace")}
          onEdges={(edges) => change({ edge: edgeIds(view, edges) })}
          onDataset={(dataset) => go(addressOf(datasetName(view, dataset), "dataset", address.asOf))}
          onExpand={expand}
          saved={savedFile}
        />
        {address.edge ? (
          <EdgePanel
            view={view}
            edges={edgesOf(view, address.edge)}
            close={() => go({ ...address, edge: "" })}
            go={go}
          />
        ) : (
          address.compare && <Comparison view={view} address={address} go={go} />
        )}
      </div>
    </div>
  );
}

/** Return whether a change of the graph is one that people go back from. */
function isStep(before: GraphState, after: GraphState): boolean {
  return before.column !== after.column || before.unfolded !== after.unfolded;
}

/** Return whether a view of whole columns has one with fields within. */
function hasNested({ columns }: View): boolean {
  return columns.dataType.some((type) => type?.includes("<")) && !columns.within?.[0];
}

/** A name by an ending becomes the whole name, so that the address means the same later. */
function useExactName(address: Address, name: Name, go: Go) {
  useEffect(() => {
    remember(name);
    const exact = { namespace: name.namespace, dataset: name.name, field: name.field ?? "" };
    if (address.column) go({ ...address, ...exact, column: "" }, "replace");
  }, [address.column, name.namespace, name.name, name.field]);
}

function Depths({ graph, change }: { graph: GraphState; change: (graph: GraphState) => void }) {
  const choose = (side: "up" | "down") => (event: Event) => {
    const value = (event.currentTarget as HTMLSelectElement).value;
    change({ ...graph, depth: { ...graph.depth, [side]: value ? Number(value) : null } });
  };
  const select = (side: "up" | "down", label: string) => (
    <label>
      {label}
      <select value={graph.depth[side] ?? ""} onChange={choose(side)}>
        <option value="">all steps</option>
        {[...new Set([0, 1, 2, 3, 5, 10, graph.depth[side] ?? 0])]
          .sort((one, other) => one - other)
          .map((depth) => (
            <option key={depth} value={depth}>
              {depth === 0 ? "none" : depth === 1 ? "1 step" : `${depth} steps`}
            </option>
          ))}
      </select>
    </label>
  );
  return (
    <>
      {select("up", "Before")}
      {select("down", "After")}
    </>
  );
}

const LIMITS = {
  columns: "The server shows no more columns at once.",
  depth: "There are more steps than are shown.",
  nested: "Fields within columns were not followed to the end, but by columns there.",
  time: "The server ran out of time.",
} as const;

/** Say which limits cut a view; a depth that was asked for is none. */
export function Truncated({ view }: { view: View }) {
  const asked = view.depth.up !== null || view.depth.down !== null;
  const limits = view.truncated.filter((one) => one !== "depth" || !asked);
  if (!limits.length) return null;
  return (
    <p class="notice" role="status">
      Not all of it is shown. {limits.map((one) => LIMITS[one]).join(" ")}
    </p>
  );
}

/** Return the name of the column or dataset that a view is about. */
export function focusOf(view: View): Name {
  const { dataset, column } = view.focus;
  return column < 0 ? datasetName(view, dataset) : columnName(view, column);
}

/** Return the data type of the column that a view is about, `""` where none is known. */
export function focusType(view: View): string {
  return view.columns.dataType[view.focus.column] ?? "";
}

/** Return the name of a dataset of a view. */
export function datasetName({ datasets }: View, place: number): Name {
  return { namespace: datasets.namespace[place], name: datasets.name[place] };
}

/** Return the name of a column of a view. */
export function columnName(view: View, place: number): Name {
  return { ...datasetName(view, view.columns.dataset[place] ?? 0), field: view.columns.field[place] };
}

/** Return edges as the ids of their ends, which stay the same in other views. */
export function edgeIds(view: View, edges: readonly number[]): string {
  const ids = edges.map((edge) => {
    const output = view.edges.output[edge] ?? 0;
    const end = output < 0 ? -(view.datasets.id[-1 - output] ?? 0) : view.columns.id[output];
    return `${view.columns.id[view.edges.input[edge]]}.${end}`;
  });
  return [...new Set(ids)].slice(0, 50).join(",");
}

/** Return the places of the edges with these ids. */
export function edgesOf(view: View, ids: string): number[] {
  const wanted = new Set(ids.split(","));
  return view.edges.input.flatMap((_, edge) => (wanted.has(edgeIds(view, [edge])) ? [edge] : []));
}
