/** The dialog that begins a game. */
import type { Color } from "chessground/types";
import { render } from "preact";
import type { ClockSetting } from "./clock";
import { $ } from "./dom";
import type { Evaluators } from "./evaluators";
import { sentence } from "./format";
import type { People } from "./people";
import { Select } from "./select";
import { HUMAN, RATINGS, SIDES, type Side, type Strength, strengthText } from "./side";
import { fields } from "./saved";
import { available as stockfish } from "./stockfish";
import { load, save } from "./storage";

export interface NewGame {
  white: Side;
  black: Side;
  clock: ClockSetting | null;
  /** The number of a start of Chess960; `null` for the usual one. */
  chess960: number | null;
  /** From the position on the board instead of the usual start; for an analysis, with all its moves. */
  fromHere: boolean;
  analyse: boolean;
}

type Mode = "kibitz" | "people" | "engines" | "stockfish" | "analysis";

type Stepped = Exclude<Strength["by"], "full">;

interface Choices {
  mode: Mode;
  color: Color | "random";
  strength: Strength["by"];
  /** Places on the sliders. */
  steps: Record<Stepped, number>;
  clock: string;
  minutes: number;
  seconds: number;
  start: "usual" | "random" | "number";
  number: number;
  white: string;
  black: string;
}

/** Strengths with a slider, and what its places stand for. */
const STEPS: Record<Stepped, number[]> = {
  /** Ratings that the policy knows, once they are listed. */
  person: [],
  elo: Array.from({ length: (RATINGS.most - RATINGS.least) / 50 + 1 }, (_, index) => RATINGS.least + 50 * index),
  depth: Array.from({ length: 24 }, (_, index) => index + 1),
  nodes: [100, 300, 1e3, 3e3, 1e4, 3e4, 1e5, 3e5, 1e6, 3e6, 1e7],
  time: [100, 200, 500, 1e3, 2e3, 3e3, 5e3, 1e4, 2e4, 3e4, 6e4],
};

const FIRST: Choices = {
  mode: "kibitz",
  color: "white",
  strength: "elo",
  steps: { elo: 16, person: 0, depth: 7, nodes: 4, time: 3 },
  clock: "none",
  minutes: 5,
  seconds: 3,
  start: "usual",
  number: 518,
  white: "default",
  black: "default",
};

const MODES: [Mode, string][] = [
  ["kibitz", "Against Kibitz"],
  ["people", "Two people"],
  ["engines", "Kibitz against itself"],
  ...(stockfish ? ([["stockfish", "Kibitz against Stockfish"]] as [Mode, string][]) : []),
  ["analysis", "Analysis board"],
];
const COLORS: [Choices["color"], string][] = [["white", "White"], ["random", "Random"], ["black", "Black"]];
const STRENGTHS: [Strength["by"], string][] = [
  ["elo", "A rating"], ["person", "Like people of a rating"], ["full", "Full strength"],
  ["depth", "By depth"], ["nodes", "By nodes"], ["time", "By time a move"],
];
const CLOCKS: [string, string][] = [
  ["none", "No clock"], ["1+0", "1 minute"], ["3+2", "3 minutes + 2 s"], ["5+3", "5 minutes + 3 s"],
  ["10+5", "10 minutes + 5 s"], ["15+10", "15 minutes + 10 s"], ["custom", "Other…"],
];

const STARTS: [Choices["start"], string][] = [
  ["usual", "Usual start"], ["random", "Chess960, at random"], ["number", "Chess960, by number"],
];
/** The last start of Chess960. */
const LAST_START = 959;

/** The longest clock, in minutes and in seconds a move. */
const MOST = { minutes: 180, seconds: 60 };

/** The shortest time to begin with, in milliseconds. */
const LEAST_CLOCK = 10_000;

/** Rounds a stored value and clamps it to `0..=most`; 0 if it is not a number. */
const within = (value: unknown, most: number) => Math.min(Math.max(Math.round(Number(value)) || 0, 0), most);

