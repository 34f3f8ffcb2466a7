// Studies: variations, annotations, game files, reviews.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { answer, changeLine, copied, dragMove, drop, mainLine, newGame, open, openPanel, openTab, played, readPgn, reload, square, toast, type, variations, visit, waitForMoves } from "./browser.mjs";

let site;
before(async () => (site = await open()));
afterEach(() => site.leave());
after(() => site.close());

const status = (page) => page.textContent("#status");
const current = (page) => page.$eval("#moves [aria-current]", (move) => move.firstChild.textContent).catch(() => "");
const MATE = ["f3", "e5", "g4", "Qh4#"];

test("a game that is over is studied: a side move is a variation, and is taken back", async () => {
  const { page, errors } = await visit(site);
  await newGame(page, { mode: "people" });
  await type(page, ...MATE);
  assert.equal(await status(page), "Black wins: checkmate");
  await page.click("#first");
  await dragMove(page, "e2", "e4");
  await page.waitForSelector("#moves .aside button");
  await type(page, "c5");
  assert.deepEqual(await variations(page), ["1.e4 c5"]);
  assert.deepEqual(await mainLine(page), MATE);
  assert.equal(await status(page), "White to move");
  await page.click("#undo");
  await page.click("#undo");
  assert.deepEqual(await variations(page), []);
  await page.click("#last");
  assert.equal(await status(page), "Black wins: checkmate");
  assert.deepEqual(errors, []);
});

test("after resigning the board lives on, and an analysis keeps the moves", async () => {
  const { page } = await visit(site);
  await newGame(page, { mode: "kibitz", color: "white", strength: "elo", slider: 0 });
  await type(page, "e4");
  await waitForMoves(page, 2);
  answer(page, true);
  await page.click("#resign");
  assert.equal(await status(page), "Black wins: resignation");
  const moves = await mainLine(page);
  await page.keyboard.press("Home");
  await type(page, "d4");
  assert.deepEqual(await variations(page), ["1.d4"]);
  await newGame(page, { mode: "analysis" });
  assert.deepEqual(await mainLine(page), moves);
  assert.deepEqual(await variations(page), ["1.d4"]);
});

test("after time runs out the board can be studied", async () => {
  const { page } = await visit(site);
  await page.clock.install();
  await reload(page);
  await newGame(page, { mode: "people", clock: "1+0" });
  await type(page, "e4", "e5");
  await page.clock.runFor(61_000);
  assert.equal(await status(page), "Black wins: time");
  await page.click("#previous");
  await type(page, "c5");
  assert.deepEqual(await variations(page), ["1…c5"]);
});

test("a side move in a game that was read destroys nothing", async () => {
  const { page } = await visit(site);
  await readPgn(page, "1. d4 d5 2. c4 e6 3. Nc3 Nf6 *");
  const before = await mainLine(page);
  await page.keyboard.press("ArrowRight");
  await dragMove(page, "g8", "f6");
  await page.waitForSelector("#moves .aside");
  assert.deepEqual(await mainLine(page), before);
  assert.equal(await current(page), "Nf6");
  // Playing an existing move selects it.
  await page.keyboard.press("ArrowLeft");
  await type(page, "d5");
  assert.deepEqual(await variations(page), ["1…Nf6"]);
  assert.equal(await current(page), "d5");
  await page.click("#undo");
  assert.deepEqual(await variations(page), ["1…Nf6"]);
  await page.click("#undo");
  assert.deepEqual([await variations(page), await mainLine(page)], [[], before]);
});

