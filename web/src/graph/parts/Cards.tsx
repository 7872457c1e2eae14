import type { Path } from "../../model/path";
import type { Drawing } from "../drawing/drawing";
import { lastPart, shortened } from "../drawing/text";
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
export function Cards({ drawing, boxes, ...rest }: CardsProps) {
  const { scene } = drawing;
  const inSight = boxes.filter((box) => box < drawing.boxes.length);
  return (
    <>
      {inSight.map((box) => {
        const card = scene.cards[box];
        const rect = drawing.boxes[box];
        if (!card) return <JobBox key={`job ${scene.jobs[box - scene.cards.length]}`} {...{ drawing, box }} />;
        return <DatasetCard key={card.dataset} graph={scene.graph} {...{ card, rect }} {...rest} />;
      })}
    </>
  );
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
