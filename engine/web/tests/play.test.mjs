import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { answer, clickMove, dragMove, newGame, open, openTab, played, sans, seen, square, type, visit, waitForMoves } from "./browser.mjs";

let site;
before(async () => (site = await open()));
afterEach(() => site.leave());
after(() => site.close());

const status = (page) => page.textContent("#status");

test("pieces are dragged and clicked, targets and the last move are shown", async () => {
  const { page, errors } = await visit(site);
  await newGame(page, { mode: "people" });
  await page.mouse.click(...(await square(page, "g1")));
  await page.waitForSelector("cg-board square.move-dest", { state: "attached" });
  assert.equal(await page.locator("cg-board square.move-dest").count(), 2);
  await page.mouse.click(...(await square(page, "f3")));
  await played(page, "Nf3");
  await page.waitForSelector("cg-board square.last-move", { state: "attached" });
  assert.equal(await page.locator("cg-board square.last-move").count(), 2);
  await dragMove(page, "e7", "e5");
  // An illegal move: the knight returns.
  await dragMove(page, "f3", "f6");
  await played(page, "Nf3", "e5");
  await dragMove(page, "f3", "e5");
  await played(page, "Nf3", "e5", "Nxe5");
  assert.deepEqual(errors, []);
});

test("castling by the king's target or by the rook, en passant, check", async () => {
  const { page } = await visit(site);
  await newGame(page, { mode: "people" });
  await type(page, "e4", "c5", "e5", "d5", "exd6", "Nc6", "Nf3", "e5", "Be2", "Be6");
  await dragMove(page, "e1", "g1");
  await waitForMoves(page, 11);
  await type(page, "Qxd6", "d3", "0-0-0", "Ng5", "Qxd3");
  const moves = await sans(page);
  assert.deepEqual(moves.slice(4, 5).concat(moves.slice(10, 14)), ["exd6", "O-O", "Qxd6", "d3", "O-O-O"]);
  await page.goto(`${site.url}?x#fen=r3k2r/8/8/8/8/8/8/R3K2R_w_KQkq_-_0_1`);
  await page.waitForSelector("[data-ready]");
  await clickMove(page, "e1", "a1");
  await waitForMoves(page, 1);
  await clickMove(page, "e8", "g8");
  await waitForMoves(page, 2);
  await type(page, "Rd8");
  await played(page, "O-O-O", "O-O", "Rd8");
  await type(page, "Raxd8");
  await type(page, "Rg1");
  await page.waitForSelector("cg-board square.check", { state: "attached" });
  assert.match(await status(page), /Black to move: check/);
});

test("the promotion picker takes a piece, and can be left", async () => {
  const { page } = await visit(site, { path: "#fen=8/P6k/8/8/8/8/8/K7_w_-_-_0_1" });
  await clickMove(page, "a7", "a8");
  await page.waitForSelector("#promotion button:focus");
  await page.keyboard.press("Escape");
  await page.waitForSelector("#promotion", { state: "hidden" });
  await played(page);
  await clickMove(page, "a7", "a8");
  await page.click("#promotion button[aria-label=knight]");
  await played(page, "a8=N");
});

test("every ending by the rules is shown with its reason", async () => {
  const { page } = await visit(site);
  const endings = [
    ["#moves=f2f3,e7e5,g2g4", "Qh4#", "Black wins: checkmate"],
    ["#fen=7k/8/6K1/8/8/8/5Q2/8_w_-_-_0_1", "Qf7", "Draw: stalemate"],
    ["#moves=g1f3,g8f6,f3g1,f6g8,g1f3,g8f6,f3g1", "Ng8", "Draw: threefold repetition"],
    ["#fen=7k/8/8/8/8/8/R7/K7_w_-_-_99_80", "Ra3", "Draw: fifty moves without capture or pawn move"],
    ["#fen=7k/8/8/8/8/8/1p6/K7_w_-_-_0_1", "Kxb2", "Draw: neither side can mate"],
  ];
  for (const [link, move, expected] of endings) {
    await page.goto(`${site.url}?${Math.random()}${link}`);
    await page.waitForSelector("[data-ready]");
    await type(page, move);
    assert.equal(await status(page), expected);
    assert.match(await page.textContent("#announce"), new RegExp(expected));
  }
});

