/** Cycles: which boxes lie on one together, and which pairs run against the order that the others give. */

import { type Lists, listOf } from "../../model/graph";
import { type Adjacency, adjacencyOf, type Pairs } from "./pairs";

export interface Order {
  /** Boxes, each after all that lead to it by pairs that are not reversed. */
  readonly boxes: Int32Array;
  /** 1 for each pair that is reversed. */
  readonly reversed: Uint8Array;
}

/**
 * Return an order of boxes from left to right.
 *
 * @param layer where boxes already are, NaN for new ones: a pair of a cycle that runs to the left there goes on doing so.
 */
export function orderOf(pairs: Pairs, layer: ArrayLike<number>): Order {
  const reversed = new Uint8Array(pairs.from.length);
  const component = componentsOf(adjacencyOf(pairs.from, pairs.to, layer.length), pairs.to);
  pairs.from.forEach((from, pair) => {
    const to = pairs.to[pair];
    if (component[from] === component[to] && layer[from] >= layer[to]) reversed[pair] = 1;
  });
  const { tails, heads } = forward(pairs, reversed);
  const adjacency = adjacencyOf(tails, heads, layer.length);
  const finished: number[] = [];
  depthFirst(startsOf(adjacency), adjacency.outgoing, heads, {
    enter: () => {},
    // An edge of a depth-first walk to a box that is not finished closes a cycle.
    again: (_, pair, open) => {
      if (open) reversed[pair] = reversed[pair] ? 0 : 1;
    },
    leave: (box) => finished.push(box),
  });
  return { boxes: Int32Array.from(finished.reverse()), reversed };
}

/** Boxes without inputs first, so that a cycle is entered where data comes into it. */
function startsOf({ incoming }: Adjacency): number[] {
  const inputs = (box: number) => Math.min(1, incoming.start[box + 1] - incoming.start[box]);
  return Array.from({ length: incoming.start.length - 1 }, (_, box) => box).sort((a, b) => inputs(a) - inputs(b));
}

/** Return a number for each box, the same for boxes that lead to each other (Tarjan's algorithm). */
function componentsOf({ outgoing }: Adjacency, heads: Int32Array): Int32Array {
  const boxes = outgoing.start.length - 1;
  const [index, low, component] = [0, 0, 0].map(() => new Int32Array(boxes).fill(-1));
  const stack: number[] = [];
  let count = 0;
  const lower = (box: number, value: number) => {
    low[box] = Math.min(low[box], value);
  };
  depthFirst(
    Array.from({ length: boxes }, (_, box) => box),
    outgoing,
    heads,
    {
      enter: (box) => {
        index[box] = low[box] = count++;
        stack.push(box);
      },
      again: (box, pair) => {
        if (component[heads[pair]] < 0) lower(box, index[heads[pair]]);
      },
      leave: (box, parent) => {
        if (low[box] === index[box]) for (const one of stack.splice(stack.lastIndexOf(box))) component[one] = box;
        if (parent >= 0) lower(parent, low[box]);
      },
    },
  );
  return component;
}

interface Visitor {
  enter(box: number): void;
  /** A pair of the box leads to a box that was entered before; `open` while that one is not left yet. */
  again(box: number, pair: number, open: boolean): void;
  /** All that follows the box was visited; `parent` is the box it was entered from, -1 for a start. */
  leave(box: number, parent: number): void;
}

/** Walk depth first without recursion: chains of lineage are longer than the stack is deep. */
function depthFirst(starts: readonly number[], outgoing: Lists, heads: Int32Array, visitor: Visitor): void {
  const [NEW, OPEN, DONE] = [0, 1, 2];
  const state = new Uint8Array(outgoing.start.length - 1);
  const next = outgoing.start.slice();
  const stack: number[] = [];
  const visit = (box: number) => {
    if (state[box] === NEW) {
      state[box] = OPEN;
      visitor.enter(box);
    }
    if (next[box] === outgoing.start[box + 1]) {
      state[box] = DONE;
      stack.pop();
      visitor.leave(box, stack.at(-1) ?? -1);
      return;
    }
    const pair = outgoing.items[next[box]++];
    if (state[heads[pair]] === NEW) stack.push(heads[pair]);
    else visitor.again(box, pair, state[heads[pair]] === OPEN);
  };
  for (const start of starts) {
    if (state[start] === NEW) stack.push(start);
    while (stack.length > 0) visit(stack[stack.length - 1]);
  }
}

/** Return the heads and tails of pairs with the reversed ones turned around. */
export function forward(pairs: Pairs, reversed: Uint8Array): { tails: Int32Array; heads: Int32Array } {
  return {
    tails: pairs.from.map((from, pair) => (reversed[pair] ? pairs.to[pair] : from)),
    heads: pairs.to.map((to, pair) => (reversed[pair] ? pairs.from[pair] : to)),
  };
}

/** Return the boxes at the other ends of the pairs of a list. */
export function neighbours(lists: Lists, ends: Int32Array, box: number): Int32Array {
  return listOf(lists, box).map((pair) => ends[pair]);
}