test("comments, glyphs, variations and clocks are shown, changed and written", async () => {
  const { page, errors } = await visit(site);
  await readPgn(page, '[White "A"]\n\n{ The game. } 1. e4 $1 { [%clk 0:01:00] Best. } e5 (1... c5 { Sicilian } 2. Nf3 (2. c3)) 2. Nf3?? *');
  assert.deepEqual(await mainLine(page), ["e4", "e5", "Nf3"]);
  assert.deepEqual(await variations(page), ["1…c5 Sicilian 2.Nf3 ( 2.c3 )"]);
  assert.deepEqual(await page.$$eval("#moves .aside.comment", (items) => items.map((item) => item.textContent)), ["The game.", "Best."]);
  assert.deepEqual(await page.$$eval("#moves .glyph", (items) => items.map((item) => item.textContent)), ["!", "??"]);
  await page.click("#moves .aside button:has-text('c5')");
  await page.click("#glyphs button[aria-label='interesting move']");
  await page.fill("#comment", "Sharp }.");
  await page.press("#comment", "Tab");
  assert.match((await copied(page, "copy-pgn")).replaceAll("\n", " "), /\[White "A"\] \[Result "\*"\]  \{ The game\. \} 1\. e4 \$1 \{ \[%clk 0:01:00\] Best\. \} 1\.\.\. e5 \(1\.\.\. c5 \$5 \{ Sharp \)\. \} 2\. Nf3 \(2\. c3\)\) 2\. Nf3 \$4 \*/);
  await changeLine(page, "promote");
  assert.deepEqual(await mainLine(page), ["e4", "c5", "Nf3"]);
  assert.equal(await current(page), "c5");
  await page.click("#moves .aside button:has-text('c3')");
  await changeLine(page, "make-main");
  assert.deepEqual(await mainLine(page), ["e4", "c5", "c3"]);
  await changeLine(page, "delete-move");
  assert.deepEqual(await mainLine(page), ["e4", "c5", "Nf3"]);
  // Undo reverts every change.
  for (let change = 0; change < 5; change += 1) await page.click("#undo");
  assert.deepEqual(await variations(page), ["1…c5 Sicilian 2.Nf3 ( 2.c3 )"]);
  assert.ok(await page.isDisabled("#undo"));
  assert.deepEqual(errors, []);
});

test("a study and the list of its games are there after a reload, at the same move", async () => {
  const { page } = await visit(site);
  await readPgn(page, '[White "A"]\n\n1. e4 e5 *\n\n[White "B"]\n\n1. d4 (1. c4 e5 { English }) d5 2. c4 *');
  await page.selectOption("#pick-game", "1");
  await page.click("#moves .aside button:has-text('e5')");
  await type(page, "Nc3");
  await reload(page);
  assert.deepEqual(await mainLine(page), ["d4", "d5", "c4"]);
  assert.deepEqual(await variations(page), ["1.c4 e5 English 2.Nc3"]);
  assert.equal(await current(page), "Nc3");
  assert.equal(await page.$eval("#pick-game", (select) => select.selectedOptions[0].textContent), "2. B – ?");
  await page.selectOption("#pick-game", "0");
  await played(page, "e4", "e5");
});

test("a reload gives a clock no time back", async () => {
  const { page } = await visit(site);
  await newGame(page, { mode: "people", clock: "1+0" });
  await type(page, "e4", "e5");
  await page.waitForTimeout(2500);
  await reload(page);
  const left = () => page.$eval("#player-bottom .clock", (clock) => Number(clock.textContent.split(":")[1]));
  const first = await left();
  assert.ok(first <= 58, `${first} s`);
  // The clock runs on.
  await page.waitForFunction((first) => Number(document.querySelector("#player-bottom .clock").textContent.split(":")[1]) < first, first);
});

test("the move of a weaker player is explained where it is not the best", async () => {
  const hook = "{ const post = postMessage; postMessage = (data) => post(data.result ? { result: { ...data.result, best: 'b8c6', choice: { near: 3, margin: 30, best: 'e5' } } } : data); }\n";
  const { page } = await visit(site, { serviceWorkers: "block" });
  site.change(/\/assets\/worker-.*\.js$/, (body) => hook + body);
  await newGame(page, { mode: "kibitz", color: "white", strength: "elo", slider: 12 });
  await page.check("#playing-help");
  await type(page, "e4");
  await played(page, "e4", "Nc6");
  assert.equal(await page.textContent("#choice"), "It played 1… Nc6. The search likes e5 best; at this rating it takes any of the 3 moves within 0.3 pawns of it.");
});

test("lines are looked at by pointing, and played by a click; the wheel walks", async () => {
  const { page, errors } = await visit(site, { path: "#fen=6k1/5ppp/8/8/8/8/8/K3R3_w_-_-_0_1" });
  await page.check("#analyse");
  await page.waitForFunction(() => document.getElementById("bar").ariaLabel.endsWith("#1"));
  const placed = () => page.$$eval("cg-board piece.rook", ([rook]) => rook.cgKey);
  assert.equal(await placed(), "e1");
  await page.hover("#best .line .word");
  assert.equal(await placed(), "e8");
  await page.hover("#status");
  assert.equal(await placed(), "e1");
  await page.click("#best .line .word");
  await played(page, "Re8#");
  await page.mouse.move(...(await square(page, "d4")));
  await page.mouse.wheel(0, -100);
  await page.waitForFunction(() => !document.querySelector("#moves [aria-current]"));
  await page.mouse.wheel(0, 100);
  await page.waitForSelector("#moves [aria-current]");
  // During a game a click on a line only previews it.
  await newGame(page, { mode: "people" });
  await page.check("#playing-help");
  await page.check("#analyse");
  await page.waitForSelector("#best .line .word");
  await page.click("#best .line .word");
  await played(page);
  assert.deepEqual(errors, []);
});

