import fc from "fast-check";
import { expect, test } from "vitest";
import { layOut } from "../../src/graph/layout/layout";
import { GAP, type Layout, type LayoutRequest } from "../../src/graph/layout/request";

const PITCH = 400;

type Link = readonly [from: number, to: number, fromY?: number, toY?: number];

/** A request for boxes of 100 pixels, the first of which are where a layout has put them. */
function request(boxes: number, links: readonly Link[], placed?: Layout, groups: number[] | null = null) {
  const at = (values?: Float32Array) => Float32Array.from({ length: boxes }, (_, box) => values?.[box] ?? Number.NaN);
  return {
    heights: new Float32Array(boxes).fill(100),
    groups: groups && Int32Array.from(groups),
    placedX: at(placed?.x),
    placedY: at(placed?.y),
    from: Int32Array.from(links, ([from]) => from),
    fromY: Float32Array.from(links, ([, , fromY]) => fromY ?? 50),
    to: Int32Array.from(links, ([, to]) => to),
    toY: Float32Array.from(links, ([, , , toY]) => toY ?? 50),
    pitch: PITCH,
  } satisfies LayoutRequest;
}

const graphs = fc.integer({ min: 1, max: 25 }).chain((boxes) =>
  fc.record({
    boxes: fc.constant(boxes),
    links: fc.array(fc.tuple(fc.nat(boxes - 1), fc.nat(boxes - 1), fc.nat(100), fc.nat(100)), { maxLength: 70 }),
  }),
);

function requireNoOverlap({ x, y }: Layout, { heights }: LayoutRequest): void {
  x.forEach((_, a) => {
    for (let b = 0; b < a; b++) {
      const apart = Math.max(y[a] - y[b] - heights[b], y[b] - y[a] - heights[a]);
      if (x[a] === x[b]) expect(apart).toBeGreaterThan(GAP - 0.01);
    }
  });
}

/** Boxes from which links that are not marked lead back to themselves. */
function onCycles(boxes: number, links: readonly Link[], back: Uint8Array): number[] {
  const reachable = (start: number) => {
    const seen = new Set<number>();
    const queue = [start];
    for (const box of queue) {
      links.forEach(([from, to], link) => {
        if (from === box && !back[link] && !seen.has(to)) queue.push(to) && seen.add(to);
      });
    }
    return seen;
  };
  return Array.from({ length: boxes }, (_, box) => box).filter((box) => reachable(box).has(box));
}

function check(layout: Layout, input: LayoutRequest): void {
  requireNoOverlap(layout, input);
  input.from.forEach((from, link) => {
    const steps = (layout.x[input.to[link]] - layout.x[from]) / PITCH;
    if (!layout.back[link]) expect(steps).toBeGreaterThanOrEqual(1);
    const pair = layout.pair[link];
    if (pair < 0) expect(from).toBe(input.to[link]);
    else expect(layout.bendStart[pair + 1] - layout.bendStart[pair]).toBe(Math.abs(steps) - 1);
  });
}

test("boxes do not overlap, links run to the right, and each has a bend in every layer that it passes", () => {
  fc.assert(
    fc.property(graphs, ({ boxes, links }) => {
      const input = request(boxes, links);
      check(layOut(input), input);
    }),
  );
});

test("the same request has the same layout", () => {
  fc.assert(
    fc.property(graphs, ({ boxes, links }) => {
      expect(layOut(request(boxes, links))).toEqual(layOut(request(boxes, links)));
    }),
  );
});

test("links are marked only where there is a cycle, and what remains has none", () => {
  fc.assert(
    fc.property(graphs, ({ boxes, links }) => {
      const { back } = layOut(request(boxes, links));
      expect(onCycles(boxes, links, back)).toEqual([]);
      if (onCycles(boxes, links, new Uint8Array(links.length)).length === 0) expect(back).not.toContain(1);
    }),
  );
});

