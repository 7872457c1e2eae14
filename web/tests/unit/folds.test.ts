import { expect, test } from "vitest";
import { mermaidOf, shownView } from "../../src/graph/export/svg";
import { foldedGraph, foldOf, MOST_APART } from "../../src/model/folds";
import { graphOf, outputDataset } from "../../src/model/graph";
import { pathOf } from "../../src/model/path";
import { drawingOfGraph } from "./drawings";
import { viewOf } from "./views";

const READERS = Array.from({ length: MOST_APART + 1 }, (_, place) => `${place % 2 ? "ml" : "bi"}/r${place}`);
const view = viewOf(
  "root.x > hub.x",
  ...READERS.map((name) => `hub.x > ${name}.x`),
  "hub.x > step.x",
  "step.x > last.x",
);
const all = new Uint8Array(view.edges.input.length).fill(1);
const graph = foldedGraph(graphOf(view), all, []);

test("many readers that lead no further are one box with a column for each schema", () => {
  const [fold] = graph.folds;
  expect(graph.folds.length).toBe(1);
  expect(fold.members.map((member) => view.datasets.name[member])).toEqual(READERS);
  expect(graph.view.datasets.name[fold.dataset]).toBe(`${READERS.length} readers of hub`);
  expect(foldOf(graph.view, fold.dataset)).toBe(fold.id);
  const fields = graph.view.columns.field.filter((_, column) => graph.view.columns.dataset[column] === fold.dataset);
  expect(fields).toEqual(["bi · 11", "ml · 10"]);
});

test("edges keep their places and all else its ends, and paths lead into the fold and through the rest", () => {
  const ends = all.map((_, edge) => outputDataset(graph.view, edge));
  expect([...ends].filter((dataset) => dataset === graph.folds[0].dataset).length).toBe(READERS.length);
  for (const edge of [0, all.length - 2, all.length - 1])
    expect([graph.view.edges.input[edge], graph.view.edges.output[edge]]).toEqual([
      view.edges.input[edge],
      view.edges.output[edge],
    ]);
  expect([...pathOf(graph, [0], all).edges]).toEqual([...all]);
});

test("nothing is folded that is shown in full, not drawn, few, or the focus", () => {
  expect(foldedGraph(graphOf(view), all, [graph.folds[0].id]).folds).toEqual([]);
  expect(
    foldedGraph(
      graphOf(view),
      all.map((_, edge) => (edge === 1 ? 0 : 1)),
      [],
    ).folds,
  ).toEqual([]);
  const focused = { ...view, focus: { dataset: graph.folds[0].members[0], column: -1 } };
  expect(foldedGraph(graphOf(focused), all, []).folds).toEqual([]);
});

test("sources of one dataset are folded like readers", () => {
  const sources = viewOf("hub.x > last.x", ...READERS.map((name) => `${name}.x > hub.x`));
  const folded = foldedGraph(graphOf(sources), new Uint8Array(sources.edges.input.length).fill(1), []);
  expect(folded.folds.map((fold) => folded.view.datasets.name[fold.dataset])).toEqual([
    `${READERS.length} sources of hub`,
  ]);
});

test("cards of what is folded are away, and what is saved has it one by one", () => {
  const drawing = drawingOfGraph(graph);
  const names = drawing.scene.cards.map((card) => graph.view.datasets.name[card.dataset]);
  expect(names).toEqual(["root", "hub", "step", "last", `${READERS.length} readers of hub`]);
  const saved = shownView(drawing);
  expect([...saved.datasets.name].sort()).toEqual([...view.datasets.name].sort());
  expect(saved.edges.input.length).toBe(all.length);
  expect(mermaidOf(drawing).match(/-->/g)?.length).toBe(all.length);
});
