import { createHash } from "node:crypto";
import type { Plugin } from "vite";

/**
 * Add `saved.html` to a build: the page with its script, workers and styles inside, for a view that is saved as one file.
 *
 * The document of the view is written into the empty block `saved`, which no browser runs. Nothing runs but what has one
 * of the two digests, and nothing is loaded at all; workers come from blocks of the page.
 */
export function savedPage(): Plugin {
  return {
    name: "saved-page",
    enforce: "post",
    generateBundle(_options, bundle) {
      const text = (pattern: RegExp) => {
        const [file, ...more] = Object.values(bundle).filter((one) => pattern.test(one.fileName));
        if (!file || more.length > 0) throw new Error(`Expected one file ${pattern} in the build.`);
        const content = file.type === "chunk" ? file.code : String(file.source);
        if (/<\/(script|style)|<!--/i.test(content)) throw new Error(`${file.fileName} cannot stand in a page.`);
        return content;
      };
      const [script, style] = [text(/index-.*\.js$/), text(/index-.*\.css$/)];
      const workers = ["layout", "drawing"].map(
        (name) => `<script type="text/plain" data-worker="${name}">${text(new RegExp(`${name}-.*\\.js$`))}</script>`,
      );
      const policy = [
        "default-src 'none'",
        `script-src ${digest(script)}`,
        `style-src ${digest(style)}`,
        "img-src data: blob:",
        "worker-src blob:",
        "base-uri 'none'",
        "form-action 'none'",
      ].join("; ");
      const source = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="${policy}" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>headwater</title>
    <script type="application/json" id="saved"></script>
    ${workers.join("\n    ")}
    <style>${style}</style>
  </head>
  <body>
    <div id="app"><noscript>The lineage is drawn by a script, which does not run here.</noscript></div>
    <script type="module">${script}</script>
  </body>
</html>
`;
      this.emitFile({ type: "asset", fileName: "saved.html", source });
    },
  };
}

function digest(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
