import { expect, test } from "vitest";
import { announcement, walk } from "../../src/graph/keyboard";
import { treeRows } from "../../src/graph/tree/rows";
import { drawingFor, followedFor } from "./drawings";
import { viewOf } from "./views";

const view = viewOf("b.y > c.z AGGREGATION", "a.x > b.y", "a.key > b FILTER", "b.u > c.w", "c.z > b.y");
const column = (field: string) => view.columns.field.indexOf(field);
const labels = (expanded: string[], start?: number) =>
  treeRows(followedFor(view, start), new Set(expanded)).map(({ level, label, how }) => `${level} ${label}: ${how}`);

test("left and right walk along edges, up and down through the columns of a layer", () => {
  const [followed, drawing] = [followedFor(view), drawingFor(view)];
  expect(walk(followed, drawing, column("y"), "ArrowLeft")).toEqual({ column: column("x"), edge: 1 });
  expect(walk(followed, drawing, column("y"), "ArrowRight")).toEqual({ column: column("z"), edge: 0 });
  expect(walk(followed, drawing, column("y"), "ArrowDown")).toEqual({ column: column("u"), edge: -1 });
  expect(walk(followed, drawing, column("u"), "ArrowUp")).toEqual({ column: column("y"), edge: -1 });
  expect(walk(followed, drawing, column("x"), "ArrowLeft")).toBeNull();
  expect(walk(followed, drawing, column("x"), "Tab")).toBeNull();
});

test("a column whose rows are decided leads to what decides them", () => {
  expect(walk(followedFor(view), drawingFor(view), column("u"), "ArrowLeft")).toEqual({
    column: column("key"),
    edge: 2,
  });
});

test("what is said names the column, how one came there, and what is around", () => {
  expect(announcement(followedFor(view), { column: column("z"), edge: 0 })).toBe(
    "c.z; DIRECT AGGREGATION; 1 in, 1 out",
  );
});

test("the table opens along edges on both sides, and ends where a cycle closes", () => {
  const start = column("z");
  const up = `${start}/up`;
  const y = `${up}/${column("y")}.0`;
  expect(labels([up, y], start)).toEqual([
    "1 c.z is made from: 1 column",
    "2 b.y: DIRECT AGGREGATION",
    "3 a.x: DIRECT IDENTITY",
    "3 c.z: DIRECT IDENTITY, closes a cycle",
    "3 a.key: INDIRECT FILTER",
    "1 c.z is used by: 1 column",
  ]);
});

test("without a path the table has all datasets and their columns", () => {
  expect(labels(["dataset 0"])).toEqual(["1 b: 2 columns", "2 y: ", "2 u: ", "1 c: 2 columns", "1 a: 2 columns"]);
});

test("rows know their place among their siblings", () => {
  const [first, second] = treeRows(followedFor(view), new Set()).map(({ position, siblings }) => [position, siblings]);
  expect([first, second]).toEqual([
    [1, 3],
    [2, 3],
  ]);
});
