import { defineConfig } from "vite";

export default defineConfig({
  root: import.meta.dirname,
  base: "./",
  build: {
    outDir: "../../build/bench-web",
    emptyOutDir: true,
    target: "es2023",
    rolldownOptions: { input: ["ours.html", "xyflow.html"].map((page) => `${import.meta.dirname}/${page}`) },
  },
  worker: { format: "es" },
});
