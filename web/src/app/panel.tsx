/** A panel beside the graph; on a narrow screen below it, where it is scrolled to when it opens. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface PanelProps {
  label: string;
  /** The label of the button that closes it. */
  closing: string;
  close: () => void;
  children: ComponentChildren;
}

export function Panel({ label, closing, close, children }: PanelProps) {
  const panel = useRef<HTMLElement>(null);
  useEffect(() => panel.current?.scrollIntoView({ block: "nearest" }), []);
  return (
    <aside class="panel" aria-label={label} ref={panel}>
      <button type="button" class="quiet close" onClick={close} aria-label={closing}>
        ×
      </button>
      {children}
    </aside>
  );
}