test("growing by hops moves no box up or down, and none at all unless a new one goes between two layers", () => {
  fc.assert(
    fc.property(graphs, fc.nat(24), ({ boxes, links }, some) => {
      const first = Math.min(boxes, some + 1);
      const before = layOut(
        request(
          first,
          links.filter(([from, to]) => from < first && to < first),
        ),
      );
      const input = request(boxes, links, before);
      const after = layOut(input);
      check(after, input);
      const moved = before.x.findIndex((x, box) => x !== after.x[box]);
      for (let box = 0; box < first; box++) {
        expect(after.x[box]).toBeGreaterThanOrEqual(before.x[box]);
        if (after.x[box] === before.x[box]) expect(after.y[box] - before.y[box]).toBe(0);
      }
      if (!links.some(([from, to]) => to < first && from >= first)) expect(moved).toBe(-1);
    }),
  );
});

test("a hop before everything goes to the left of it, into the negative", () => {
  const before = layOut(request(2, [[0, 1]]));
  const after = layOut(
    request(
      3,
      [
        [0, 1],
        [2, 0],
      ],
      before,
    ),
  );
  expect([...after.x]).toEqual([0, PITCH, -PITCH]);
});

test("a box that has grown moves only those below it", () => {
  const links: Link[] = [
    [0, 1],
    [0, 2],
    [0, 3],
  ];
  const before = layOut(request(4, links));
  const input = request(4, links, before);
  input.heights[2] = 300;
  const after = layOut(input);
  expect([after.y[1], after.y[2], after.y[3]]).toEqual([before.y[1], before.y[2], before.y[3] + 200]);
});

test("a source stands right before what it feeds", () => {
  const { x } = layOut(
    request(4, [
      [0, 1],
      [1, 2],
      [3, 2],
    ]),
  );
  expect([...x]).toEqual([0, PITCH, 2 * PITCH, PITCH]);
});

test("links that need not cross do not cross", () => {
  const crossed: Link[] = [
    [0, 5],
    [1, 4],
    [2, 3],
  ];
  const { y } = layOut(request(6, crossed));
  expect(Math.sign(y[0] - y[1])).toBe(Math.sign(y[5] - y[4]));
  expect(Math.sign(y[1] - y[2])).toBe(Math.sign(y[4] - y[3]));
});

test("the ports that links join decide the order, not the boxes alone", () => {
  const { y } = layOut(
    request(3, [
      [0, 1, 90],
      [0, 2, 10],
    ]),
  );
  expect(y[2]).toBeLessThan(y[1]);
});

test("groups lie in bands that do not overlap", () => {
  fc.assert(
    fc.property(graphs, fc.array(fc.nat(3), { minLength: 25, maxLength: 25 }), ({ boxes, links }, groups) => {
      const input = request(boxes, links, undefined, groups.slice(0, boxes));
      const layout = layOut(input);
      check(layout, input);
      const bands = [0, 1, 2, 3].map((group) => [...layout.y].filter((_, box) => groups[box] === group));
      const sorted = bands.filter((band) => band.length > 0).sort((a, b) => a[0] - b[0]);
      for (let band = 1; band < sorted.length; band++) {
        expect(Math.min(...sorted[band])).toBeGreaterThan(Math.max(...sorted[band - 1]) + 100);
      }
    }),
  );
});

test("2,000 datasets with 25 columns and 50,000 edges take under 2 seconds", () => {
  let seed = 7;
  const random = (below: number) => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return (seed >>> 8) % below;
  };
  const links = Array.from({ length: 50_000 }, (_, link): Link => {
    const to = 100 + (((link / 25) | 0) % 1900);
    const from = Math.max(0, to - 1 - random(100)) - (((link / 25) | 0) % 3 === 0 ? 0 : random(3));
    return [Math.max(0, from), to, random(25) * 22, random(25) * 22];
  });
  const started = performance.now();
  const layout = layOut(request(2000, links));
  expect(performance.now() - started).toBeLessThan(2000);
  expect(layout.back).not.toContain(1);
});
