import { defineConfig } from "vitest/config";

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
  worker: { format: "es" },
  test: { include: ["tests/unit/**/*.test.ts", "tests/unit/**/*.test.tsx"] },
});
