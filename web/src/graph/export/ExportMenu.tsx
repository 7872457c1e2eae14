import { useRef } from "preact/hooks";
import type { GraphState } from "../../model/state";
import type { Drawing } from "../drawing/drawing";
import { paletteOf } from "../drawing/palette";
import { pngOf } from "./png";
import { mermaidOf, shownView, svgOf } from "./svg";

export interface ExportMenuProps {
  readonly drawing: Drawing;
  readonly state: GraphState;
}

/** Saves what is shown as a file. */
export function ExportMenu({ drawing }: ExportMenuProps) {
  const menu = useRef<HTMLDetailsElement>(null);
  const save = async (extension: string, content: () => Blob | string | Promise<Blob>) => {
    if (menu.current) menu.current.open = false;
    const made = await content();
    download(`lineage.${extension}`, typeof made === "string" ? new Blob([made]) : made);
  };
  const palette = () => paletteOf(menu.current as Element);
  return (
    <details ref={menu} class="hw-menu">
      <summary>Export</summary>
      <div class="hw-menu-items">
        <button type="button" onClick={() => save("png", () => pngOf(drawing, palette()))}>
          PNG
        </button>
        <button type="button" onClick={() => save("svg", () => svgOf(drawing, palette()))}>
          SVG
        </button>
        <button type="button" onClick={() => save("mmd", () => mermaidOf(drawing))}>
          Mermaid
        </button>
        <button type="button" onClick={() => save("json", () => JSON.stringify(shownView(drawing)))}>
          JSON
        </button>
      </div>
    </details>
  );
}

function download(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
