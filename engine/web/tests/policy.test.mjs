// The Content-Security-Policy: no scripts but the page's own, no other hosts.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, afterEach, before, test } from "node:test";
import { open, visit } from "./browser.mjs";

let site;
before(async () => (site = await open()));
afterEach(() => site.leave());
after(() => site.close());

const policyOf = (page) => page.getAttribute("meta[http-equiv=Content-Security-Policy]", "content");

test("the policy names no other host, and lets nothing be evaluated but WebAssembly", async () => {
  const { page } = await visit(site);
  const directives = Object.fromEntries((await policyOf(page)).split("; ").map((directive) => [directive.split(" ")[0], directive.split(" ").slice(1)]));
  assert.deepEqual(directives["default-src"], ["'none'"]);
  assert.deepEqual(directives["script-src"], ["'self'", "'wasm-unsafe-eval'"]);
  assert.deepEqual(directives["style-src"], ["'self'"]);
  for (const [name, sources] of Object.entries(directives)) {
    for (const source of sources) assert.ok(["'none'", "'self'", "'wasm-unsafe-eval'", "data:"].includes(source), `${name} ${source}`);
  }
  const html = await readFile(new URL("../dist/index.html", import.meta.url), "utf8");
  assert.doesNotMatch(html, /<script(?![^>]* src=)|<style| style=| on\w+=/);
});

test("inline scripts, inline styles and other hosts are refused", async () => {
  const { page } = await visit(site);
  const refused = await page.evaluate(async () => {
    const names = [];
    document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) => names.push(effectiveDirective));
    const script = document.createElement("script");
    script.textContent = "document.title = 'broken'";
    const style = document.createElement("style");
    style.textContent = "body { color: red }";
    document.head.append(script, style);
    await fetch("https://example.org/").catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 100));
    return names;
  });
  assert.deepEqual(refused.sort(), ["connect-src", "script-src-elem", "style-src-elem"]);
  assert.doesNotMatch(await page.title(), /broken/);
});
