/** The drawing as SVG and the view as Mermaid and JSON: texts that open elsewhere. */

import { listOf, listsOf } from "../../model/graph";
import { partOf } from "../../model/merge";
import type { View } from "../../model/view";
import { trace } from "../drawing/curves";
import type { Drawing } from "../drawing/drawing";
import type { Palette } from "../drawing/palette";
import { datasetLabel, lastPart, shortened } from "../drawing/text";
import { CARD_WIDTH, HEADER, rowMiddle } from "../scene/cards";
import { LOOKS } from "../scene/styles";
import { SvgPen } from "./svgPen";

const MARGIN = 24;
/** How many characters of a name fit into a card at 13 pixels. */
const NAME = 30;

/** Return the whole drawing as a document of SVG, in the colours of the page. */
export function svgOf(drawing: Drawing, palette: Palette): string {
  const { bounds, scene } = drawing;
  const [x, y] = [bounds.left - MARGIN, bounds.top - MARGIN];
  const [width, height] = [bounds.right - x + MARGIN, bounds.bottom - y + MARGIN];
  const lines = Array.from({ length: scene.strands.count }, (_, strand) => lineOf(drawing, strand, palette));
  const boxes = drawing.boxes.map((_, box) => boxOf(drawing, box, palette));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${x} ${y} ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="13">`,
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="${palette.canvas}"/>`,
    ...lines,
    ...boxes,
    "</svg>",
  ].join("\n");
}

function lineOf({ strands }: Drawing, strand: number, palette: Palette): string {
  const look = LOOKS[strands.arrays.style[strand]];
  const curve = strands.curve(strand);
  const pen = new SvgPen();
  trace(curve, pen);
  const [x, y] = [curve.points[curve.points.length - 2], curve.points[curve.points.length - 1]];
  const color = palette[look.color];
  return (
    `<path d="${pen.path}" fill="none" stroke="${color}" stroke-width="${look.width}" stroke-dasharray="${look.dash.join(" ")}"/>` +
    `<path d="M${x} ${y}l-8 -4v8z" fill="${color}"/>`
  );
}

function boxOf({ scene, boxes }: Drawing, box: number, palette: Palette): string {
  const { left, top, bottom } = boxes[box];
  const { datasets, columns, jobs } = scene.graph.view;
  const card = scene.cards[box];
  const name = card ? datasets.name[card.dataset] : jobs.name[scene.jobs[box - scene.cards.length]];
  const label = card ? datasetLabel(datasets, card.dataset) : lastPart(name);
  const rows = (card?.rows ?? []).map((column, row) => {
    return text(left + 20, top + rowMiddle(row) + 4, columns.field[column], palette.text);
  });
  return [
    `<g><title>${escaped(shortened(name))}</title>`,
    `<rect x="${left}" y="${top}" width="${CARD_WIDTH}" height="${bottom - top}" rx="6" fill="${palette.card}" stroke="${palette.border}"/>`,
    text(left + 12, top + HEADER / 2 - 2, label, palette.text, ' font-weight="600"'),
    ...rows,
    "</g>",
  ].join("");
}

function text(x: number, y: number, value: string, color: string, rest = ""): string {
  const short = value.length > NAME ? `${value.slice(0, NAME - 1)}…` : value;
  return `<text x="${x}" y="${y}" fill="${color}"${rest}>${escaped(short)}</text>`;
}

/** Return a text in which nothing is markup, and no character is missing from XML. */
function escaped(value: string): string {
  const valid = value.replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "�");
  return valid.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);
}

/** Return the shown edges as a flowchart of Mermaid, a subgraph for each dataset. */
export function mermaidOf(drawing: Drawing): string {
  const view = shownView(drawing);
  const columnsOf = listsOf(view.columns.dataset, view.datasets.id.length);
  const subgraphs = view.datasets.name.flatMap((name, dataset) => [
    `  subgraph d${dataset}["${quoted(name)}"]`,
    ...Array.from(listOf(columnsOf, dataset), (column) => `    c${column}["${quoted(view.columns.field[column])}"]`),
    "  end",
  ]);
  const arrows = view.edges.input.map((input, edge) => {
    const output = view.edges.output[edge];
    const direct = view.transformations.type[view.edges.transformation[edge]] === "DIRECT";
    return `  c${input} ${direct ? "-->" : "-.->"} ${output < 0 ? `d${-1 - output}` : `c${output}`}`;
  });
  return ["flowchart LR", ...subgraphs, ...new Set(arrows)].join("\n");
}

/** Mermaid reads entities in quoted labels, by number and without `&`. */
function quoted(value: string): string {
  return shortened(value).replace(/[^\p{L}\p{N} ._/:-]/gu, (one) => `#${one.codePointAt(0)};`);
}

/** Return a View of the columns and edges that are shown alone; what is folded is in it one by one. */
export function shownView({ scene }: Drawing): View {
  const { whole, folds } = scene.graph;
  const edges = [...new Set(scene.strands.edges.items)].sort((a, b) => a - b);
  const members = folds.flatMap((fold) => (scene.boxOf[fold.dataset] < 0 ? [] : fold.members));
  const ofFolds = new Set(members);
  const single = scene.cards.filter((card) => card.dataset < whole.datasets.id.length);
  const columns = whole.columns.dataset.flatMap((dataset, column) => (ofFolds.has(dataset) ? [column] : []));
  return partOf(
    whole,
    [...single.map((card) => card.dataset), ...members],
    [...single.flatMap((card) => card.columns), ...columns],
    edges,
  );
}