test("Kibitz answers, two plies are taken back, resigning ends the game", async () => {
  const { page, errors } = await visit(site);
  await newGame(page, { mode: "kibitz", color: "white", strength: "elo", slider: 0 });
  await type(page, "e4");
  await waitForMoves(page, 2);
  await page.click("#draw");
  await seen(page, "Kibitz would rather play a little first.");
  await page.click("#undo");
  await played(page);
  await type(page, "d4");
  await waitForMoves(page, 2);
  answer(page, true);
  await page.click("#resign");
  assert.equal(await status(page), "Black wins: resignation");
  assert.deepEqual(errors, []);
});

test("as Black the board is turned and Kibitz begins; flip turns it again", async () => {
  const { page } = await visit(site);
  await newGame(page, { mode: "kibitz", color: "black", strength: "depth", slider: 2 });
  await waitForMoves(page, 1);
  const first = () => page.locator("[role=gridcell]").first().getAttribute("data-square");
  assert.equal(await first(), "h1");
  await page.click("#flip");
  assert.equal(await first(), "a8");
});

test("Kibitz accepts a draw where it is not ahead, and declines where it is", async () => {
  for (const [fen, expected] of [
    ["4k3/8/8/p1p1p1p1/P1P1P1P1/8/8/4K3_w_-_-_0_40", "Draw: agreement"],
    ["3qk3/8/8/p1p1p1p1/P1P1P1P1/8/8/4K3_w_-_-_0_40", "Kibitz declines: it likes its position (≤−10)"],
    ["4k3/8/8/p1p1p1p1/P1P1P1P1/8/8/4K3_w_-_-_0_4", "Kibitz would rather play a little first"],
  ]) {
    const { page, context } = await visit(site, { path: `#fen=${fen}` });
    // A net may prefer a side even in a dead position.
    await openTab(page, "net");
    await page.selectOption("#evaluator", "material");
    await openTab(page, "engine");
    await newGame(page, { mode: "kibitz", color: "white", strength: "elo", slider: 16, fromHere: true });
    await type(page, "Kf2");
    await waitForMoves(page, 2);
    await page.click("#draw");
    await seen(page, expected);
    await context.close();
  }
});

test("Kibitz plays itself by the clock, and can be paused", async () => {
  const { page, errors } = await visit(site);
  await newGame(page, { mode: "engines", strength: "full", clock: "custom", minutes: 0, seconds: 0 });
  await waitForMoves(page, 6);
  await page.click("#pause");
  const number = (await sans(page)).length;
  await page.waitForTimeout(700);
  assert.equal((await sans(page)).length, number);
  await page.click("#pause");
  await waitForMoves(page, number + 2);
  // Ten seconds each, minus the time used.
  const left = await page.$$eval(".clock", (clocks) => clocks.map((clock) => Number(clock.textContent.split(":")[1])));
  for (const seconds of left) assert.ok(seconds > 2 && seconds < 10, `${seconds} s left`);
  assert.deepEqual(errors, []);
});

test("running out of time loses, unless the opponent has a bare king", async () => {
  for (const [fen, expected] of [
    ["4k3/8/8/8/8/8/R7/4K3_w_-_-_0_1", "Draw: time is up, but the other side has a bare king"],
    ["4kr2/8/8/8/8/8/R7/4K3_w_-_-_0_1", "Black wins: time"],
  ]) {
    const { page, context } = await visit(site, { path: `#fen=${fen}` });
    await page.clock.install();
    await page.reload();
    await page.waitForSelector("[data-ready]");
    await newGame(page, { mode: "people", clock: "1+0", fromHere: true });
    await type(page, "Kd1");
    await type(page, "Kd7");
    await page.clock.runFor(61_000);
    assert.equal(await status(page), expected);
    await context.close();
  }
});

test("a game survives a reload, with its settings and clocks", async () => {
  const { page } = await visit(site);
  await newGame(page, { mode: "kibitz", color: "white", strength: "elo", slider: 16, clock: "5+3" });
  await type(page, "e4");
  await waitForMoves(page, 2);
  const before = await sans(page);
  await page.reload();
  await page.waitForSelector("[data-ready]");
  assert.deepEqual(await sans(page), before);
  assert.match(await page.textContent("#player-top"), /Kibitz.*rated 1200.*[45]:/);
  await type(page, "Nf3");
  await waitForMoves(page, 4);
});
