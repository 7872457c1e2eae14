import { listOf } from "../../model/graph";
import { describeEdges } from "../describe";
import { trace } from "../drawing/curves";
import type { Drawing } from "../drawing/drawing";
import { SvgPen } from "../export/svgPen";
import { LOOKS } from "../scene/styles";

/** A strand under the pointer, and where the pointer is in the drawing. */
export interface HoveredPlace {
  readonly strand: number;
  readonly x: number;
  readonly y: number;
}

/** The line under the pointer, thick, with what it stands for. */
export function HoveredLine({
  drawing,
  hovered,
}: {
  readonly drawing: Drawing;
  readonly hovered: HoveredPlace | null;
}) {
  if (!hovered || hovered.strand >= drawing.strands.count) return null;
  const { edges, style } = drawing.scene.strands;
  const pen = new SvgPen();
  trace(drawing.strands.curve(hovered.strand), pen);
  const lines = describeEdges(drawing.scene.graph.view, [...listOf(edges, hovered.strand)]);
  return (
    <>
      <svg class="hw-hovered" aria-hidden="true">
        <path d={pen.path} class={`hw-line-${LOOKS[style[hovered.strand]].color}`} />
      </svg>
      <div class="hw-tip" style={{ left: `${hovered.x + 12}px`, top: `${hovered.y + 12}px` }}>
        {lines.map((line) => (
          <p key={line}>{line}</p>
        ))}
      </div>
    </>
  );
}
