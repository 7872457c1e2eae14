import { useRef } from "preact/hooks";
import type { View } from "../../model/view";
import type { Drawing } from "../drawing/drawing";
import { paletteOf } from "../drawing/palette";
import { pngOf } from "./png";
import { saveBlob } from "./saveBlob";
import { mermaidOf, shownView, svgOf } from "./svg";

export interface ExportMenuProps {
  readonly drawing: Drawing;
  /** Makes a file that shows a view by itself. Null where the page is such a file. */
  readonly saved: ((view: View) => Promise<Blob>) | null;
}

/** Saves what is shown as a file. */
export function ExportMenu({ drawing, saved }: ExportMenuProps) {
  const menu = useRef<HTMLDetailsElement>(null);
  const save = async (extension: string, content: () => Blob | string | Promise<Blob>) => {
    if (menu.current) menu.current.open = false;
    const made = await content();
    saveBlob(typeof made === "string" ? new Blob([made]) : made, `lineage.${extension}`);
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
        {saved ? (
          <button type="button" onClick={() => save("html", () => saved(shownView(drawing)))}>
            HTML
          </button>
        ) : null}
      </div>
    </details>
  );
}
