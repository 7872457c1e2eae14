/** Names and counts as the drawing shows them. */

import type { DatasetTable } from "../../model/view";

/** The longest text that is measured or put into the page; the whole is in the title of what shows it. */
const LONGEST = 200;

/** Return the last part of a name that is a path. */
export function lastPart(name: string): string {
  return shortened(name.replace(/\/+$/, "").split("/").pop() || name);
}

/** Return the end of a dataset's name that sets it apart from the others of the view. */
export function datasetLabel(datasets: DatasetTable, dataset: number): string {
  let labels = labelsOf.get(datasets);
  if (!labels) {
    labels = endingsApart(datasets).map(shortened);
    labelsOf.set(datasets, labels);
  }
  return labels[dataset];
}

const labelsOf = new WeakMap<DatasetTable, readonly string[]>();

/** Return as many last parts of each dataset's path as set it apart from the others; the first part is the namespace. */
export function endingsApart({ name, namespace }: Pick<DatasetTable, "name" | "namespace">): string[] {
  const parts = name.map((one) => (/[^/]/.test(one) ? one.split("/").filter(Boolean) : [one]));
  const lengths = name.map(() => 1);
  const label = (one: string, i: number) =>
    lengths[i] > parts[i].length ? `${namespace[i]}/${one}` : parts[i].slice(-lengths[i]).join("/");
  for (let labels = name.map(label); ; labels = name.map(label)) {
    const counts = new Map<string, number>();
    for (const one of labels) counts.set(one, (counts.get(one) ?? 0) + 1);
    const alike = labels.flatMap((one, i) => ((counts.get(one) ?? 0) > 1 && lengths[i] <= parts[i].length ? [i] : []));
    if (alike.length === 0) return labels;
    for (const i of alike) lengths[i]++;
  }
}

/** Return a name with at most 200 characters; the ellipsis stands for the rest. */
export function shortened(name: string): string {
  return name.length <= LONGEST ? name : `${name.slice(0, LONGEST)}…`;
}

// One for all: to make one, as `toLocaleString` does for each number, takes as long as to render a card.
const NUMBERS = new Intl.NumberFormat("en");

/** Return a number with its thousands apart. */
export function numeral(value: number): string {
  return NUMBERS.format(value);
}

/** Return a count in words: `1 column`, `1,000 columns`. */
export function counted(count: number, thing: string): string {
  return `${numeral(count)} ${thing}${count === 1 ? "" : "s"}`;
}

interface Measure {
  measureText(text: string): { readonly width: number };
}

/** Return a name as at most so many lines, broken behind the marks that join its parts; each line is cut to the width. */
export function wrapped(context: Measure, text: string, width: number, most: number): string[] {
  const lines = [""];
  for (const part of shortened(text).split(/(?<=[/_.:\s-])/)) {
    const line = lines[lines.length - 1];
    const fits = context.measureText(line + part).width <= width;
    if (fits || line === "" || lines.length === most) lines[lines.length - 1] = line + part;
    else lines.push(part);
  }
  return lines.map((line) => fitting(context, line, width));
}

/** Return a text cut with an ellipsis to a width in pixels. */
export function fitting(context: Measure, text: string, width: number): string {
  const short = shortened(text);
  if (context.measureText(short).width <= width) return short;
  let [low, high] = [0, short.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (context.measureText(`${short.slice(0, middle)}…`).width <= width) low = middle;
    else high = middle - 1;
  }
  return `${short.slice(0, low)}…`;
}
