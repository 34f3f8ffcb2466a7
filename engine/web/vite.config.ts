import { type Plugin, defineConfig } from "vite";
import { POLICY, policyMeta } from "./scripts/policy.mjs";

/** Adds the Content-Security-Policy to the built page; the development server needs inline styles. */
const policy: Plugin = {
  name: "policy",
  apply: "build",
  transformIndexHtml: (html) => html.replace("<head>", () => `<head>\n    ${policyMeta(POLICY)}`),
};

/** Writes the SVG pieces of chessground's style as text, which compresses by more than base64. */
const pieces: Plugin = {
  name: "pieces",
  enforce: "pre",
  transform(code, id) {
    if (!id.endsWith("cburnett.css")) return null;
    return code.replace(/data:image\/svg\+xml;base64,([^'")]+)/g, (_, text) => {
      const svg = Buffer.from(text, "base64").toString().replaceAll('"', "%22").replaceAll("'", "%27");
      return `data:image/svg+xml,${svg.replaceAll("#", "%23").replaceAll("<", "%3C").replaceAll(">", "%3E").replace(/\s+/g, " ")}`;
    });
  },
};

export default defineConfig(({ mode }) => ({
  // Any folder of a static host will do.
  base: "./",
  plugins: [policy, pieces],
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    // The single file cannot ask for another.
    rolldownOptions: { output: { codeSplitting: mode !== "single" } },
  },
  worker: { format: "es" },
}));
