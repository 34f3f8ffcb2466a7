// What the browser keeps for the page: damaged, of another version, forbidden, shared by tabs.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { newGame, open, reload, type, visit, waitForMoves } from "./browser.mjs";

let site;
before(async () => (site = await open()));
afterEach(() => site.leave());
after(() => site.close());

test("a new version is taken whole, and pages of the one before keep their files", async () => {
  // As many hosts do: the browser may use a file again without asking.
  site.headers["cache-control"] = "max-age=600";
  const { page } = await visit(site, {
    init: () => navigator.serviceWorker.addEventListener("controllerchange", () => (globalThis.newVersion = true)),
  });
  await page.waitForFunction(() => globalThis.newVersion);
  const first = await page.evaluate(async () => (await caches.keys()).find((key) => key.startsWith("kibitz-")));
  site.change(/index\.html$/, (body) => String(body).replace("<title>", "<title>New "));
  site.change(/\/assets\/worker-.*\.js$/, () => null);
  site.change(/\/sw\.js$/, (body) => String(body).replace(first.replace("kibitz-", ""), "new").replace(/"assets\/worker-[^"]*",/, ""));
  // The reload is served by the version before, and has the browser find the new one.
  await reload(page);
  await page.waitForFunction(() => globalThis.newVersion);
  assert.doesNotMatch(await page.title(), /^New/);
  const session = await page.context().newCDPSession(page);
  await session.send("Network.clearBrowserCache");
  await newGame(page, { mode: "kibitz", color: "white", strength: "easy" });
  await type(page, "e4");
  await waitForMoves(page, 2);
  await reload(page);
  assert.match(await page.title(), /^New/);
});

test("a browser that has no room left fetches what it cannot keep", async () => {
  const { page, context } = await visit(site);
  await page.evaluate(() => navigator.serviceWorker.ready);
  await reload(page);
  await page.waitForFunction(() => navigator.serviceWorker.controller);
  const session = await context.newCDPSession(page);
  await session.send("Storage.overrideQuotaForOrigin", { origin: site.url.replace(/\/$/, ""), quotaSize: 1 });
  await page.click("#tab-net");
  await page.waitForSelector("#brain option[value='games1191.safetensors']", { state: "attached" });
  await page.selectOption("#brain", "games1191.safetensors");
  await page.waitForFunction(() => document.getElementById("brain-note").textContent.includes("451"));
});
