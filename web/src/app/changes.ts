/** The stream of changes: what is shown is loaded anew when lineage changes. */

import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, send } from "./api";

const PAUSE = 1000; // milliseconds in which several changes are one
const RETRY = 5000; // milliseconds before a stream that broke is opened again

/**
 * Call a function when lineage changes, as long as the component is shown.
 *
 * EventSource cannot send a key, so the stream is read from a request.
 *
 * @returns what to tell the reader: `live`, or why not.
 */
export function useChanges(on: boolean, changed: () => void): string {
  const [state, setState] = useState("");
  const latest = useRef(changed);
  latest.current = changed;
  useEffect(() => {
    if (!on) return setState("");
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const note = () => {
      clearTimeout(timer);
      timer = setTimeout(() => latest.current(), PAUSE);
    };
    follow(stop.signal, note, setState);
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [on]);
  return state;
}

async function follow(signal: AbortSignal, changed: () => void, show: (state: string) => void): Promise<void> {
  let last = "";
  const read = async () => {
    const answer = await send("api/v2/changes", signal, last ? { "Last-Event-ID": last } : {});
    show("live");
    for await (const { event, id } of eventsOf(answer)) {
      last = id || last;
      if (event === "lineage") changed();
    }
  };
  while (!signal.aborted) {
    const fault: unknown = await read().catch((one: unknown) => one);
    if (signal.aborted) return;
    if (fault) show("not live");
    if (fault instanceof ApiError && fault.status >= 400 && fault.status < 500) return;
    await new Promise((resume) => setTimeout(resume, RETRY));
  }
}

interface StreamEvent {
  readonly event: string;
  readonly id: string;
}

/** Return the events of a stream (HTML, section 9.2.6) without their data. */
async function* eventsOf(answer: Response): AsyncGenerator<StreamEvent> {
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) return;
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? "";
    for (const block of blocks) yield { event: fieldOf(block, "event"), id: fieldOf(block, "id") };
  }
}

function fieldOf(block: string, name: string): string {
  return new RegExp(`^${name}: ?(.*)$`, "m").exec(block)?.[1]?.trim() ?? "";
}
