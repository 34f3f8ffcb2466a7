// Game state with the built module's rules, without a browser.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";
import { runnerImport } from "vite";

const load = async (name) => (await runnerImport(new URL(`../page/${name}.ts`, import.meta.url).pathname)).module;
const [{ GameState }, { Kibitz }, { Rules }, { readSaved, toKeep }, { pick }] = await Promise.all(
  ["gamestate", "kibitz", "rules", "saved", "book"].map(load),
);
const module = await WebAssembly.compile(await readFile(new URL("../wasm/kibitz-plain.wasm", import.meta.url)));
const rules = new Rules(await Kibitz.start(module));

const HUMAN = { who: "human", strength: { by: "full" }, evaluator: "default" };
const KIBITZ = { who: "kibitz", strength: { by: "depth", value: 3 }, evaluator: "" };
const begun = (game = {}) => {
  const state = new GameState(rules);
  state.begin({ white: HUMAN, black: KIBITZ, clock: null, chess960: null, fromHere: false, analyse: false, ...game });
  return state;
};
const playAll = (state, ...moves) => moves.map((move) => state.play(move).san);

test("a game is played to its end by the rules", () => {
  const state = begun({ black: HUMAN });
  assert.deepEqual(playAll(state, "f2f3", "e7e5", "g2g4", "d8h4"), ["f3", "e5", "g4", "Qh4#"]);
  assert.deepEqual(state.result, { winner: "black", reason: "checkmate" });
  assert.ok(!state.mayMove && !state.playing);
  assert.deepEqual(state.knownScore, { mate: -1 });
  assert.deepEqual(state.main.map((node) => state.named(node)), ["1. f3", "1… e5", "2. g4", "2… Qh4#"]);
});

test("an illegal move changes nothing", () => {
  const state = begun();
  playAll(state, "e2e4");
  const before = structuredClone(state.saved());
  assert.throws(() => state.play("e2e5"));
  assert.throws(() => state.look({ start: "no FEN", moves: [] }, 0, true));
  assert.throws(() => state.restore({ ...state.saved(), at: 9 }));
  assert.deepEqual(state.saved(), before);
});

test("undo against an engine takes back two plies and their data", () => {
  const state = begun();
  playAll(state, "e2e4", "e7e5");
  state.tree.nodes.forEach((node, ply) => (node.found = { cp: 10 * ply }));
  assert.ok(state.undoable);
  state.undo();
  assert.deepEqual([state.last, state.tree.nodes[0].found, state.turn], [0, { cp: 0 }, "white"]);
  assert.ok(!state.undoable);
});

test("an engine's first move alone cannot be taken back", () => {
  const state = begun({ white: KIBITZ, black: HUMAN });
  playAll(state, "d2d4");
  assert.ok(!state.undoable);
  playAll(state, "d7d5");
  assert.ok(state.undoable);
  state.undo();
  assert.deepEqual(state.game.moves, ["d2d4"]);
});

test("a move in the middle of a study is a variation, and undo removes it whole", () => {
  const state = begun();
  const read = rules.readPgn("1. e4 { [%eval 0.1] } e5 { [%eval 0.2] } 2. Nf3 *");
  state.lookAt(read);
  state.show(1);
  assert.deepEqual(state.knownScore, { cp: 10 });
  assert.ok(!state.undoable);
  state.play("c7c5", state.at);
  state.play("b1c3", state.at);
  assert.deepEqual(state.game.moves, ["e2e4", "e7e5", "g1f3"]);
  assert.deepEqual(state.shown.moves, ["e2e4", "c7c5", "b1c3"]);
  assert.deepEqual(state.tree.nodes[2].eval, { cp: 20 });
  state.show(2);
  state.edit({ edit: "delete" });
  assert.deepEqual(state.game.moves, ["e2e4", "c7c5", "b1c3"]);
  for (const number of [6, 5, 4]) {
    state.undo();
    assert.equal(state.tree.nodes.length, number);
  }
  assert.deepEqual(state.tree, read.tree);
});