/** Returns the strengths that are offered: like people only where there is a policy. */
const strengths = () => STRENGTHS.filter(([by]) => by !== "person" || STEPS.person.length > 0);

/** Returns the choices of the last time that are still offered. */
function remembered(): Choices {
  const kept = fields(load("new"));
  const one = <T extends string>(choices: [T, string][], value: unknown, otherwise: T): T =>
    choices.find(([id]) => id === value)?.[0] ?? otherwise;
  const steps = fields(kept.steps);
  const step = (by: Stepped) => within(steps[by] ?? FIRST.steps[by], STEPS[by].length - 1);
  return {
    mode: one(MODES, kept.mode, FIRST.mode),
    color: one(COLORS, kept.color, FIRST.color),
    strength: one(strengths(), kept.strength, FIRST.strength),
    steps: { elo: step("elo"), person: step("person"), depth: step("depth"), nodes: step("nodes"), time: step("time") },
    clock: one(CLOCKS, kept.clock, FIRST.clock),
    minutes: within(kept.minutes ?? FIRST.minutes, MOST.minutes),
    seconds: within(kept.seconds ?? FIRST.seconds, MOST.seconds),
    start: one(STARTS, kept.start, FIRST.start),
    number: within(kept.number ?? FIRST.number, LAST_START),
    white: String(kept.white ?? FIRST.white),
    black: String(kept.black ?? FIRST.black),
  };
}

