import { useMemo } from "preact/hooks";
import { ROW_SUBTYPES, VALUE_SUBTYPES } from "../../model/state";
import type { Subtype, View } from "../../model/view";
import { numeral } from "../drawing/text";
import { CAME, GUESS, INDIRECT, LOOKS, MASKING, OPAQUE, STALE, type Style, styleOf, WENT } from "../scene/styles";

export interface LegendProps {
  readonly view: View;
  readonly hidden: readonly Subtype[];
  onHidden(hidden: readonly Subtype[]): void;
}

const SPECIAL = [
  { bit: MASKING, label: "masking" },
  { bit: OPAQUE, label: "opaque" },
  { bit: GUESS, label: "guessed" },
  { bit: STALE, label: "possibly replaced" },
  { bit: CAME, label: "came" },
  { bit: WENT, label: "went" },
];

/** The looks of edges, and the subtypes of the view to choose from, each with its number of edges. */
export function Legend({ view, hidden, onHidden }: LegendProps) {
  const { counts, bits } = useMemo(() => countsOf(view), [view]);
  const toggle = (subtype: Subtype) =>
    onHidden(hidden.includes(subtype) ? hidden.filter((one) => one !== subtype) : [...hidden, subtype]);
  const rows = (subtypes: readonly Subtype[], style: number) =>
    subtypes
      .filter((subtype) => counts.has(subtype))
      .map((subtype) => (
        <label key={subtype} class="hw-legend-item">
          <input type="checkbox" checked={!hidden.includes(subtype)} onChange={() => toggle(subtype)} />
          <Sample look={LOOKS[style]} />
          {subtype} <span class="hw-count">{numeral(counts.get(subtype) ?? 0)}</span>
        </label>
      ));
  return (
    <fieldset class="hw-legend" aria-label="Legend: kinds of edges">
      {rows(VALUE_SUBTYPES, 0)}
      {rows(ROW_SUBTYPES, INDIRECT)}
      {SPECIAL.filter(({ bit }) => bits & bit).map(({ bit, label }) => (
        <span key={label} class="hw-legend-item">
          <Sample look={LOOKS[bit]} />
          {label}
        </span>
      ))}
    </fieldset>
  );
}

function countsOf(view: View): { counts: Map<Subtype, number>; bits: number } {
  const counts = new Map<Subtype, number>();
  let bits = 0;
  view.edges.transformation.forEach((transformation, edge) => {
    const subtype = view.transformations.subtype[transformation];
    counts.set(subtype, (counts.get(subtype) ?? 0) + 1);
    bits |= styleOf(view, edge);
  });
  return { counts, bits };
}

function Sample({ look }: { readonly look: Style }) {
  return (
    <svg class={`hw-sample hw-line-${look.color}`} width="34" height="12" aria-hidden="true">
      <line x1="1" y1="6" x2="33" y2="6" stroke-width={look.width} stroke-dasharray={look.dash.join(" ")} />
      {look.mark === "square" ? <rect x="13" y="2" width="8" height="8" /> : null}
      {look.mark === "ring" ? <circle cx="17" cy="6" r="4" class="hw-ring" /> : null}
      {look.mark === "plus" ? <path d="M15.5 1h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5v-3h3.5z" /> : null}
      {look.mark === "minus" ? <path d="M12 4.5h10v3h-10z" /> : null}
      {look.mark === "diamond" ? <path d="M17 0l6 6-6 6-6-6z" /> : null}
    </svg>
  );
}