test("circles and arrows of a PGN are drawn, and stay in its comments", async () => {
  const { page, errors } = await visit(site);
  await readPgn(page, "1. e4 { Good. [%csl Ga1,Rh8] [%cal Yd2d4] } e5 { [%csl Ge5] } *");
  assert.deepEqual(await page.$$eval("#moves .comment", (notes) => notes.map((note) => note.textContent)), ["Good."]);
  const drawn = () => page.$$eval(".cg-shapes circle, .cg-shapes line", (shapes) => shapes.map((shape) => shape.tagName));
  await page.click("#next");
  await page.waitForFunction(() => document.querySelectorAll(".cg-shapes circle").length === 2);
  assert.deepEqual((await drawn()).sort(), ["circle", "circle", "line"]);
  assert.equal(await page.inputValue("#comment"), "Good.");
  await page.fill("#comment", "Best.");
  assert.match((await copied(page, "copy-pgn")).replaceAll("\n", " "), /1\. e4 \{ Best\. \[%csl Ga1,Rh8\] \[%cal Yd2d4\] \} 1\.\.\. e5 \{ \[%csl Ge5\] \}/);
  await page.click("#first");
  await page.waitForFunction(() => document.querySelectorAll(".cg-shapes circle, .cg-shapes line").length === 0);
  assert.deepEqual(errors, []);
});

test("a comment that is being typed survives a click, a move, the wheel and a reload", async () => {
  const { page, errors } = await visit(site);
  await readPgn(page, "1. e4 e5 2. Nf3 Nc6 *");
  const comments = () => page.$$eval("#moves .comment", (notes) => notes.map((note) => note.textContent));
  const write = async (text) => {
    await page.click("#comment");
    await page.keyboard.type(text);
  };
  await page.click("#moves button:has-text('e4')");
  await write("One.");
  await page.click("#moves button:has-text('Nf3')");
  assert.match(await page.textContent("#moves [aria-current]"), /Nf3/);
  assert.equal(await page.inputValue("#comment"), "");
  await write("Two.");
  await dragMove(page, "g8", "f6");
  await page.waitForFunction(() => document.querySelectorAll("#moves .aside:not(.comment)").length === 1);
  await write("Three.");
  await page.mouse.move(...(await square(page, "d4")));
  await page.mouse.wheel(0, -100);
  await page.waitForFunction(() => document.getElementById("comment").value === "Two.");
  assert.deepEqual((await comments()).sort(), ["One.", "Three.", "Two."]);
  await write(" More.");
  await page.reload();
  await page.waitForSelector("[data-ready]");
  assert.ok((await comments()).includes("Two. More."));
  assert.deepEqual(errors, []);
});

test("a review shows marks, accuracy, mistakes and better lines", async () => {
  const { page, errors } = await visit(site);
  await readPgn(page, "1. e4 e5 2. Qh5 Ke7 3. Qxe5# 1-0");
  await openTab(page, "report");
  await page.click("#review");
  await page.waitForSelector("#reviewed:not([hidden])");
  const sides = await page.$$eval("#reviewed li", (sides) => sides.map((side) => side.textContent));
  assert.match(sides[0], /^White\d+%accuracy/);
  assert.match(sides[1], /^Black\d+%accuracy1 blunder/);
  const [white, black] = await page.$$eval("#reviewed .accuracy", (sides) => sides.map((side) => Number.parseInt(side.textContent)));
  assert.ok(white > black, sides.join(" "));
  const text = () => page.textContent("#reviewed .told");
  for (let presses = 0; presses < 5 && !(await text()).startsWith("2… Ke7"); presses += 1) await page.click("#reviewed button:has-text('Next mistake')");
  assert.match(await text(), /^2… Ke7: Blunder\. \S+ was best\.$/);
  assert.equal(await current(page), "Ke7");
  assert.match(await page.textContent("#moves [aria-current] .glyph"), /\?\?/);
  const [, best] = (await text()).match(/Blunder\. (\S+) was/);
  assert.ok((await variations(page)).some((line) => line.startsWith(`2…${best}`)), best);
  assert.match((await copied(page, "copy-pgn")).replaceAll("\n", " "), /Ke7 \$4 \{ [^}]*Blunder\. \S+ was best\. \} \(2\.\.\. /);
  // The found scores are written too.
  assert.match((await copied(page, "copy-pgn")).replaceAll("\n", " "), /1\. e4 \{ \[%eval -?\d\.\d+\] \} 1\.\.\. e5/);
  assert.match(await page.textContent("#legend"), /Kibitz, 20,000 nodes a move/);
  // The review is one change for undo.
  await page.click("#undo");
  assert.deepEqual([await variations(page), await page.isHidden("#reviewed")], [[], true]);
  assert.deepEqual(errors, []);
});