/** Asks what to play; `null` where the visitor would rather not. */
export function askNewGame(evaluators: Evaluators, people: People, begun: boolean): Promise<NewGame | null> {
  STEPS.person = people.ratings;
  const dialog = $<HTMLDialogElement>("new-dialog");
  const chosen = remembered();
  // Analysis keeps the moves of the game by default.
  const keeps = () => begun && chosen.mode === "analysis";
  let fromHere = keeps();
  const draw = () => render(form(), dialog);
  const choose = (id: keyof Choices, value: string | number) => {
    Object.assign(chosen, { [id]: value });
    if (id === "mode") fromHere = keeps();
    draw();
  };

  const radios = (id: "mode" | "color", legend: string, options: [string, string][]) => (
    <fieldset>
      <legend>{legend}</legend>
      <div class="segments">
        {options.map(([value, text]) => (
          <label>
            <input type="radio" name={id} value={value} checked={value === chosen[id]} onInput={() => choose(id, value)} />
            <span>{text}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
  const select = (id: "strength" | "white" | "black" | "clock" | "start", label: string, options: [string, string][], value: string = chosen[id]) => (
    <Select id={id} label={label} options={options} value={value} choose={(value) => choose(id, value)} />
  );
  const number = (id: "minutes" | "seconds" | "number", text: string, most: number) => (
    <label class="inline">
      <input type="number" id={id} name={id} min="0" max={most} defaultValue={String(chosen[id])} onInput={({ currentTarget }) => choose(id, within(currentTarget.value, most))} />
      {text}
    </label>
  );
  const slider = (by: Stepped) => (
    <div class="pair" id="slider-field">
      <label for="slider">How strong</label>
      <span class="slide">
        <input type="range" id="slider" min="0" max={STEPS[by].length - 1} value={chosen.steps[by]} onInput={({ currentTarget }) => {
          chosen.steps[by] = Number(currentTarget.value);
          draw();
        }} />
        <output>{strengthText(strength(chosen))}</output>
      </span>
    </div>
  );

  const form = () => {
    const { mode, strength: by, clock, start } = chosen;
    const engines = mode === "engines" || mode === "stockfish";
    const rated = mode === "kibitz" || engines;
    const timed = mode !== "analysis";
    const custom = timed && clock === "custom";
    return (
      // A number out of range would keep the form shut without a word.
      <form method="dialog" noValidate>
        <h2 id="new-title">New game</h2>
        {radios("mode", "Who plays", MODES)}
        {mode === "kibitz" && radios("color", "Your colour", COLORS)}
        {mode === "stockfish" && radios("color", "Kibitz’s colour", COLORS)}
        {rated && select("strength", "Strength", strengths())}
        {rated && by !== "full" && slider(by)}
        {mode === "engines" && SIDES.map((side) => select(side, `${sentence(side)}’s evaluator`, evaluators.options(), evaluators.orDefault(chosen[side])))}
        {timed && select("clock", "Clock", CLOCKS)}
        {custom && <div class="pair"><span /><span class="row">{number("minutes", "minutes +", MOST.minutes)}{number("seconds", "s", MOST.seconds)}</span></div>}
        {custom && !chosen.minutes && <p class="quiet" id="clock-note">Each side begins with {LEAST_CLOCK / 1000} seconds, the shortest clock.</p>}
        {!fromHere && select("start", "Start", STARTS)}
        {!fromHere && start === "number" && <div class="pair"><span /><span>{number("number", `0 to ${LAST_START}`, LAST_START)}</span></div>}
        <label class="switch">
          <input type="checkbox" id="from-here" checked={fromHere} onInput={({ currentTarget }) => {
            fromHere = currentTarget.checked;
            draw();
          }} />
          <span>{mode === "analysis" ? "Keep the game on the board" : "From the position on the board"}</span>
        </label>
        <div class="dialog-end">
          <button type="button" onClick={() => dialog.close()}>Cancel</button>
          <button class="primary" value="start">Start</button>
        </div>
      </form>
    );
  };

  return new Promise((resolve) => {
    dialog.onclose = () => {
      if (dialog.returnValue !== "start") return resolve(null);
      save("new", chosen);
      resolve(gameOf({ ...chosen, white: evaluators.orDefault(chosen.white), black: evaluators.orDefault(chosen.black) }, fromHere));
    };
    dialog.returnValue = "";
    draw();
    dialog.showModal();
  });
}

/** The visitor's game with White against Kibitz at a rating; the dialog will suggest it again. */
export function gameAt(rating: number): NewGame {
  const chosen: Choices = { ...remembered(), mode: "kibitz", color: "white", strength: "elo", clock: "none", start: "usual" };
  chosen.steps.elo = STEPS.elo.indexOf(rating);
  save("new", chosen);
  return gameOf(chosen, false);
}

function gameOf(chosen: Choices, fromHere: boolean): NewGame {
  return { ...sides(chosen), clock: clock(chosen), chess960: chess960(chosen), fromHere, analyse: chosen.mode === "analysis" };
}

function strength({ strength: by, steps }: Choices): Strength {
  return by === "full" ? { by } : { by, value: STEPS[by][steps[by]] };
}

function chess960({ start, number }: Choices): number | null {
  if (start === "usual") return null;
  return start === "number" ? number : Math.floor(Math.random() * (LAST_START + 1));
}

function clock({ mode, clock, minutes, seconds }: Choices): ClockSetting | null {
  if (clock === "none" || mode === "analysis") return null;
  const [initial, increment] = clock === "custom" ? [minutes, seconds] : clock.split("+").map(Number);
  return { initial: Math.max(initial * 60_000, LEAST_CLOCK), increment: increment * 1000 };
}

function sides(choices: Choices): { white: Side; black: Side } {
  const { mode, color, white, black } = choices;
  if (mode === "people" || mode === "analysis") return { white: HUMAN, black: HUMAN };
  const kibitz = (evaluator: string): Side => ({ who: "kibitz", strength: strength(choices), evaluator });
  if (mode === "engines") return { white: kibitz(white), black: kibitz(black) };
  const first = color === "random" ? Math.random() < 0.5 : color === "white";
  // The evaluator of the drop-down, whichever it is when it has to move.
  const engine = kibitz("");
  if (mode === "stockfish") {
    const rival: Side = { who: "stockfish", strength: strength(choices), evaluator: "" };
    return first ? { white: engine, black: rival } : { white: rival, black: engine };
  }
  return first ? { white: HUMAN, black: engine } : { white: engine, black: HUMAN };
}
