/** A view as one file: the page that the server has for it, with the document of the view inside. */

import type { View } from "../model/view";
import { send } from "./api";
import type { Saved } from "./saved";

/** The end of the empty block for the document. The script below it has this text, too. */
const BLOCK = 'id="saved">';

/**
 * Return an HTML file that shows a view by itself, as `headwater export html` makes it.
 *
 * The document is JSON in ASCII without `<`, so that no name ends its block or turns the direction of text in an editor.
 *
 * @throws ApiError the server is away.
 */
export async function savedFile(view: View): Promise<Blob> {
  const page = await (await send("saved.html")).text();
  const place = page.indexOf(BLOCK) + BLOCK.length;
  const saved: Saved = { view, at: new Date().toISOString() };
  const code = (one: string) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`;
  const text = JSON.stringify(saved).replace(/[<\u007f-\uffff]/g, code);
  return new Blob([page.slice(0, place), text, page.slice(place)], { type: "text/html" });
}
