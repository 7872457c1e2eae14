import fc from "fast-check";
import { expect, test } from "vitest";
import { centred, fitted, revealed, seen, zoomed } from "../../src/graph/drawing/camera";
import { boundsOf, distanceTo, middleOf, type Rect, trace } from "../../src/graph/drawing/curves";
import { litBy } from "../../src/graph/drawing/drawing";
import { outside } from "../../src/graph/drawing/surface";
import { endingsApart, fitting, lastPart, shortened, wrapped } from "../../src/graph/drawing/text";
import { pathOf } from "../../src/model/path";
import { drawingFor, edgesOf } from "./drawings";
import { viewOf } from "./views";

const view = viewOf("a.x > b.y", "b.y > c.z", "a.x > c.z", "c.z > a.x", "d.d > d.e");
const drawing = drawingFor(view);
const size = { width: 800, height: 600 };

test("a curve begins at the right of its input's row and ends at the left of its output's", () => {
  const { count, from, to, fromY, toY } = drawing.scene.strands;
  for (let strand = 0; strand < count; strand++) {
    const points = Array.from(drawing.strands.curve(strand).points);
    const [start, end] = [drawing.boxes[from[strand]], drawing.boxes[to[strand]]];
    expect(points.slice(0, 2)).toEqual([start.right, start.top + fromY[strand]]);
    expect(points.slice(-2)).toEqual([end.left, end.top + toY[strand]]);
  }
});

test("the middle of a curve is on it, and its bounds hold all that is drawn", () => {
  for (let strand = 0; strand < drawing.strands.count; strand++) {
    const curve = drawing.strands.curve(strand);
    const { x, y } = middleOf(curve);
    expect(distanceTo(curve, x, y)).toBeLessThan(2);
    const { left, top, right, bottom } = boundsOf(curve);
    const inside = (px: number, py: number) => px >= left && px <= right && py >= top && py <= bottom;
    trace(curve, {
      moveTo: (px, py) => expect(inside(px, py)).toBe(true),
      lineTo: (px, py) => expect(inside(px, py)).toBe(true),
      bezierCurveTo: (x1, y1, x2, y2, px, py) =>
        expect([inside(x1, y1), inside(x2, y2), inside(px, py)]).toEqual([true, true, true]),
    });
  }
});

test("edges that close a cycle are marked and drawn below the boxes they pass", () => {
  const edges = edgesOf(drawing.scene.strands);
  const back = edges.flatMap((_, strand) => (drawing.strands.curve(strand).back ? [strand] : []));
  expect(back.map((strand) => edges[strand])).toEqual([[3], [4]]);
  const { y } = middleOf(drawing.strands.curve(back[1]));
  expect(y).toBeGreaterThan(drawing.boxes[3].bottom);
});

test("the nearest line to a point on a curve is that curve", () => {
  for (let strand = 0; strand < drawing.strands.count; strand++) {
    const { x, y } = middleOf(drawing.strands.curve(strand));
    expect(drawing.strands.nearest(x, y, 6)).toBe(strand);
  }
  expect(drawing.strands.nearest(-5000, -5000, 6)).toBe(-1);
});

test("a path lights its strands, their bundles and their boxes alone", () => {
  const path = pathOf(drawing.scene.graph, [view.columns.field.indexOf("d")], new Uint8Array(5).fill(1));
  const lit = litBy(path, drawing);
  expect([...lit.strands]).toEqual([0, 0, 0, 0, 1]);
  expect([...lit.boxes]).toEqual([0, 0, 0, 1]);
});

const cameras = fc.record({
  x: fc.integer({ min: -1000, max: 1000 }),
  y: fc.integer({ min: -1000, max: 1000 }),
  zoom: fc.double({ min: 0.1, max: 1.5, noNaN: true }),
});

test("zooming leaves the point under the pointer where it is", () => {
  fc.assert(
    fc.property(cameras, fc.double({ min: 0.5, max: 1.3, noNaN: true }), (camera, factor) => {
      const next = zoomed(camera, factor, 300, 200);
      expect(next.x + 300 / next.zoom).toBeCloseTo(camera.x + 300 / camera.zoom, 3);
      expect(next.y + 200 / next.zoom).toBeCloseTo(camera.y + 200 / camera.zoom, 3);
    }),
  );
});

