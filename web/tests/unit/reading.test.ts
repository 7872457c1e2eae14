import { expect, test } from "vitest";
import { readView, ViewError } from "../../src/model/reading";
import { viewOf } from "./views";

const view = viewOf("a.x > b.y", "a.x > b FILTER");

test("a view that holds its contract is returned as it is", () => {
  expect(readView(view)).toBe(view);
});

test.each([
  ["text", "view"],
  ["nothing", null],
  ["no tables", {}],
  ["no descriptions", { ...view, descriptions: undefined }],
  ["arrays of different lengths", { ...view, jobs: { ...view.jobs, id: [] } }],
  ["an input that is no column", { ...view, edges: { ...view.edges, input: [0, 7] } }],
  ["an output that is no dataset", { ...view, edges: { ...view.edges, output: [1, -3] } }],
  ["a description that is not there", { ...view, transformations: { ...view.transformations, description: [0, -1] } }],
  ["no focus", { ...view, focus: undefined }],
  ["a focus outside", { ...view, focus: { dataset: 2, column: -1 } }],
])("a document with %s is refused", (_, document) => {
  expect(() => readView(document)).toThrow(ViewError);
});
