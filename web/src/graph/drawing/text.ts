/** Names as the drawing shows them. */

/** The longest text that is measured or put into the page; the whole is in the title of what shows it. */
const LONGEST = 200;

/** Return the end of a dataset's name that sets it apart from its neighbours: paths begin alike. */
export function lastPart(name: string): string {
  return shortened(name.replace(/\/+$/, "").split("/").pop() || name);
}

/** Return a name with at most 200 characters; the ellipsis stands for the rest. */
export function shortened(name: string): string {
  return name.length <= LONGEST ? name : `${name.slice(0, LONGEST)}…`;
}

interface Measure {
  measureText(text: string): { readonly width: number };
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
