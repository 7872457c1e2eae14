/** Loading the view of an address: the hops that were added to it, and another moment to compare with. */

import { compared, grown, partOf } from "../model/merge";
import { readView } from "../model/reading";
import type { Hop } from "../model/state";
import type { View } from "../model/view";
import { type Address, hopsOf, nameParams, nestedParams } from "./address";
import { ApiError, getJson, pathOf } from "./api";

/** Return the request for the view of an address, without hops and at its one moment. */
export function viewPath(address: Address): string {
  return pathOf("api/v2/view", {
    ...nameParams(address),
    ...edgeParams(address),
    ...nestedParams(address),
    up: address.graph.depth.up,
    down: address.graph.depth.down,
  });
}

function edgeParams({ influence, asOf }: Address) {
  return { type: influence === "value" ? "DIRECT" : null, as_of: asOf };
}

/** Return the request for one hop of a column or dataset of a view; null where the view lacks it. */
function hopPath(address: Address, { datasets, columns }: View, hop: Hop): string | null {
  const column = hop.of === "column" ? columns.id.indexOf(hop.id) : -1;
  const dataset = hop.of === "column" ? columns.dataset[column] : datasets.id.indexOf(hop.id);
  if (dataset === undefined || dataset < 0) return null;
  return pathOf("api/v2/view", {
    namespace: datasets.namespace[dataset],
    dataset: datasets.name[dataset],
    field: columns.field[column],
    ...edgeParams(address),
    ...nestedParams({ nested: address.nested || (columns.within?.some((one) => one !== null) ?? false) }),
    up: hop.direction === "up" ? 1 : 0,
    down: hop.direction === "down" ? 1 : 0,
  });
}

/** Views by request, so that a hop more asks for no more than that hop. */
export type ViewCache = Map<string, View>;
const MOST_VIEWS = 100;

/**
 * Return the view of an address.
 *
 * @throws ApiError the server is away, or refuses.
 * @throws ViewError the server's answer is no view.
 */
export async function loadView(address: Address, cache: ViewCache, signal: AbortSignal): Promise<View> {
  const load = async (path: string) => {
    const view = cache.get(path) ?? readView(await getJson<unknown>(path, signal));
    if (cache.size >= MOST_VIEWS) cache.clear();
    cache.set(path, view);
    return view;
  };
  const view = await loadMoment(address, load);
  if (!address.compare) return view;
  const other = await loadMoment({ ...address, asOf: address.compare }, load).catch((fault: unknown) => {
    if (!(fault instanceof ApiError) || fault.status !== 404) throw fault;
    return { ...partOf(view, [view.focus.dataset], [], []), asOf: address.compare }; // it was not there yet
  });
  const isLater = view.asOf !== null && other.asOf !== null && other.asOf > view.asOf;
  return isLater ? compared(view, other) : compared(other, view);
}

async function loadMoment(address: Address, load: (path: string) => Promise<View>): Promise<View> {
  let view = await load(viewPath(address));
  for (const hop of hopsOf(address)) {
    const path = hopPath(address, view, hop);
    if (path) view = grown(view, await load(path), hop.direction);
  }
  return view;
}
