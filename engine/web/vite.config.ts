import { defineConfig } from "vite";

export default defineConfig(({ mode }) => ({
  // Any folder of a static host will do.
  base: "./",
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    // The single file cannot ask for another.
    rolldownOptions: { output: { codeSplitting: mode !== "single" } },
  },
  worker: { format: "es" },
}));
