/** The colours of the drawing, as the page's style sheet has them: `--hw-…`. */

const NAMES = [
  "canvas",
  "card",
  "border",
  "text",
  "muted",
  "accent",
  "direct",
  "indirect",
  "masking",
  "opaque",
  "stale",
  "came",
  "went",
] as const;

export type Palette = Readonly<Record<(typeof NAMES)[number], string>>;

/** Return the colours that an element inherits, resolved for its scheme: `light-dark()` is no colour to a canvas. */
export function paletteOf(element: Element): Palette {
  const probe = document.createElement("i");
  element.append(probe);
  const style = getComputedStyle(probe);
  const entries = NAMES.map((name) => {
    probe.style.color = `var(--hw-${name})`;
    return [name, style.color];
  });
  probe.remove();
  return Object.fromEntries(entries) as Palette;
}
