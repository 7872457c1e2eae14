/** Strands: the lines of the drawing, each from port to port. */

import type { LineageGraph } from "../../model/graph";
import { type Card, FOOTER, HEADER, rowMiddle } from "./cards";
import { STYLES, styleOf } from "./styles";

export const JOB_HEIGHT = 34;

/** A line of the drawing: all edges between the same two ports that look the same. */
export interface Strand {
  /** Places of the boxes in the scene. */
  readonly from: number;
  readonly to: number;
  /** Heights of the ports in their boxes. */
  readonly fromY: number;
  readonly toY: number;
  /** Which of the looks in `styles.ts` it has. */
  readonly style: number;
  /** Places of the edges in the view. */
  readonly edges: number[];
}

/** The boxes that strands join: those of cards, then those of jobs. */
export interface Boxes {
  readonly graph: LineageGraph;
  readonly cards: readonly Card[];
  readonly jobs: readonly number[];
  readonly boxOf: Int32Array;
}

interface Port {
  /** A number that no other port has. */
  readonly key: number;
  readonly box: number;
  readonly y: number;
}

/** Return the strands of the edges that are drawn; with jobs as boxes each edge is one to its job and one from it. */
export function strandsOf(boxes: Boxes, drawn: Uint8Array): Strand[] {
  const { input, output, job } = boxes.graph.view.edges;
  const ports = portsOf(boxes);
  const strands = new Strands(ports.end);
  for (let edge = 0; edge < drawn.length; edge++) {
    if (!drawn[edge]) continue;
    const from = ports.columns[input[edge]];
    const to = output[edge] < 0 ? ports.rows[-1 - output[edge]] : ports.columns[output[edge]];
    const style = styleOf(boxes.graph.view, edge);
    const between = ports.jobs.get(job[edge]);
    if (between) {
      strands.add(from, between, style, edge);
      strands.add(between, to, style, edge);
    } else {
      strands.add(from, to, style, edge);
    }
  }
  return [...strands.all.values()];
}

/** The space between strands that join the same ports and look different. */
const BESIDE = 4;

class Strands {
  readonly all = new Map<number, Strand>();
  /** The number of strands between two ports. */
  private readonly parallel = new Map<number, number>();

  constructor(private readonly ports: number) {}

  add(from: Port, to: Port, style: number, edge: number): void {
    const ends = from.key * this.ports + to.key;
    const key = ends * STYLES + style;
    const strand = this.all.get(key);
    if (strand) {
      strand.edges.push(edge);
      return;
    }
    const beside = this.parallel.get(ends) ?? 0;
    this.parallel.set(ends, beside + 1);
    // 0, 1, -1, 2, -2, …
    const shift = BESIDE * Math.ceil(beside / 2) * (beside % 2 ? 1 : -1);
    const [fromY, toY] = [from.y + shift, to.y + shift];
    this.all.set(key, { from: from.box, to: to.box, fromY, toY, style, edges: [edge] });
  }
}

/**
 * Return the ports of columns, of the rows of whole datasets (the header of the card), and of jobs.
 *
 * A column without a row has the footer of its card, which all such columns share.
 */
function portsOf({ graph: { view }, cards, jobs, boxOf }: Boxes) {
  const [columnCount, datasetCount] = [view.columns.id.length, view.datasets.id.length];
  const rowOf = new Map<number, number>();
  for (const card of cards) {
    for (const [row, column] of card.rows.entries()) rowOf.set(column, row);
  }
  const columns = view.columns.dataset.map((dataset, column): Port => {
    const [box, row] = [boxOf[dataset], rowOf.get(column)];
    if (row !== undefined) return { key: column, box, y: rowMiddle(row) };
    return { key: columnCount + dataset, box, y: box < 0 ? 0 : cards[box].height - FOOTER / 2 };
  });
  const rows = view.datasets.id.map((_, dataset): Port => {
    return { key: columnCount + datasetCount + dataset, box: boxOf[dataset], y: HEADER / 2 };
  });
  const end = columnCount + 2 * datasetCount;
  const ofJobs = jobs.map((job, place): [number, Port] => {
    return [job, { key: end + job, box: cards.length + place, y: JOB_HEIGHT / 2 }];
  });
  return { columns, rows, jobs: new Map(ofJobs), end: end + view.jobs.id.length };
}
