/** The page's side of the worker that paints: the newest frame that is wanted, one at a time. */

import { startWorker } from "../startWorker";
import type { Drawing } from "./drawing";
import type { Frame, Look } from "./painter";
import { counted, datasetLabel, lastPart } from "./text";
import type { Message } from "./worker";

/** A bitmap and the frame that it shows. */
export type OnPainted = (bitmap: ImageBitmap, frame: Frame) => void;

export class PaintWorker {
  private readonly worker = startWorker(
    "drawing",
    () => new Worker(new URL("./worker.ts", import.meta.url), { type: "module" }),
  );
  private painting: Frame | null = null;
  private wanted: Frame | null = null;
  private look: Look | null = null;

  constructor(onPainted: OnPainted) {
    this.worker.onmessage = ({ data }: MessageEvent<ImageBitmap>) => {
      const frame = this.painting;
      this.painting = null;
      if (frame) onPainted(data, frame);
      if (this.wanted) this.paint(this.wanted);
    };
  }

  /** Show another drawing from the next frame on. */
  show({ scene, strands, bundles, boxes, bands }: Drawing): void {
    const { datasets, jobs } = scene.graph.view;
    const titles = [
      ...scene.cards.map((card) => datasetLabel(datasets, card.dataset)),
      ...scene.jobs.map((job) => lastPart(jobs.name[job])),
    ];
    const counts = boxes.map((_, box) => (scene.cards[box] ? counted(scene.cards[box].columns.length, "column") : ""));
    this.post({ picture: { strands: strands.arrays, bundles: bundles.arrays, boxes, titles, counts, bands } });
  }

  /** Paint a frame as soon as the one before is done; of several that wait the last. */
  paint(frame: Frame): void {
    if (this.painting) {
      this.wanted = frame;
      return;
    }
    this.wanted = null;
    this.painting = frame;
    const { palette, lit, ...place } = frame;
    // What is lit are flags of all lines, which need not pass with each frame.
    if (palette !== this.look?.palette || lit !== this.look.lit) {
      this.look = { palette, lit };
      this.post({ look: this.look });
    }
    this.post({ frame: place });
  }

  close(): void {
    this.worker.terminate();
  }

  private post(message: Message): void {
    this.worker.postMessage(message);
  }
}
