/** The page's side of the worker that lays out. */

import { startWorker } from "../startWorker";
import type { Layout, LayoutRequest } from "./request";

interface Pending {
  readonly resolve: (layout: Layout) => void;
  readonly reject: (error: Error) => void;
}

/** A worker that lays out one request after the other. */
export class LayoutWorker {
  private readonly worker = startWorker(
    "layout",
    () => new Worker(new URL("./worker.ts", import.meta.url), { type: "module" }),
  );
  private readonly pending = new Map<number, Pending>();
  private next = 0;

  constructor() {
    this.worker.onmessage = ({ data }: MessageEvent<{ id: number; layout: Layout }>) => {
      this.pending.get(data.id)?.resolve(data.layout);
      this.pending.delete(data.id);
    };
    this.worker.onerror = (event) => {
      for (const one of this.pending.values()) one.reject(new Error(event.message || "The layout failed."));
      this.pending.clear();
    };
  }

  /** Return the layout of a request; rejects with the worker's error. */
  layOut(request: LayoutRequest): Promise<Layout> {
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve, reject });
      this.worker.postMessage({ id, request });
    });
  }

  close(): void {
    this.worker.terminate();
  }
}
