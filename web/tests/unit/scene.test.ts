import { expect, test } from "vitest";
import { cardStateWith, countOf, FIRST_CARD, PAGE_ROWS } from "../../src/graph/scene/cards";
import { LOOKS } from "../../src/graph/scene/styles";
import { drawingFor, edgesOf, sceneFor } from "./drawings";
import { viewOf } from "./views";

const wide = viewOf(...Array.from({ length: 1000 }, (_, place) => `a.x > wide.c${place}`));

test("equal edges between two ports are one strand, different ones lie side by side", () => {
  const { strands } = sceneFor(viewOf("a.x > b.y", "a.x > b.y", "a.x > b.y CONDITIONAL"));
  expect(edgesOf(strands)).toEqual([[0, 1], [2]]);
  expect(strands.toY[0]).not.toBe(strands.toY[1]);
});

test("columns without a row share the port of the footer", () => {
  const { strands, cards } = sceneFor(wide);
  expect(strands.count).toBe(PAGE_ROWS + 1);
  expect(edgesOf(strands).at(-1)).toHaveLength(1000 - PAGE_ROWS);
  expect(countOf(cards[1])).toBe("12 of 1,000 shown");
});

test("a filter and pages bring any column into a row", () => {
  const filtered = sceneFor(wide, { cardStates: new Map([[101, { ...FIRST_CARD, filter: "C99" }]]) }).cards[1];
  expect(filtered.rows.map((column) => wide.columns.field[column])).toContain("c990");
  expect(filtered.matching).toHaveLength(11);
  const column = wide.columns.field.indexOf("c777");
  const state = cardStateWith(sceneFor(wide).cards[1], column);
  expect(sceneFor(wide, { cardStates: new Map([[101, state]]) }).cards[1].rows).toContain(column);
});

test("a page behind the last is the last", () => {
  const { rows } = sceneFor(wide, { cardStates: new Map([[101, { ...FIRST_CARD, page: 500 }]]) }).cards[1];
  expect(rows.at(-1)).toBe(wide.columns.id.length - 1);
});

test("the path of a column takes the rest away", () => {
  const view = viewOf("a.x > b.y", "a.other > b.rest", "z.z > b.rest");
  const start = view.columns.field.indexOf("y");
  expect(sceneFor(view, { start }).cards.map((card) => card.rows)).toEqual([[0], [1]]);
  expect(sceneFor(view).cards).toHaveLength(3);
});

test("an edge into all rows ends at the header, also of a dataset without columns", () => {
  const { cards, strands } = sceneFor(viewOf("a.x > b FILTER"));
  expect(cards[1].rows).toEqual([]);
  expect(strands.toY[0]).toBeLessThan(cards[1].height);
});

test("with jobs as boxes each edge leads into its job and out of it", () => {
  const { jobs, strands, cards } = sceneFor(viewOf("a.x > b.y"), { jobs: true });
  expect(jobs).toEqual([0]);
  expect([[...strands.from], [...strands.to]]).toEqual([
    [0, cards.length],
    [cards.length, 1],
  ]);
});

test("datasets are grouped by the job that makes them, sources apart", () => {
  const { groups } = sceneFor(viewOf("a.x > b.y"), { group: "job" });
  expect(groups?.names).toEqual(["Sources", "job"]);
  expect([...(groups?.of ?? [])]).toEqual([0, 1]);
});

test("bands of groups hold their boxes", () => {
  const drawing = drawingFor(viewOf("a.x > b.y", "b.y > c.z"), { group: "job" });
  drawing.boxes.forEach((box, place) => {
    const { rect } = drawing.bands[drawing.scene.groups?.of[place] ?? -1];
    expect(rect.left < box.left && rect.right > box.right && rect.top < box.top && rect.bottom > box.bottom).toBe(true);
  });
});

test("kinds of edges differ in more than colour", () => {
  const shapes = [0, 1, 2, 4, 8, 16, 32, 64].map((style) => `${LOOKS[style].dash} ${LOOKS[style].mark}`);
  expect(new Set(shapes).size).toBe(shapes.length);
});