test("faults of a PGN are reported, and the rest is read", async () => {
  const { page } = await visit(site);
  for (const [text, says, main, aside] of [
    ["1. e4 (1. d4 d5 2. c4 1... e5 2. Nf3 *", "the parenthesis before 1... is not closed", ["e4", "e5", "Nf3"], ["1.d4 d5 2.c4"]],
    ["1. ♙e4 ♟e5 2. ♘f3 ♞c6 1-0", null, ["e4", "e5", "Nf3", "Nc6"], []],
    ["e2e4 e7e5 g1f3", null, ["e4", "e5", "Nf3"], []],
    ["1. e4 e5 2. Ke4 Nc6 3. d4 *", "2. Ke4 is no legal move; the 2 moves behind it are left out", ["e4", "e5"], []],
  ]) {
    await page.evaluate(() => (document.getElementById("toast").hidden = true));
    await readPgn(page, text);
    if (says) await toast(page, says);
    else assert.ok(await page.isHidden("#toast"), text);
    assert.deepEqual([await mainLine(page), await variations(page)], [main, aside], text);
  }
  await readPgn(page, '[Variant "Atomic"]\n\n1. e4 e5 *');
  await toast(page, "this is a game of Atomic: only standard chess and Chess960 are played here");
});

test("an unclosed parenthesis leaves the games behind it alone", async () => {
  const { page } = await visit(site);
  await readPgn(page, '[Event "a"]\n\n1. e4 (1. d4 d5 *\n\n[Event "b"]\n[White "B"]\n\n1. c4 *');
  await page.selectOption("#pick-game", "1");
  await played(page, "c4");
});

/** A Zstandard frame of stored blocks. */
function zstdFrame(text) {
  const content = Buffer.from(text);
  const blocks = [];
  for (let start = 0; start < content.length; start += 100_000) {
    const block = content.subarray(start, start + 100_000);
    const last = start + 100_000 >= content.length ? 1 : 0;
    const header = Buffer.alloc(3);
    header.writeUIntLE((block.length << 3) | last, 0, 3);
    blocks.push(header, block);
  }
  return Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0x38]), ...blocks]);
}

/** A skippable frame of four bytes, as pzstd writes before each frame. */
const skippable = (first = 0x50) => Buffer.from([first, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4]);

test("Zstandard is unpacked by the page, with skippable frames and several frames", async () => {
  const { page, errors } = await visit(site);
  await drop(page, "lichess.pgn.zst", Buffer.from("KLUv/QRYiQAAMS4gZTQgYzUgMi4gTmYzICqnHCAq", "base64"));
  await played(page, "e4", "c5", "Nf3");
  for (const first of [0x50, 0x5f]) {
    await drop(page, "pzstd.pgn.zst", Buffer.concat([skippable(first), zstdFrame("1. d4 "), skippable(), zstdFrame("d5 *")]));
    await played(page, "d4", "d5");
  }
  await drop(page, "damaged.pgn.zst", Buffer.concat([skippable(), zstdFrame("1. e4 e5 *").subarray(0, 12)]));
  await toast(page, "damaged.pgn.zst cannot be read");
  await played(page, "d4", "d5");
  assert.deepEqual(errors, []);
});

