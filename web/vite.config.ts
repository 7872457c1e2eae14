import { basename, dirname } from "node:path";
import { defineConfig } from "vitest/config";
import { savedPage } from "./savedPage.ts";

export default defineConfig({
  // Relative addresses, so that the page also works below a proxy's path.
  base: "./",
  build: {
    outDir: "../src/headwater/server/page/dist",
    emptyOutDir: true,
    target: "es2023",
    // Inlined files would be data: addresses, which the Content-Security-Policy forbids.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  plugins: [savedPage()],
  worker: {
    format: "es",
    rolldownOptions: {
      // Each worker is called as its folder.
      output: { entryFileNames: ({ facadeModuleId }) => `assets/${basename(dirname(facadeModuleId ?? ""))}-[hash].js` },
    },
  },
  test: { include: ["tests/unit/**/*.test.ts", "tests/unit/**/*.test.tsx"] },
});
