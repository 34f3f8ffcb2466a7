// Keys, menus, signs and messages.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { clickMove, copied, mainLine, newGame, open, openTab, played, readPgn, reload, toast, type, variations, visit } from "./browser.mjs";

let site;
before(async () => (site = await open()));
afterEach(() => site.leave());
after(() => site.close());

const current = (page) => page.$eval("#moves [aria-current]", (move) => move.firstChild.textContent);

test("F turns the board, up and down change the variation, space goes on or plays the best move", async () => {
  const { page, errors } = await visit(site);
  await readPgn(page, "1. e4 (1. d4 d5) (1. c4) 1... e5 *");
  const corner = () => page.locator("[role=gridcell]").first().getAttribute("data-square");
  await page.keyboard.press("f");
  assert.equal(await corner(), "h1");
  await page.keyboard.press("f");
  assert.equal(await corner(), "a8");
  await page.keyboard.press(" ");
  assert.equal(await current(page), "e4");
  await page.keyboard.press("ArrowDown");
  assert.equal(await current(page), "d4");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  assert.equal(await current(page), "c4");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press(" ");
  assert.equal(await current(page), "e5");
  // In a field they are letters.
  await page.fill("#comment", "");
  await page.type("#comment", "f f");
  assert.equal(await page.inputValue("#comment"), "f f");
  assert.equal(await corner(), "a8");
  const { page: mate } = await visit(site, { path: "#fen=6k1/5ppp/8/8/8/8/8/K3R3_w_-_-_0_1" });
  await mate.check("#analyse");
  await mate.waitForFunction(() => document.getElementById("bar").ariaLabel.endsWith("#1"));
  await mate.evaluate(() => document.activeElement.blur());
  await mate.keyboard.press(" ");
  await played(mate, "Re8#");
  assert.deepEqual(errors, []);
});

test("a move has a context menu, which keys walk through", async () => {
  const { page, errors } = await visit(site);
  await readPgn(page, "1. e4 (1. d4) 1... e5 2. Nf3 *");
  await page.click("#moves .aside button:has-text('d4')", { button: "right" });
  assert.deepEqual(await page.$$eval("#menu button", (items) => items.map((item) => [item.textContent, item.disabled])), [["Promote", false], ["Make main line", false], ["Delete variation", false]]);
  assert.equal(await current(page), "d4");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  assert.deepEqual(await mainLine(page), ["d4"]);
  assert.deepEqual(await variations(page), ["1.e4 e5 2.Nf3"]);
  await page.click("#moves button:has-text('d4')", { button: "right" });
  assert.deepEqual(await page.$$eval("#menu button:enabled", (items) => items.map((item) => item.textContent)), ["Delete from here"]);
  await page.keyboard.press("Escape");
  assert.ok(await page.isHidden("#menu"));
  assert.deepEqual(errors, []);
});

test("glyphs of positions are signs, a study's chapters have their names and sides", async () => {
  const { page } = await visit(site);
  const chapter = (name, side) => `[White "?"]\n[Black "?"]\n[ChapterName "${name}"]\n[Orientation "${side}"]\n\n1. e4 $36 e5 $132 *\n\n`;
  await readPgn(page, chapter("Open games", "black") + chapter("Closed games", "white"));
  assert.deepEqual(await page.$$eval("#moves .glyph", (glyphs) => glyphs.map((glyph) => glyph.textContent)), ["↑", "⇆"]);
  assert.deepEqual(await page.$$eval("#pick-game option", (games) => games.map((game) => game.textContent)), ["1. Open games", "2. Closed games"]);
  const corner = () => page.locator("[role=gridcell]").first().getAttribute("data-square");
  assert.equal(await corner(), "h1");
  await page.selectOption("#pick-game", "1");
  assert.equal(await corner(), "a8");
});

test("whoever copies a link is told what it leaves out", async () => {
  const { page } = await visit(site);
  await readPgn(page, '[White "A"]\n\n1. e4 $1 (1. d4) e5 { Open. } *');
  await copied(page, "copy-link");
  await toast(page, "The link is in the clipboard. It leaves out variations, comments, marks, and players.");
  await page.goto(`${site.url}?x#moves=e2e4`);
  await page.waitForSelector("[data-ready]");
  await copied(page, "copy-link");
  await toast(page, "The link is in the clipboard.");
  assert.doesNotMatch(await page.textContent("#toast"), /leaves out/);
});