test("of a long file the first thousand games are listed", async () => {
  const { page, errors } = await visit(site);
  const games = Array.from({ length: 1500 }, (_, index) => `[Event "E"]\n[White "P${index + 1}"]\n\n1. e4 e5 *\n\n`).join("");
  await page.evaluate(() => {
    globalThis.told = [];
    const reading = document.getElementById("reading");
    new MutationObserver(() => told.push(reading.textContent)).observe(reading, { childList: true, characterData: true, subtree: true });
  });
  await drop(page, "many.pgn.zst", Buffer.concat([skippable(), zstdFrame(games)]));
  await toast(page, "many.pgn.zst is long: its first 1000 games are listed");
  const titles = await page.$$eval("#pick-game option", (options) => options.map(({ textContent }) => textContent));
  assert.deepEqual([titles.length, titles[0], titles.at(-1)], [1000, "1. P1 – ?", "1000. P1000 – ?"]);
  assert.ok(await page.evaluate(() => told.some((text) => /^Reading many\.pgn\.zst: \d+ games…$/.test(text))));
  assert.ok(await page.isHidden("#reading"));
  await page.selectOption("#pick-game", "999");
  assert.match(await page.textContent("#player-bottom"), /P1000/);
  assert.deepEqual(errors, []);
});

test("files of games are opened by a button, gzip is unpacked, and what cannot be read is refused", async () => {
  const { page } = await visit(site);
  const pgn = Buffer.from("1. e4 c5 2. Nf3 *");
  await page.setInputFiles("#open-file", { name: "game.pgn", mimeType: "", buffer: pgn });
  await played(page, "e4", "c5", "Nf3");
  await drop(page, "game.pgn.gz", gzipSync(Buffer.from("1. d4 *")));
  await played(page, "d4");
  await drop(page, "picture.pgn", Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]));
  await toast(page, "picture.pgn cannot be read: it holds binary data, and the page reads PGN text, plain or packed by gzip or Zstandard.");
  await drop(page, "binary.zst", zstdFrame("\0\x01"));
  await toast(page, "binary.zst cannot be read: it holds binary data");
  await played(page, "d4");
  await drop(page, "games.zip", Buffer.from("PK\u0003\u0004"));
  await toast(page, "games.zip cannot be read: it is packed by ZIP, which the page cannot unpack: use unzip first.");
});

test("a FEN is read by its placement alone, and what is wrong with one is said", async () => {
  const { page } = await visit(site);
  const set = async (fen) => {
    await openPanel(page);
    await page.fill("#fen", fen);
    await page.click("#set-fen");
  };
  await set("r3k2r/8/8/8/8/8/8/R3K2R");
  assert.equal(await page.inputValue("#fen"), "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1");
  for (const [fen, says] of [
    ["8/8/8/8/8/8/8/4K3 w - -", "Not a legal position: Black has no king."],
    ["4k3/8/8/8/8/8/8/KKK5 w - -", "White has 3 kings"],
    ["4k2P/8/8/8/8/8/8/4K3 w - -", "a pawn cannot stand on h8"],
    ["4k3/4R3/8/8/8/8/8/4K3 w - -", "Black is in check, and it is not its turn"],
    ["4k3/8/8/8/8/8/8/4K3 w - e6", "No pawn has just passed e6"],
  ]) {
    await set(fen);
    await toast(page, says);
  }
});

test("the editor says what is wrong, and knows en passant", async () => {
  const { page } = await visit(site, { path: "#fen=4k3/8/8/3pP3/8/8/8/4K3_w_-_-_0_1" });
  await page.click("#open");
  await page.click("#edit");
  await page.selectOption("#edit-passed", "c");
  await page.click("#editor button:has-text('Done')");
  assert.equal(await page.textContent("#editor .error"), "No pawn has just passed c6: leave the en-passant square out.");
  await page.selectOption("#edit-passed", "d");
  await page.click("#editor button:has-text('Done')");
  assert.match(await page.inputValue("#fen"), / w - d6 0 1$/);
  await type(page, "exd6");
  await played(page, "exd6");
});

test("a typed move of a pawn to the last rank asks for the piece", async () => {
  const { page } = await visit(site, { path: "#fen=8/P6k/8/8/8/8/8/K7_w_-_-_0_1" });
  await type(page, "a8");
  await page.waitForSelector("#promotion button:focus");
  await page.click("#promotion button[aria-label=rook]");
  await played(page, "a8=R");
});

