import { defineConfig } from "vite";

export default defineConfig({
  // Any folder of a static host will do.
  base: "./",
  build: { target: "es2022", assetsInlineLimit: 0, reportCompressedSize: false },
  worker: { format: "es" },
});
