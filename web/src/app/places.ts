/** The columns and datasets that a person looked at, and those that they pinned; in this browser only. */

import type { Name } from "./address";

const MOST = 8;
type List = "recent" | "pinned";

/** Return a list, the latest first. */
export function listed(list: List): readonly Name[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(`headwater-${list}`) ?? "[]");
    return Array.isArray(stored) ? stored.filter(isName) : [];
  } catch {
    return [];
  }
}

/** Return whether a name is pinned. */
export function isPinned(name: Name): boolean {
  return listed("pinned").some((one) => same(one, name));
}

/** Put a name first in the list of those looked at. */
export function remember(name: Name): void {
  store("recent", [name, ...listed("recent").filter((one) => !same(one, name))].slice(0, MOST));
}

/** Pin a name, or take it off where it is pinned. */
export function togglePin(name: Name): void {
  const others = listed("pinned").filter((one) => !same(one, name));
  store("pinned", isPinned(name) ? others : [name, ...others]);
}

function store(list: List, names: readonly Name[]): void {
  try {
    localStorage.setItem(`headwater-${list}`, JSON.stringify(names));
  } catch {
    // A browser that stores nothing: the lists are a convenience.
  }
}

function same(one: Name, other: Name): boolean {
  return one.namespace === other.namespace && one.name === other.name && (one.field ?? "") === (other.field ?? "");
}

function isName(value: unknown): value is Name {
  const { namespace, name, field = "" } = (value ?? {}) as Record<string, unknown>;
  return typeof namespace === "string" && typeof name === "string" && typeof field === "string";
}
