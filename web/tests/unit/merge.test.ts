import { expect, test } from "vitest";
import { CHANGES, compared, grown, partOf } from "../../src/model/merge";
import { readView } from "../../src/model/reading";
import type { View } from "../../src/model/view";
import { viewOf } from "./views";

/** Edges as text, so that views of different places can be compared. */
function arrows(view: View): string[] {
  const { datasets, columns, edges } = readView(view);
  const column = (place: number) => `${datasets.name[columns.dataset[place]]}.${columns.field[place]}`;
  return edges.input.map((input, edge) => {
    const output = edges.output[edge];
    return `${column(input)} > ${output < 0 ? datasets.name[-1 - output] : column(output)}`;
  });
}

/** Return a view whose ids are those of another view, by name: views of one store. */
function asIn(whole: View, ...places: number[]): View {
  const { input, output } = whole.edges;
  const columns = places.flatMap((edge) => (output[edge] < 0 ? [input[edge]] : [input[edge], output[edge]]));
  const wholes = places.filter((edge) => output[edge] < 0).map((edge) => -1 - output[edge]);
  const datasets = new Set([...columns.map((column) => whole.columns.dataset[column]), ...wholes]);
  return partOf(whole, [...datasets].reverse(), [...new Set(columns)].reverse(), places);
}

const whole = viewOf("a.x > b.y", "b.y > c.z", "a.w > b FILTER", "c.z > d.v", "a.w > b.other");

test("a hop adds the edges of the columns that are there, and the datasets they lead to", () => {
  const start = asIn(whole, 0);
  const more = { ...start, columns: { ...start.columns, moreDown: start.columns.field.map(() => 1 as const) } };
  const after = grown(more, asIn(whole, 1), "down");
  expect(arrows(after)).toEqual(["a.x > b.y", "b.y > c.z"]);
  expect(after.columns.moreDown[after.columns.field.indexOf("y")]).toBe(0);
  expect(after.columns.moreDown[after.columns.field.indexOf("x")]).toBe(1);
  expect(after.columns.id.slice(0, 2)).toEqual(start.columns.id);
});

test("of a dataset's hop nothing is taken that leads to its other columns", () => {
  expect(arrows(grown(asIn(whole, 1), asIn(whole, 0, 2, 4), "up"))).toEqual(["b.y > c.z", "a.x > b.y", "a.w > b"]);
});

test("a hop that is there already changes nothing", () => {
  const start = asIn(whole, 0, 1);
  expect(grown(start, asIn(whole, 0), "up")).toEqual(start);
});

test("two views are compared by edge", () => {
  const view = compared(asIn(whole, 0, 2, 3), asIn(whole, 3, 0, 1));
  const change = view.edges.change?.map((one) => CHANGES[one]) ?? [];
  expect(arrows(view).map((arrow, edge) => `${arrow}: ${change[edge]}`)).toEqual([
    "c.z > d.v: same",
    "a.x > b.y: same",
    "b.y > c.z: came",
    "a.w > b: went",
  ]);
});