test("a game that is over may be studied, and keeps its result", () => {
  const state = begun({ black: HUMAN });
  playAll(state, "f2f3", "e7e5", "g2g4", "d8h4");
  state.show(3);
  assert.ok(state.mayMove);
  state.play("b8c6", 3);
  assert.deepEqual(state.result, { winner: "black", reason: "checkmate" });
  assert.equal(state.status, "White to move");
  assert.deepEqual(state.game.moves.at(-1), "d8h4");
  state.show(4);
  assert.match(state.status, /^Black wins/);
  state.begin({ white: HUMAN, black: HUMAN, clock: null, chess960: null, fromHere: true, analyse: true });
  assert.equal(state.tree.nodes.length, 6);
});

test("clocks belong to their moves, and undo restores them", () => {
  const state = begun({ black: HUMAN, clock: { initial: 60_000, increment: 1000 } });
  playAll(state, "e2e4", "e7e5");
  state.clock.stop();
  state.clock.left = { white: 50_000, black: 40_000 };
  playAll(state, "g1f3");
  assert.equal(state.tree.nodes[3].clock, 51_000);
  state.undo();
  assert.ok(Math.abs(state.clock.now("white") - 60_000) < 1000);
});

test("opening choice prefers untried moves, then successful and rare ones", () => {
  assert.equal(pick([{ games: 3, points: 3 }, { games: 0, points: 0 }]), 1);
  assert.equal(pick([{ games: 5, points: 1 }, { games: 5, points: 4 }]), 1);
  assert.equal(pick([{ games: 100, points: 60 }, { games: 2, points: 1 }]), 1);
  const worth = [0.2, 0.8, 0.4];
  const arms = worth.map(() => ({ games: 0, points: 0 }));
  for (let game = 0; game < 2000; game += 1) {
    const arm = pick(arms);
    arms[arm].games += 1;
    arms[arm].points += worth[arm];
  }
  assert.ok(arms[1].games > 1700, JSON.stringify(arms));
});

test("a draw is declined early, and by a side that is ahead", () => {
  const state = begun();
  assert.equal(state.drawDeclined(), "early");
  state.look({ start: "4k3/8/8/8/8/8/8/4K2R w - - 0 30", moves: [] }, 0, true);
  state.sides = { white: HUMAN, black: KIBITZ };
  state.tree.nodes[0].found = { cp: -31 };
  assert.deepEqual(state.drawDeclined(), { cp: -31 });
  state.tree.nodes[0].found = { cp: -30 };
  assert.equal(state.drawDeclined(), null);
  assert.deepEqual(state.resignation(), { winner: "black", reason: "resignation" });
});

test("running out of time loses, unless the opponent has a bare king", () => {
  const clock = { initial: 10_000, increment: 0 };
  for (const [start, result] of [
    ["4k3/8/8/8/8/8/8/4K2R b - - 0 1", { winner: "white", reason: "time" }],
    ["4k2r/8/8/8/8/8/8/4K3 b - - 0 1", { winner: null, reason: "timeBare" }],
  ]) {
    const state = begun();
    state.look({ start, moves: [] }, 0, true);
    state.begin({ white: HUMAN, black: HUMAN, clock, chess960: null, fromHere: true, analyse: false });
    playAll(state, "e8d8", "e1d1");
    assert.equal(state.flagFall(), null);
    state.clock.stop();
    state.clock.left.black = 0;
    assert.deepEqual(state.flagFall(), result);
  }
});

test("a saved game is restored", () => {
  const state = begun({ clock: { initial: 60_000, increment: 1000 } });
  playAll(state, "e2e4", "e7e5");
  state.clock.stop();
  const kept = JSON.parse(JSON.stringify(toKeep(state.saved())));
  // The format of earlier pages.
  assert.equal(kept.black.brain, state.sides.black.evaluator);
  const other = new GameState(rules);
  other.restore(readSaved(kept));
  assert.deepEqual(other.saved(), state.saved());
  assert.match(other.pgn({ white: "You", black: "Kibitz" }, new Date(0)), /\[Date "1970.01.01"\][^]*1\. e4 \{ \[%clk 0:01:00\] \} 1\.\.\. e5 /);
});
