/** Strands: the lines of the drawing, each from port to port. */

import { type LineageGraph, type Lists, listsOf } from "../../model/graph";
import { type Card, FOOTER, HEADER, rowMiddle } from "./cards";
import { styleOf } from "./styles";

export const JOB_HEIGHT = 34;

/** The ends of lines: place i of every array is about line i. */
export interface Ends {
  /** Places of the boxes in the scene. */
  readonly from: Int32Array;
  readonly to: Int32Array;
  /** Heights of the ports in their boxes. */
  readonly fromY: Float32Array;
  readonly toY: Float32Array;
  /** Which of the looks in `styles.ts` each has. */
  readonly style: Uint8Array;
}

/** The lines of the drawing: each stands for all edges between the same two ports that look the same. */
export interface Strands extends Ends {
  readonly count: number;
  /** Places of the edges in the view, for each strand. */
  readonly edges: Lists;
}

/** The boxes that strands join: those of cards, then those of jobs. */
export interface Boxes {
  readonly graph: LineageGraph;
  readonly cards: readonly Card[];
  readonly jobs: readonly number[];
  readonly boxOf: Int32Array;
}

/** Ports by number: those of columns, of footers, of headers, then of jobs. */
interface Ports {
  readonly box: Int32Array;
  readonly y: Float32Array;
  /** The port of each column. A column without a row has the footer of its card, which all such columns share. */
  readonly ofColumn: Int32Array;
  /** The first port of headers, which stand for the rows of whole datasets, and the first of jobs. */
  readonly headers: number;
  readonly jobs: number;
}

/** What edges are drawn as: one leg each, or with jobs as boxes one to the job and one from it. */
interface Legs {
  readonly from: Int32Array;
  readonly to: Int32Array;
  readonly style: Uint8Array;
  readonly edge: Int32Array;
}

/** Return the strands of the edges that are drawn, by the port that they leave. */
export function strandsOf(boxes: Boxes, drawn: Uint8Array): Strands {
  const ports = portsOf(boxes);
  const legs = legsOf(boxes, ports, drawn);
  const { first, shift, strandOf } = joined(legs, ports.box.length);
  const lists = listsOf(strandOf, first.length);
  const ends = (of: Int32Array) => first.map((leg) => ports.box[of[leg]]);
  const heights = (of: Int32Array) => shift.map((beside, strand) => ports.y[of[first[strand]]] + beside);
  return {
    count: first.length,
    from: ends(legs.from),
    to: ends(legs.to),
    fromY: heights(legs.from),
    toY: heights(legs.to),
    style: new Uint8Array(first.length).map((_, strand) => legs.style[first[strand]]),
    edges: { start: lists.start, items: lists.items.map((leg) => legs.edge[leg]) },
  };
}

function legsOf({ graph: { view }, jobs }: Boxes, ports: Ports, drawn: Uint8Array): Legs {
  const { input, output, job } = view.edges;
  const placeOf = new Map(jobs.map((one, place) => [one, ports.jobs + place]));
  const most = drawn.length * (jobs.length > 0 ? 2 : 1);
  const [from, to, edges] = [new Int32Array(most), new Int32Array(most), new Int32Array(most)];
  const style = new Uint8Array(most);
  let count = 0;
  const add = (tail: number, head: number, edge: number) => {
    from[count] = tail;
    to[count] = head;
    edges[count] = edge;
    style[count++] = styleOf(view, edge);
  };
  for (let edge = 0; edge < drawn.length; edge++) {
    if (!drawn[edge]) continue;
    const tail = ports.ofColumn[input[edge]];
    const head = output[edge] < 0 ? ports.headers - 1 - output[edge] : ports.ofColumn[output[edge]];
    const between = placeOf.get(job[edge]);
    if (between === undefined) add(tail, head, edge);
    else {
      add(tail, between, edge);
      add(between, head, edge);
    }
  }
  return {
    from: from.subarray(0, count),
    to: to.subarray(0, count),
    style: style.subarray(0, count),
    edge: edges.subarray(0, count),
  };
}

/** The space between strands that join the same ports and look different. */
const BESIDE = 4;

/** Return the strand of each leg, and for each strand its first leg and how far beside the ports' middles it lies. */
function joined({ from, to, style }: Legs, ports: number) {
  const first: number[] = [];
  const shift: number[] = [];
  const strandOf = new Int32Array(from.length);
  // Strands between the same ports are a chain, from the newest to the oldest.
  const older: number[] = [];
  const rank: number[] = [];
  const newest = new Int32Array(ports).fill(-1);
  for (const leg of listsOf(from, ports).items) {
    let head = newest[to[leg]];
    if (head >= 0 && from[first[head]] !== from[leg]) head = -1;
    let strand = head;
    while (strand >= 0 && style[first[strand]] !== style[leg]) strand = older[strand];
    if (strand < 0) {
      const beside = head < 0 ? 0 : rank[head] + 1;
      strand = first.push(leg) - 1;
      older.push(head);
      rank.push(beside);
      // 0, 1, -1, 2, -2, …
      shift.push(BESIDE * Math.ceil(beside / 2) * (beside % 2 ? 1 : -1));
      newest[to[leg]] = strand;
    }
    strandOf[leg] = strand;
  }
  return { first: Int32Array.from(first), shift: Float32Array.from(shift), strandOf };
}

function portsOf({ graph: { view }, cards, jobs, boxOf }: Boxes): Ports {
  const [columns, datasets] = [view.columns.id.length, view.datasets.id.length];
  const headers = columns + datasets;
  const end = headers + datasets;
  const box = new Int32Array(end + jobs.length).fill(-1);
  const y = new Float32Array(end + jobs.length);
  const ofColumn = new Int32Array(columns).map((_, column) => columns + view.columns.dataset[column]);
  for (const { dataset, rows, height } of cards) {
    box[columns + dataset] = box[headers + dataset] = boxOf[dataset];
    y[columns + dataset] = height - FOOTER / 2;
    y[headers + dataset] = HEADER / 2;
    rows.forEach((column, row) => {
      ofColumn[column] = column;
      box[column] = boxOf[dataset];
      y[column] = rowMiddle(row);
    });
  }
  jobs.forEach((_, place) => {
    box[end + place] = cards.length + place;
    y[end + place] = JOB_HEIGHT / 2;
  });
  return { box, y, ofColumn, headers, jobs: end };
}
