/** The rows of the table: the same state as the graph, as a tree that is opened along edges. */

import { type LineageGraph, listOf } from "../../model/graph";
import { onPath } from "../../model/path";
import { columnName, kindOf } from "../describe";
import { counted, datasetLabel, lastPart, shortened } from "../drawing/text";
import type { Followed } from "../useScene";

export interface TreeRow {
  /** The places that lead to the row, which are its identity: a column can be in several. */
  readonly key: string;
  readonly level: number;
  readonly label: string;
  /** How the row's column is joined to the row above it. */
  readonly how: string;
  readonly job: string;
  /** Place of the column in the view, -1 for a row of a dataset or of a side. */
  readonly column: number;
  /** Place of the edge to the row above, -1 without one. */
  readonly edge: number;
  readonly expandable: boolean;
  readonly expanded: boolean;
  readonly position: number;
  readonly siblings: number;
}

interface Node extends Omit<TreeRow, "expanded" | "position" | "siblings" | "level"> {
  children(): Node[];
}

type Direction = "up" | "down";

/** Return the rows that are open, from top to bottom. */
export function treeRows(followed: Followed, expanded: ReadonlySet<string>): TreeRow[] {
  const rows: TreeRow[] = [];
  const add = (nodes: readonly Node[], level: number) => {
    nodes.forEach(({ children, ...node }, place) => {
      const open = node.expandable && expanded.has(node.key);
      rows.push({ ...node, level, expanded: open, position: place + 1, siblings: nodes.length });
      if (open) add(children(), level + 1);
    });
  };
  add(roots(followed), 1);
  return rows;
}

function roots(followed: Followed): Node[] {
  const { graph, path } = followed;
  const { view } = graph;
  if (path) return path.start.flatMap((column) => sides(followed, column, `${column}`, [column]));
  return view.datasets.id.map((_, dataset) => {
    const columns = [...listOf(graph.columnsOf, dataset)];
    const key = `dataset ${dataset}`;
    return {
      ...plain(key, datasetLabel(view.datasets, dataset), counted(columns.length, "column")),
      expandable: columns.length > 0,
      children: () => columns.map((column) => columnNode(followed, column, `${key}/${column}`)),
    };
  });
}

function plain(key: string, label: string, how: string): Omit<Node, "expandable" | "children"> {
  return { key, label, how, job: "", column: -1, edge: -1 };
}

function columnNode(followed: Followed, column: number, key: string): Node {
  return {
    ...plain(key, shortened(followed.graph.view.columns.field[column]), ""),
    column,
    expandable: true,
    children: () => sides(followed, column, key, [column]),
  };
}

/** Return the rows of what a column is made from and of what is made from it. */
function sides(followed: Followed, column: number, key: string, trail: readonly number[]): Node[] {
  const name = columnName(followed.graph.view, column);
  const side = (direction: Direction, label: string): Node => {
    const children = () => hops(followed, column, direction, `${key}/${direction}`, trail);
    const { length } = steps(followed, column, direction);
    const how = counted(length, "column");
    return { ...plain(`${key}/${direction}`, `${name} ${label}`, how), expandable: length > 0, children };
  };
  return [side("up", "is made from"), side("down", "is used by")];
}

function hops(followed: Followed, column: number, direction: Direction, key: string, trail: readonly number[]): Node[] {
  const { view } = followed.graph;
  return steps(followed, column, direction).map(({ next, edge }): Node => {
    const cycle = trail.includes(next);
    const nextKey = `${key}/${next}.${edge}`;
    return {
      key: nextKey,
      label: columnName(view, next),
      how: [...kindOf(view, edge), ...(cycle ? ["closes a cycle"] : [])].join(", "),
      job: lastPart(view.jobs.name[view.edges.job[edge]]),
      column: next,
      edge,
      expandable: !cycle && steps(followed, next, direction).length > 0,
      children: () => hops(followed, next, direction, nextKey, [...trail, next]),
    };
  });
}

function steps(
  { graph, shown, path }: Followed,
  column: number,
  direction: Direction,
): { next: number; edge: number }[] {
  const lists =
    direction === "up"
      ? [...listOf(graph.inputsOf, column), ...listOf(graph.rowEdgesOf, graph.view.columns.dataset[column])]
      : [...listOf(graph.outputsOf, column)];
  return lists
    .filter((edge) => shown[edge] && (!path || path.edges[edge]))
    .flatMap((edge) => endsOf(graph, edge, direction).map((next) => ({ next, edge })))
    .filter(({ next }) => !path || onPath(path, next));
}

function endsOf({ view, columnsOf }: LineageGraph, edge: number, direction: Direction): number[] {
  if (direction === "up") return [view.edges.input[edge]];
  const output = view.edges.output[edge];
  return output >= 0 ? [output] : [...listOf(columnsOf, -1 - output)];
}