test("an illegal move is read out, and a message ends with its cause", async () => {
  const { page } = await visit(site);
  await newGame(page, { mode: "people" });
  await page.focus("[data-square=e2]");
  for (const key of ["Enter", "ArrowUp", "ArrowUp", "ArrowUp", "Enter"]) await page.keyboard.press(key);
  assert.equal(await page.textContent("#announce"), "Illegal move: the pawn on e2 cannot go to e5.");
  await type(page, "e5");
  await toast(page, "no legal move");
  await clickMove(page, "e2", "e4");
  await played(page, "e4");
  assert.ok(await page.isHidden("#toast"));
  assert.equal(await page.textContent("#announce"), "White: pawn to e4");
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.textContent("#announce"), "White: pawn to e4");
});

test("the shortest clock is named", async () => {
  const { page } = await visit(site);
  await page.click("#new");
  await page.selectOption("#new-dialog select[name=clock]", "custom");
  assert.ok(await page.isHidden("#clock-note"));
  await page.fill("#new-dialog input[name=minutes]", "0");
  assert.match(await page.textContent("#clock-note"), /begins with 10 seconds/);
  assert.ok(await page.isVisible("#clock-note"));
});

test("the board has colours to choose from, which are kept", async () => {
  const { page } = await visit(site, { colorScheme: "light" });
  const square = () => page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--dark-square"));
  const green = await square();
  await page.click("#colours");
  await page.click("#menu button:has-text('Brown')");
  const brown = await square();
  assert.notEqual(brown, green);
  await reload(page);
  assert.equal(await square(), brown);
  await page.click("#colours");
  assert.equal(await page.getAttribute("#menu button:has-text('Brown')", "aria-checked"), "true");
});

test("piece sets are fetched when chosen, and kept", async () => {
  const { page, errors } = await visit(site);
  const pawn = () => page.evaluate(() => getComputedStyle(document.querySelector("cg-board piece.pawn.white")).backgroundImage);
  const other = (than) => page.waitForFunction((than) => getComputedStyle(document.querySelector("cg-board piece.pawn.white")).backgroundImage !== than, than);
  const choose = async (name) => {
    await page.click("#colours");
    await page.click("#menu button:has-text('Pieces')");
    await page.click(`#menu button:has-text('${name}')`);
  };
  const fetched = () => [...site.loads.keys()].filter((path) => path.includes("/pieces/"));
  const usual = await pawn();
  assert.deepEqual(fetched(), []);
  await choose("Merida");
  await other(usual);
  const merida = await pawn();
  await choose("Fantasy");
  await other(merida);
  await choose("Merida");
  assert.equal(await pawn(), merida);
  await reload(page);
  await other(usual);
  assert.equal(await pawn(), merida);
  assert.deepEqual(fetched(), ["/pieces/Merida.css", "/pieces/Fantasy.css"]);
  await choose("Cburnett");
  assert.equal(await pawn(), usual);
  assert.deepEqual(errors, []);
});

test("the lines keep their places: nothing below them moves while the search goes on", async () => {
  const { page } = await visit(site, { path: "#moves=e2e4,e7e5" });
  await page.selectOption("#lines", "4");
  const place = async () => (await page.locator("#log").boundingBox()).y;
  await page.check("#analyse");
  const before = await place();
  for (let look = 0; look < 5; look += 1) {
    await page.waitForFunction((look) => document.querySelectorAll("#best .line").length === 4 && Number(/^Depth (\d+)/.exec(document.getElementById("speed").textContent)?.[1]) > look + 4, look);
    assert.equal(await place(), before);
  }
  assert.match(await page.textContent("#speed"), /^Depth \d+ · [\d.]+( [kM])? nodes\/s · [\d.]+( [kM])? nodes$/);
  // The log is a choice, and is kept.
  assert.ok(await page.isHidden("#console"));
  await page.click("#log");
  assert.equal(await place(), before);
  await page.waitForSelector("#console .line");
  await reload(page);
  assert.ok(await page.isVisible("#console"));
});

test("tabs within a tab: the last one is opened again", async () => {
  const { page } = await visit(site);
  await openTab(page, "net");
  await page.click("#tab-games");
  await page.click("#tab-lab");
  assert.ok(await page.isVisible("#panel-net"));
  await page.keyboard.press("ArrowLeft");
  assert.ok(await page.isVisible("#panel-games"));
  assert.ok(await page.isHidden("#panel-net"));
  await openTab(page, "report");
  await page.click("#tab-lab");
  await page.click("#tab-analyse");
  await reload(page);
  assert.ok(await page.isVisible("#panel-report"));
});
