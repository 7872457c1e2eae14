import { onPath, type Path } from "../../model/path";
import type { Drawing } from "../drawing/drawing";
import { lastPart, shortened } from "../drawing/text";
import type { Card } from "../scene/cards";
import { type CardActions, DatasetCard } from "./DatasetCard";

export interface CardsProps {
  readonly drawing: Drawing;
  /** The boxes in sight. */
  readonly boxes: readonly number[];
  readonly lit: Path | null;
  readonly selected: number;
  readonly active: number;
  readonly actions: CardActions;
}

/** The cards and jobs in sight: elements for what can be seen alone, however large the drawing is. */
export function Cards({ drawing, boxes, lit, selected, active, actions }: CardsProps) {
  const { scene } = drawing;
  const inSight = boxes.filter((box) => box < drawing.boxes.length);
  return (
    <>
      {inSight.map((box) => {
        const card = scene.cards[box];
        const rect = drawing.boxes[box];
        if (!card) return <JobBox key={`job ${scene.jobs[box - scene.cards.length]}`} {...{ drawing, box }} />;
        const has = (column: number) => column === selected || column === active;
        return (
          <DatasetCard
            key={card.dataset}
            graph={scene.graph}
            {...{ card, rect, actions }}
            selected={card.columns.some(has) ? selected : -1}
            active={card.columns.some(has) ? active : -1}
            lit={lit ? litRows(card, lit) : ""}
          />
        );
      })}
    </>
  );
}

/** Return a 1 for the card and one for each row on a path, a 0 for each other row; empty where the path does not pass. */
function litRows({ columns, rows }: Card, lit: Path): string {
  if (!columns.some((column) => onPath(lit, column))) return "";
  return `1${rows.map((column) => (onPath(lit, column) ? 1 : 0)).join("")}`;
}

function JobBox({ drawing, box }: { readonly drawing: Drawing; readonly box: number }) {
  const { scene } = drawing;
  const { jobs } = scene.graph.view;
  const job = scene.jobs[box - scene.cards.length];
  const rect = drawing.boxes[box];
  return (
    <div
      class="hw-job"
      style={{ left: `${rect.left}px`, top: `${rect.top}px`, height: `${rect.bottom - rect.top}px` }}
      title={shortened(`${jobs.name[job]}\n${jobs.namespace[job]}`)}
    >
      <bdi>{lastPart(jobs.name[job])}</bdi>
    </div>
  );
}
