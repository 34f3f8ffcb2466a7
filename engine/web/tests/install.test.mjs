// The page as an installable app and as a single file.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, afterEach, before, test } from "node:test";
import { clickMove, newGame, open, openTab, sans, skip, visit, waitForMoves } from "./browser.mjs";

let site;
before(async () => (site = await open()));
afterEach(() => site.leave());
after(() => site.close());

test("the page can be installed as an app", async () => {
  const { page, context, errors } = await visit(site);
  await page.evaluate(() => navigator.serviceWorker.ready);
  const session = await context.newCDPSession(page);
  const { errors: faults, data } = await session.send("Page.getAppManifest");
  assert.deepEqual(faults, []);
  const { installabilityErrors } = await session.send("Page.getInstallabilityErrors");
  // Test contexts are private, which must be the only obstacle to installing.
  assert.deepEqual(installabilityErrors.map(({ errorId }) => errorId), ["in-incognito"]);
  for (const { src, sizes, type } of JSON.parse(data).icons) {
    const icon = await page.evaluate(async (src) => {
      const image = new Image();
      image.src = src;
      await image.decode();
      return [image.naturalWidth, image.naturalHeight];
    }, src);
    if (type === "image/png") assert.deepEqual(icon, sizes.split("x").map(Number));
  }
  assert.deepEqual(errors, []);
});

const WHOLE = new URL("../dist/kibitz.html", import.meta.url);
const missing = !existsSync(WHOLE) && skip("the single file wants build.sh --single-file");

test("one file, opened from the disk, is the whole page", { skip: missing }, async () => {
  const { page, errors } = await visit({ ...site, url: WHOLE.href });
  await newGame(page, { mode: "kibitz", color: "white", strength: "elo", slider: 8 });
  await clickMove(page, "e2", "e4");
  await waitForMoves(page, 2);
  assert.equal((await sans(page))[0], "e4");
  // Its parts are inline, and allowed by their hashes.
  const policy = await page.getAttribute("meta[http-equiv=Content-Security-Policy]", "content");
  assert.match(policy, /script-src 'sha256-\S+' 'sha256-\S+' 'wasm-unsafe-eval'; worker-src blob:; style-src( 'sha256-\S+'){3};/);
  assert.doesNotMatch(policy, /unsafe-inline|'unsafe-eval'|https?:/);
  await page.waitForFunction(() => document.getElementById("opening").textContent !== "");
  // Piece sets and nets that a host sends when they are chosen are part of the file.
  await page.click("#colours");
  await page.click("#menu button:has-text('Pieces')");
  await page.click("#menu button:has-text('Merida')");
  assert.match(await page.$eval("#ground piece", (piece) => getComputedStyle(piece).backgroundImage), /^url\("data:image\/svg\+xml,/);
  assert.equal(await page.evaluate(() => document.querySelectorAll("link[rel=stylesheet]").length), 0);
  // The tour has no links, since the single file has no docs; matches work.
  await newGame(page, { mode: "analysis" });
  await openTab(page, "net");
  for (const [net, neurons] of [["games1191.safetensors", "451"], ["default", "512"]]) {
    await page.selectOption("#evaluator", net);
    await page.waitForFunction((neurons) => document.getElementById("evaluator-note").textContent.includes(neurons), neurons);
  }
  await openTab(page, "inside");
  await page.click(".tour button");
  for (let step = 1; step < 7; step += 1) {
    assert.equal(await page.locator(".tour a").count(), 0);
    await page.click(".tour button:has-text('Next')");
  }
  await openTab(page, "match");
  await page.selectOption("#match-strength", "1000 nodes");
  await page.click("#panel-match button:has-text('Start the match')");
  await waitForMoves(page, 10);
  const asked = await page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => name).filter((name) => !/^(data|blob):/.test(name)));
  assert.deepEqual(asked, []);
  assert.deepEqual(errors, []);
});
