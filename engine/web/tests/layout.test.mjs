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

/** Asserts that elements are wholly on a screen of that height. */
async function inSight(page, height, ...selectors) {
  for (const selector of selectors) {
    const { y, height: high } = await page.locator(selector).boundingBox();
    assert.ok(y >= 0 && y + high <= height, `${selector}: ${y} to ${y + high} of ${height}`);
  }
}

test("on a phone a puzzle's task is in sight with the board", async () => {
  for (const [width, height] of [[390, 664], [844, 390]]) {
    const { page } = await visit(site, phone(width, height));
    await readPgn(page, '[White "A"]\n[Black "Me"]\n\n1. e4 e5 2. Qh5 Ke7 3. Qxe5# 1-0');
    await page.click("#tab-puzzles");
    await page.click("#find-pgn");
    await page.click("#puzzle-next:enabled");
    await page.waitForSelector(".quiz");
    await page.evaluate(() => scrollTo(0, 0));
    assert.equal(await page.textContent("#status"), "Puzzle: find Black’s best move");
    await inSight(page, height, "#status", "#board", "#puzzle-told", "#puzzle-hint", "#puzzle-next");
  }
});

test("on a phone a line of the analysis is in sight with the board, and annotations are folded", async () => {
  for (const [width, height] of [[390, 664], [844, 390]]) {
    const { page } = await visit(site, { path: "#moves=e2e4,e7e5", ...phone(width, height) });
    await page.check("#analyse");
    await page.waitForSelector("#line .pv .word");
    await page.evaluate(() => scrollTo(0, 0));
    await inSight(page, height, "#board", "#line .score", "#line .pv");
    assert.ok(await page.isHidden("#comment"));
    await page.click("#annotate");
    assert.ok(await page.isVisible("#comment"));
  }
});

test("on a phone targets are large enough for a finger", async () => {
  const { page } = await visit(site, { path: "#moves=e2e4,e7e5", ...phone(390, 844) });
  const small = (within, least) => page.$$eval(`${within} :is(button, select, label.switch)`, (targets, least) =>
    targets.filter((target) => target.checkVisibility() && target.offsetHeight < least).map((target) => target.id || target.className || target.textContent), least);
  for (const within of ["header", ".table", ".game-head", "#panels"]) assert.deepEqual(await small(within, 44), [], within);
  assert.deepEqual(await small("#moves", 40), []);
  await openTab(page, "inside");
  await page.waitForSelector(".put");
  const tiles = await page.$$eval(".put", (tiles) => tiles.map(({ offsetWidth, offsetHeight }) => Math.min(offsetWidth, offsetHeight)));
  assert.ok(Math.min(...tiles) >= 44, String(tiles));
});

test("on a phone captured pieces give way, and ratings do not", async () => {
  const { page } = await visit(site, phone(390, 844));
  await readPgn(page, `[White "A"]\n[Black "SomebodyWithALongName"]\n[BlackElo "1336"]\n[TimeControl "180+2"]\n\n1. e4 { [%clk 0:02:59] } d5 { [%clk 0:02:50] } 2. exd5 Qxd5 3. Nc3 Qxg2 4. Bxg2 e6 5. Bxb7 Bxb7 6. Nf3 Bxf3 7. Qxf3 Bb4 8. Qxf7+ Kxf7 9. Nb5 Bxd2+ 10. Bxd2 *`);
  await page.click("#last");
  const cut = await page.$eval("#player-top .note", (note) => note.scrollWidth - note.clientWidth);
  assert.equal(cut, 0);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
});

test("on a phone the board stays in sight above a tab, and the moves are one line until something is said of them", async () => {
  const { page } = await visit(site, { path: "#moves=e2e4,e7e5,g1f3,b8c6,f1c4,f8c5,b2b4,c5b4,c2c3,b4a5,d2d4,e5d4", ...phone(390, 844) });
  const boxes = () => page.$$eval("#moves button", (moves) => moves.map((move) => move.getBoundingClientRect().y));
  assert.equal(new Set(await boxes()).size, 1);
  const within = await page.$eval("#moves", (list) => {
    const [move, box] = [list.querySelector("[aria-current]").getBoundingClientRect(), list.getBoundingClientRect()];
    return move.left >= box.left && move.right <= box.right;
  });
  assert.ok(within, "the move looked at is out of sight");
  await page.click("#tab-why");
  await page.waitForSelector(".choices p:nth-child(2)");
  await inSight(page, 844, "#board", "#bar", "#tab-why", "#panel-why h2 >> nth=0");
  await page.evaluate(() => scrollTo(0, 0));
  await page.click("#annotate");
  await page.fill("#comment", "A gambit accepted");
  // A keyboard takes the board's place.
  assert.equal(await page.$eval(".board-row", (row) => getComputedStyle(row).position), "static");
  await page.$eval("#comment", (comment) => comment.blur());
  assert.equal(await page.$eval(".board-row", (row) => getComputedStyle(row).position), "sticky");
  await page.waitForSelector("#moves .aside:has-text('A gambit accepted')");
  assert.ok(new Set(await boxes()).size > 1);
});

test("what is replaced is offered back beside the board, not over it", async () => {
  const { page } = await visit(site, { path: "#moves=e2e4,e7e5", ...phone(844, 390) });
  await readPgn(page, "1. d4 d5 *");
  const [offer, board] = [await page.locator("#offer").boundingBox(), await page.locator("#board").boundingBox()];
  assert.ok(offer.x >= board.x + board.width && offer.x + offer.width <= 844, `${offer.x} to ${offer.x + offer.width}`);
});
