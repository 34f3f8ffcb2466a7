// The state of the game, by the built module's rules, without a browser.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";
import { runnerImport } from "vite";

const load = async (name) => (await runnerImport(new URL(`../page/${name}.ts`, import.meta.url).pathname)).module;
const [{ GameState }, { Kibitz }, { Rules }, { readSaved, toKeep }] = await Promise.all(
  ["gamestate", "kibitz", "rules", "saved"].map(load),
);
const module = await WebAssembly.compile(await readFile(new URL("../wasm/kibitz-plain.wasm", import.meta.url)));
const rules = new Rules(await Kibitz.start(module));

const HUMAN = { who: "human", strength: { by: "full" }, evaluator: "default" };
const KIBITZ = { who: "kibitz", strength: { by: "depth", value: 3 }, evaluator: "" };
const begun = (game = {}) => {
  const state = new GameState(rules);
  state.begin({ white: HUMAN, black: KIBITZ, clock: null, fromHere: false, analyse: false, ...game });
  return state;
};
const playAll = (state, ...moves) => moves.map((move) => state.play(move).san);

test("a game is played to its end by the rules", () => {
  const state = begun({ black: HUMAN });
  assert.deepEqual(playAll(state, "f2f3", "e7e5", "g2g4", "d8h4"), ["f3", "e5", "g4", "Qh4#"]);
  assert.deepEqual(state.result, { winner: "black", reason: "checkmate" });
  assert.ok(!state.mayMove && !state.playing);
  assert.deepEqual(state.knownScore, { mate: -1 });
  assert.deepEqual(state.numbered, ["1. f3", "1… e5", "2. g4", "2… Qh4#"]);
});

test("a move that is none leaves all as it was", () => {
  const state = begun();
  playAll(state, "e2e4");
  const before = structuredClone(state.saved());
  assert.throws(() => state.play("e2e5"));
  assert.throws(() => state.look({ start: "no FEN", moves: [] }, {}, 0, true));
  assert.deepEqual(state.saved(), before);
});

test("against an engine two plies are taken back, and those that nothing is known of any more", () => {
  const state = begun();
  playAll(state, "e2e4", "e7e5");
  state.found = [{ cp: 10 }, { cp: 20 }, { cp: 30 }];
  assert.equal(state.undoable, 2);
  state.undo();
  assert.deepEqual([state.last, state.found, state.turn], [0, [{ cp: 10 }], "white"]);
  assert.equal(state.undoable, 0);
});

test("in a study a move in the middle replaces what followed", () => {
  const state = begun();
  state.look({ start: null, moves: ["e2e4", "e7e5", "g1f3"] }, { evals: [{ cp: 1 }, { cp: 2 }, { cp: 3 }] }, 1, true);
  assert.deepEqual(state.knownScore, { cp: 1 });
  state.play("c7c5", state.at);
  assert.deepEqual(state.game.moves, ["e2e4", "c7c5"]);
  assert.deepEqual(state.theirs, [{ cp: 1 }]);
});

test("a draw is declined early, and by a side that is ahead", () => {
  const state = begun();
  assert.equal(state.drawDeclined(), "early");
  state.look({ start: "4k3/8/8/8/8/8/8/4K2R w - - 0 30", moves: [] }, {}, 0, true);
  state.sides = { white: HUMAN, black: KIBITZ };
  state.found = [{ cp: -31 }];
  assert.deepEqual(state.drawDeclined(), { cp: -31 });
  state.found = [{ cp: -30 }];
  assert.equal(state.drawDeclined(), null);
  assert.deepEqual(state.resignation(), { winner: "black", reason: "resignation" });
});

test("who runs out of time loses, unless the other has a bare king", () => {
  const clock = { initial: 10_000, increment: 0 };
  for (const [start, result] of [
    ["4k3/8/8/8/8/8/8/4K2R b - - 0 1", { winner: "white", reason: "time" }],
    ["4k2r/8/8/8/8/8/8/4K3 b - - 0 1", { winner: null, reason: "timeBare" }],
  ]) {
    const state = begun();
    state.look({ start, moves: [] }, {}, 0, true);
    state.begin({ white: HUMAN, black: HUMAN, clock, fromHere: true, analyse: false });
    playAll(state, "e8d8", "e1d1");
    assert.equal(state.flagFall(), null);
    state.clock.stop();
    state.clock.left.black = 0;
    assert.deepEqual(state.flagFall(), result);
  }
});

test("what is kept is restored", () => {
  const state = begun({ clock: { initial: 60_000, increment: 1000 } });
  playAll(state, "e2e4", "e7e5");
  state.clock.stop();
  const kept = JSON.parse(JSON.stringify(toKeep(state.saved())));
  // As pages before this one kept it.
  assert.equal(kept.black.brain, state.sides.black.evaluator);
  const other = new GameState(rules);
  other.restore(readSaved(kept));
  assert.deepEqual(other.saved(), state.saved());
  assert.match(other.pgn({ white: "You", black: "Kibitz" }, new Date(0)), /\[Date "1970.01.01"\][^]*1\. e4 e5 \*/);
});
