// Sizes and places: what is in sight on desktops, phones and at a large zoom.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { newGame, open, openTab, readPgn, visit } from "./browser.mjs";

let site;
before(async () => (site = await open()));
afterEach(() => site.leave());
after(() => site.close());

const phone = (width, height) => ({ viewport: { width, height }, isMobile: true, hasTouch: true });
const LONG = Array.from({ length: 60 }, (_, index) => `${index + 1}. ${index % 2 ? "Ng1 Ng8" : "Nf3 Nf6"}`).join(" ");

test("the list of moves has ten rows beside the engine, and a long game or panel moves the board nowhere", async () => {
  const { page } = await visit(site);
  await readPgn(page, `${LONG} *`);
  const rows = await page.$eval("#moves", (list) => list.clientHeight / list.querySelector("li").offsetHeight);
  assert.ok(rows >= 10, `${rows} rows`);
  const before = await page.locator("#board").boundingBox();
  for (const tab of ["report", "inside", "net", "games"]) {
    await openTab(page, tab);
    assert.deepEqual(await page.locator("#board").boundingBox(), before, tab);
    assert.ok(await page.evaluate(() => document.documentElement.scrollHeight <= innerHeight), tab);
  }
});

test("on a phone all that a game needs is in sight, with the navigation under the board and no field to type in", async () => {
  const { page } = await visit(site, phone(390, 844));
  await newGame(page, { mode: "people" });
  for (const id of ["player-top", "board", "player-bottom", "next", "undo", "flip", "draw", "resign", "status", "moves"]) {
    const { y, height } = await page.locator(`#${id}`).boundingBox();
    assert.ok(y >= 0 && y + height <= 844, `${id}: ${y} to ${y + height}`);
  }
  assert.ok(await page.isHidden("#move-text"));
  const bottom = async (id) => {
    const { y, height } = await page.locator(id).boundingBox();
    return y + height;
  };
  const { y } = await page.locator("#next").boundingBox();
  assert.ok(y - (await bottom("#player-bottom")) < 12);
});

test("on a phone on its side the whole board is in sight, with clocks, navigation and moves beside it", async () => {
  const { page } = await visit(site, phone(844, 390));
  await newGame(page, { mode: "people", clock: "5+3" });
  for (const id of ["board", "player-top", "player-bottom", "next", "resign", "status"]) {
    const { y, height } = await page.locator(`#${id}`).boundingBox();
    assert.ok(y >= 0 && y + height <= 390, `${id}: ${y} to ${y + height}`);
  }
  // The board stays while the rest scrolls.
  await page.evaluate(() => scrollTo(0, 400));
  const { y, height } = await page.locator("#board").boundingBox();
  assert.ok(y >= 0 && y + height <= 390, `${y} to ${y + height}`);
});

test("at a zoom of 200 % the board is as large as at 100 %", async () => {
  for (const [width, height] of [[1280, 860], [1920, 1080], [1366, 768], [1440, 900], [1024, 768]]) {
    const size = async (scale) => {
      const { page, context } = await visit(site, { viewport: { width: width / scale, height: height / scale }, deviceScaleFactor: scale });
      const board = await page.locator("#board").boundingBox();
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, `${width} x ${height} by ${scale}: ${wide} too wide`);
      await context.close();
      return board.width * scale;
    };
    const [once, twice] = [await size(1), await size(2)];
    assert.ok(twice >= once, `${width} x ${height}: ${once} and ${twice} pixels`);
  }
});

test("a wide screen shows moves and panels side by side", async () => {
  const { page } = await visit(site, { viewport: { width: 1920, height: 1080 } });
  const [moves, panels] = [await page.locator("#game-card").boundingBox(), await page.locator("#panels").boundingBox()];
  assert.ok(panels.x > moves.x + moves.width);
  assert.ok(moves.height > 900);
  assert.ok(panels.x + panels.width > 1850);
});