test("coordinates are seen on every square, whoever is below", async () => {
  const { page } = await visit(site);
  for (const side of ["white", "black"]) {
    if (side === "black") await page.click("#flip");
    const wrong = await page.evaluate(() => {
      const centre = (element) => {
        const { left, top, width, height } = element.getBoundingClientRect();
        return [left + width / 2, top + height / 2];
      };
      const cells = [...document.querySelectorAll("[data-square]")];
      return [...document.querySelectorAll("coords coord")].filter((coord) => {
        const [x, y] = centre(coord);
        const cell = cells.find((cell) => {
          const { left, right, top, bottom } = cell.getBoundingClientRect();
          return x >= left && x < right && y >= top && y < bottom;
        });
        const key = cell?.dataset.square ?? "a1";
        const dark = ("abcdefgh".indexOf(key[0]) + Number(key[1])) % 2 === 1;
        const [red] = getComputedStyle(coord).color.match(/\d+/g).map(Number);
        return !key.includes(coord.textContent) || dark !== red > 200;
      }).map((coord) => coord.textContent);
    });
    assert.deepEqual(wrong, [], side);
    assert.equal(await page.locator("coords coord").count(), 16);
  }
});

test("the bar is full after mate, and halved after a draw", async () => {
  const { page } = await visit(site, { path: "#moves=f2f3,e7e5,g2g4,d8h4" });
  const share = () => page.$eval("#bar", (bar) => bar.style.getPropertyValue("--white"));
  assert.equal(await share(), "0");
  assert.match(await page.getAttribute("#bar", "aria-label"), /0-1$/);
  await page.goto(`${site.url}?x#fen=7k/5Q2/6K1/8/8/8/8/8_b_-_-_0_1`);
  await page.waitForSelector("[data-ready]");
  assert.equal(await share(), "0.5");
});

test("resigning asks", async () => {
  const { page } = await visit(site);
  await newGame(page, { mode: "people" });
  await type(page, "e4");
  const asked = [];
  page.once("dialog", (dialog) => {
    asked.push(dialog.message());
    void dialog.dismiss();
  });
  await page.click("#resign");
  assert.equal(await status(page), "Black to move");
  assert.deepEqual(asked, ["Resign this game?"]);
  answer(page, true);
  await page.click("#resign");
  assert.equal(await status(page), "White wins: resignation");
});

test("as Black, who has not moved yet, there is nothing to take back", async () => {
  const { page } = await visit(site);
  await newGame(page, { mode: "kibitz", color: "black", strength: "elo", slider: 0 });
  await waitForMoves(page, 1);
  assert.ok(await page.isDisabled("#undo"));
  const [first] = await mainLine(page);
  await type(page, "a6");
  await waitForMoves(page, 3);
  await page.click("#undo");
  assert.deepEqual(await mainLine(page), [first]);
});

test("the page fits its window, and a phone on its side has a board to play on", async () => {
  const { page } = await visit(site);
  for (const tab of ["engine", "report", "why", "puzzles", "games", "net", "inside", "match"]) {
    await openTab(page, tab);
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    assert.ok(height <= 860, `${tab}: ${height} pixels`);
  }
  const { page: phone } = await visit(site, { viewport: { width: 844, height: 390 }, isMobile: true, hasTouch: true });
  const board = await phone.locator("#board").boundingBox();
  assert.ok(board.width >= 320, `${board.width} pixels`);
  assert.equal(await phone.evaluate(() => document.documentElement.scrollWidth), 844);
});

test("a message covers no button", async () => {
  for (const options of [{}, { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }]) {
    const { page } = await visit(site, options);
    await newGame(page, { mode: "people" });
    if (options.hasTouch) await copied(page, "copy-pgn");
    else await type(page, "e4", "e9");
    await toast(page, options.hasTouch ? "is in the clipboard" : "is no legal move here");
    const covered = await page.evaluate(() => {
      const box = document.getElementById("toast").getBoundingClientRect();
      const buttons = [...document.querySelectorAll("button, input, select, label.button")].filter((element) => element.checkVisibility({ visibilityProperty: true }));
      return buttons.filter((button) => {
        const { left, right, top, bottom } = button.getBoundingClientRect();
        return left < box.right && right > box.left && top < box.bottom && bottom > box.top;
      }).map((button) => button.outerHTML);
    });
    assert.deepEqual(covered, []);
  }
});

test("without scripts the page says what it needs", async () => {
  const context = await site.browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(site.url);
  assert.match(await page.textContent(".noscript"), /needs JavaScript and WebAssembly/);
  assert.ok(await page.isVisible(".noscript"));
});
