import { expect, test } from "vitest";
import type { Palette } from "../../src/graph/drawing/palette";
import { mermaidOf, shownView, svgOf } from "../../src/graph/export/svg";
import { readView } from "../../src/model/reading";
import { drawingFor } from "./drawings";
import { viewOf } from "./views";

const palette = new Proxy({}, { get: () => "#123456" }) as Palette;
const hostile = viewOf('a.<img/src=x>"&\u0000 > b.שלום', "a.x > b FILTER", "c.q > a.x");

test("SVG has every name as text and nothing of it as markup", () => {
  const svg = svgOf(drawingFor(hostile), palette);
  expect(svg).not.toContain("<img");
  expect(svg).not.toContain("\u0000");
  expect(svg).toContain("&#60;img/src=x&#62;&#34;&#38;�");
  expect(svg).toContain("שלום");
  expect(svg.match(/<g>/g)).toHaveLength(3);
});

test("Mermaid has a subgraph for each dataset, and dotted arrows for INDIRECT", () => {
  const mermaid = mermaidOf(drawingFor(hostile));
  expect(mermaid).toContain('["#60;img/src#61;x#62;#34;#38;#0;"]');
  expect(mermaid.match(/subgraph/g)).toHaveLength(3);
  expect(mermaid).toContain("  c1 -.-> d1");
  expect(mermaid).toContain("  c0 --> c2");
});

test("the exported view is one that the page can read, and has what is shown alone", () => {
  const start = hostile.columns.field.indexOf("q");
  const view = readView(shownView(drawingFor(hostile, { start })));
  expect(view.columns.field).toEqual(["x", "שלום", "q"]);
  expect(view.edges.output).toEqual([-2, 0]);
  expect(view.columns.field[view.edges.input[1]]).toBe("q");
});
