import fc from "fast-check";
import { expect, test } from "vitest";
import { graphOf, listOf, outputDataset, shownEdges } from "../../src/model/graph";
import { onPath, pathOf } from "../../src/model/path";
import type { Subtype, View } from "../../src/model/view";
import { viewOf } from "./views";

function namesOnPath(view: View, start: number, hidden: Subtype[] = [], depth = { up: 9, down: 9 }): string[] {
  const path = pathOf(graphOf(view), [start], shownEdges(view, new Set(hidden)), depth);
  return view.columns.field.filter((_, column) => onPath(path, column));
}

test("a path has what is before and after a column, and no siblings", () => {
  const view = viewOf("b.mid > c.after", "a.before > b.mid", "a.before > b.sibling", "a.other > c.after");
  expect(namesOnPath(view, 0)).toEqual(["mid", "after", "before"]);
});

test("an edge into all rows leads to every column of the dataset, both up and down", () => {
  const view = viewOf("a.key > b FILTER", "a.x > b.y", "b.y > c.z");
  expect(namesOnPath(view, 0)).toEqual(["key", "y", "z"]);
  expect(namesOnPath(view, view.columns.field.indexOf("z"))).toEqual(["key", "x", "y", "z"]);
});

test("a hidden subtype is not followed", () => {
  const view = viewOf("a.key > b FILTER", "a.x > b.y");
  expect(namesOnPath(view, view.columns.field.indexOf("y"), ["FILTER"])).toEqual(["x", "y"]);
});

test("a depth ends the path on its side alone", () => {
  const view = viewOf("c.c > d.d", "d.d > e.e", "b.b > c.c", "a.a > b.b");
  expect(namesOnPath(view, 0, [], { up: 1, down: 2 })).toEqual(["c", "d", "e", "b"]);
});

test("a cycle ends, and both of its columns are before and after each other", () => {
  const view = viewOf("a.x > b.y", "b.y > a.x");
  const path = pathOf(graphOf(view), [0], shownEdges(view, new Set()));
  expect([...path.up]).toEqual([0, 1]);
  expect([...path.edges]).toEqual([1, 1]);
});

const arrows = fc.array(
  fc.tuple(fc.nat(5), fc.nat(3), fc.nat(5), fc.nat(3)).map(([a, x, b, y]) => `d${a}.c${x} > d${b}.c${y}`),
  { minLength: 1, maxLength: 40 },
);

test("a column is before another exactly when that one is after it", () => {
  fc.assert(
    fc.property(arrows, (names) => {
      const view = viewOf(...names);
      const graph = graphOf(view);
      const shown = shownEdges(view, new Set());
      const from = pathOf(graph, [0], shown);
      view.columns.id.forEach((_, column) => {
        expect(from.down[column]).toBe(pathOf(graph, [column], shown).up[0]);
      });
    }),
  );
});

test("every edge is in the list of its input and in one list of its output", () => {
  fc.assert(
    fc.property(arrows, (names) => {
      const view = viewOf(...names, "d0.c0 > d1 FILTER");
      const graph = graphOf(view);
      view.edges.input.forEach((input, edge) => {
        expect(listOf(graph.outputsOf, input)).toContain(edge);
        const output = view.edges.output[edge];
        const list = output < 0 ? listOf(graph.rowEdgesOf, -1 - output) : listOf(graph.inputsOf, output);
        expect(list).toContain(edge);
        expect(outputDataset(view, edge)).toBe(output < 0 ? -1 - output : view.columns.dataset[output]);
      });
    }),
  );
});