test("a fitted camera sees all, a revealing one what it is to show, and moves no farther than it must", () => {
  const rect = { left: -500, top: 40, right: 4000, bottom: 900 };
  const whole = seen(fitted(rect, size), size);
  expect(whole.left <= rect.left && whole.top <= rect.top).toBe(true);
  expect(whole.right >= rect.right && whole.bottom >= rect.bottom).toBe(true);
  const card = { left: 2000, top: 100, right: 2248, bottom: 300 };
  const moved = revealed({ x: 0, y: 0, zoom: 1 }, card, size);
  expect(seen(moved, size).right).toBeGreaterThanOrEqual(card.right);
  expect(moved.y).toBe(0);
  expect(revealed(moved, card, size)).toEqual(moved);
  expect(seen(centred(card, rect, size, 1), size).left).toBe(2124 - 400);
});

test("a centred camera shows no more beyond the bounds than a margin, and the start of what is larger than the screen", () => {
  const bounds = { left: 0, top: 0, right: 4000, bottom: 300 };
  const last = { left: 3752, top: 0, right: 4000, bottom: 300 };
  const { left, top, right } = seen(centred(last, bounds, size, 1), size);
  expect(right).toBe(4033);
  expect(top).toBe((300 - size.height) / 2);
  expect(left).toBeLessThan(3752 - 400);
  const tall = { left: 0, top: 1000, right: 248, bottom: 9000 };
  const seenOfTall = seen(centred(tall, { ...tall, right: 4000, top: 0 }, size, 1), size);
  expect([seenOfTall.left, seenOfTall.top]).toEqual([-33, 967]);
});

test("long names are cut with an ellipsis", () => {
  const measure = { measureText: (text: string) => ({ width: text.length * 10 }) };
  expect(fitting(measure, "distance", 50)).toBe("dist…");
  expect(fitting(measure, "km", 50)).toBe("km");
  expect(shortened("x".repeat(10_000))).toHaveLength(201);
  expect(lastPart("s3://lake/gold/report/")).toBe("report");
});

test("datasets have as much of their paths as sets them apart", () => {
  const name = ["/lake/bronze/orders", "/lake/silver/orders", "s3://b/items/", "shop.sales", "shop.sales", "", "/"];
  const namespace = ["file", "file", "s3", "postgres://a", "postgres://b", "", "file"];
  const expected = ["bronze/orders", "silver/orders", "items", "postgres://a/shop.sales", "postgres://b/shop.sales"];
  expect(endingsApart({ name, namespace })).toEqual([...expected, "", "/"]);
});

test("datasets that differ have labels that differ", () => {
  const path = fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 4 });
  const dataset = fc.tuple(fc.constantFrom("file", "s3://lake"), path);
  fc.assert(
    fc.property(fc.uniqueArray(dataset, { selector: String, maxLength: 20 }), (datasets) => {
      const name = datasets.map(([, parts]) => parts.join("/"));
      const namespace = datasets.map(([one]) => one);
      expect(new Set(endingsApart({ name, namespace })).size).toBe(datasets.length);
    }),
  );
});

test("long names are broken where their parts are joined, and each line is cut", () => {
  const context = { measureText: (text: string) => ({ width: text.length * 10 }) };
  expect(wrapped(context, "bronze/web_site_orders", 90, 3)).toEqual(["bronze/", "web_site_", "orders"]);
  expect(wrapped(context, "bronze/web_site_orders", 120, 2)).toEqual(["bronze/web_", "site_orders"]);
  expect(wrapped(context, "bronze/orders", 60, 1)).toEqual(["bronz…"]);
});

test("what an image does not cover is covered by the parts outside of it, once", () => {
  const whole = { left: 0, top: 0, right: 7, bottom: 5 };
  const points = Array.from({ length: 7 * 5 }, (_, place) => ({ x: place % 7, y: Math.floor(place / 7) }));
  const place = fc.integer({ min: -8, max: 8 });
  const side = fc.integer({ min: 1, max: 9 });
  fc.assert(
    fc.property(place, place, side, side, (x, y, width, height) => {
      const parts = outside(whole, { x, y }, { width, height });
      const image = { left: x, top: y, right: x + width, bottom: y + height };
      for (const point of points) {
        const holds = ({ left, top, right, bottom }: typeof whole) =>
          left <= point.x && point.x < right && top <= point.y && point.y < bottom;
        expect(parts.filter(holds).length).toBe(holds(image) ? 0 : 1);
      }
      expect(parts.every((part) => boundsInside(part, whole))).toBe(true);
    }),
  );
});

function boundsInside(inner: Rect, outer: Rect): boolean {
  const [low, high] = [inner.left >= outer.left && inner.top >= outer.top, inner.right <= outer.right];
  return low && high && inner.bottom <= outer.bottom;
}
