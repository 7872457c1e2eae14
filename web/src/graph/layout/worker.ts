/** The worker that lays out, so that the page stays alive meanwhile. */

import { layOut } from "./layout";
import type { LayoutRequest } from "./request";

addEventListener("message", ({ data }: MessageEvent<{ id: number; request: LayoutRequest }>) => {
  postMessage({ id: data.id, layout: layOut(data.request) });
});
