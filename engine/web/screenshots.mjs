// Takes the pictures of docs/web: run `node screenshots.mjs` after build.sh.
import { mkdir, readFile } from "node:fs/promises";
import { open, openTab, readPgn, visit } from "./tests/browser.mjs";

const docs = new URL("../../docs/web/", import.meta.url);
await mkdir(docs, { recursive: true });
const site = await open();
const GAME = "#moves=e2e4,e7e5,g1f3,b8c6,f1c4,f8c5,b2b4,c5b4,c2c3,b4a5,d2d4,e5d4,e1g1,d7d6,c3d4,a5b6";

async function picture(name, options, prepare) {
  const { page, context } = await visit(site, { path: GAME, colorScheme: "light", ...options });
  await page.waitForFunction(() => document.getElementById("opening").textContent !== "");
  await prepare(page);
  await page.evaluate(() => scrollTo(0, 0));
  await page.waitForTimeout(500);
  await page.screenshot({ path: new URL(`${name}.png`, docs).pathname });
  await context.close();
}

const analyse = async (page, lines) => {
  await page.selectOption("#lines", lines);
  await page.check("#analyse");
  await page.waitForFunction(() => Number(/^Depth (\d+)/.exec(document.getElementById("speed").textContent)?.[1]) >= 14, null, { timeout: 120_000 });
};

await picture("desktop", {}, (page) => analyse(page, "3"));
await picture("dark", { colorScheme: "dark" }, (page) => openTab(page, "net"));
await picture("phone", { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true }, (page) => analyse(page, "1"));
await picture("inside", { viewport: { width: 1280, height: 1200 } }, async (page) => {
  await openTab(page, "inside");
  await page.waitForSelector(".inside-value b");
});
await picture("study", {}, async (page) => {
  await readPgn(page, await readFile(new URL("tests/pgn/lichess.pgn", import.meta.url), "utf8"));
  await openTab(page, "report");
  await page.click("#review");
  await page.waitForSelector("#reviewed:not([hidden])", { timeout: 120_000 });
  await page.click(".player-card .count:enabled");
});
await site.close();
