// Playing at a rating, and playing without help.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { answer, newGame, open, openTab, reload, type, visit, waitForMoves } from "./browser.mjs";

let site;
before(async () => (site = await open()));
afterEach(() => site.leave());
after(() => site.close());

test("Kibitz plays at a rating from 400 to 2,850", async () => {
  const { page, errors } = await visit(site);
  await page.click("#new");
  const shown = () => page.textContent("#slider-field output");
  assert.equal(await shown(), "rated 1200");
  await page.focus("#slider");
  await page.keyboard.press("Home");
  assert.equal(await shown(), "rated 400");
  await page.keyboard.press("End");
  assert.equal(await shown(), "rated 2850");
  await page.keyboard.press("Escape");
  await newGame(page, { mode: "kibitz", color: "white", strength: "elo", slider: 0 });
  await type(page, "e4");
  await waitForMoves(page, 2);
  assert.match(await page.textContent("#player-top"), /Kibitz.*rated 400/);
  await reload(page);
  assert.match(await page.textContent("#player-top"), /Kibitz.*rated 400/);
  assert.deepEqual(errors, []);
});

test("levels of earlier pages are ratings now", async () => {
  const { page } = await visit(site);
  await newGame(page, { mode: "kibitz", color: "white", strength: "full" });
  // The page saves on unload; write after that.
  await page.evaluate(() => addEventListener("pagehide", () => {
    const game = JSON.parse(localStorage.getItem("kibitz.game"));
    game.black.strength = { by: "medium" };
    localStorage.setItem("kibitz.game", JSON.stringify(game));
    sessionStorage.clear();
  }));
  await reload(page);
  assert.match(await page.textContent("#player-top"), /rated 1000/);
});

test("bar, arrows and thoughts are off while one plays, and come back by a switch or when the game ends", async () => {
  const { page, errors } = await visit(site);
  const help = () => page.evaluate(() => ["bar", "best"].map((id) => document.getElementById(id).checkVisibility({ visibilityProperty: true })));
  const arrows = () => page.locator(".cg-shapes g[cgHash]").count();
  await newGame(page, { mode: "kibitz", color: "white", strength: "elo", slider: 0 });
  assert.deepEqual(await help(), [false, false]);
  assert.ok(await page.isHidden("#analyse"));
  await type(page, "e4");
  await waitForMoves(page, 2);
  assert.equal(await arrows(), 0);
  await page.check("#playing-help");
  assert.deepEqual(await help(), [true, true]);
  await page.check("#analyse");
  await page.waitForSelector("#best .line");
  await page.waitForSelector(".cg-shapes g[cgHash]", { state: "attached" });
  await reload(page);
  assert.deepEqual(await help(), [true, true]);
  await page.uncheck("#playing-help");
  assert.deepEqual(await help(), [false, false]);
  assert.equal(await arrows(), 0);
  answer(page, true);
  await page.click("#resign");
  assert.deepEqual(await help(), [true, true]);
  assert.ok(await page.isHidden("#playing-help"));
  // A match of engines has no player to help.
  await newGame(page, { mode: "engines", strength: "time", slider: 2 });
  assert.deepEqual(await help(), [true, true]);
  assert.deepEqual(errors, []);
});

test("the net's tabs are empty while playing without help, and offer to turn it on", async () => {
  const { page, errors } = await visit(site);
  // The start position gives nothing away.
  await openTab(page, "inside");
  await page.waitForSelector(".flow li");
  await newGame(page, { mode: "people" });
  await type(page, "e4");
  await waitForMoves(page, 1);
  const shown = (panel) => page.$$eval(`#panel-${panel} > *`, (parts) => parts.filter((part) => part.checkVisibility()).map(({ id }) => id));
  for (const tab of ["net", "inside", "why"]) {
    await openTab(page, tab);
    assert.deepEqual(await shown(tab), ["silence"]);
    assert.match(await page.textContent("#silence"), /You play without help/);
  }
  await openTab(page, "net");
  assert.equal(await page.locator("#squares .note").count(), 0);
  await page.click("#silence button:has-text('Turn help on')");
  assert.equal(await page.evaluate(() => document.activeElement.id), "tab-net");
  assert.ok(await page.isVisible("#worths"));
  assert.ok((await page.locator("#squares .note").count()) > 0);
  await openTab(page, "why");
  await page.waitForSelector(".choices p");
  await openTab(page, "engine");
  assert.ok(await page.isChecked("#playing-help"));
  assert.deepEqual(errors, []);
});
