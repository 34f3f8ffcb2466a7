/** The dialog that begins a game. */
import type { Color } from "chessground/types";
import type { ClockSetting } from "./clock";
import { $, make } from "./dom";
import type { Evaluators } from "./evaluators";
import { HUMAN, RATINGS, type Side, type Strength, strengthText } from "./side";
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

interface Choices {
  mode: Mode;
  color: Color | "random";
  strength: Strength["by"];
  /** Places on the sliders. */
  steps: Record<keyof typeof STEPS, number>;
  clock: string;
  minutes: number;
  seconds: number;
  start: "usual" | "random" | "number";
  number: number;
  white: string;
  black: string;
}

const STEPS = {
  elo: Array.from({ length: (RATINGS.most - RATINGS.least) / 50 + 1 }, (_, index) => RATINGS.least + 50 * index),
  depth: Array.from({ length: 24 }, (_, index) => index + 1),
  nodes: [100, 300, 1e3, 3e3, 1e4, 3e4, 1e5, 3e5, 1e6, 3e6, 1e7],
  time: [100, 200, 500, 1e3, 2e3, 3e3, 5e3, 1e4, 2e4, 3e4, 6e4],
};

const FIRST: Choices = {
  mode: "kibitz",
  color: "white",
  strength: "elo",
  steps: { elo: 16, depth: 7, nodes: 4, time: 3 },
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
  ["elo", "A rating"], ["full", "Full strength"],
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

/** Returns the choices of the last time that are still offered. */
function remembered(): Choices {
  const kept = fields(load("new"));
  const one = <T extends string>(choices: [T, string][], value: unknown, otherwise: T): T =>
    choices.find(([id]) => id === value)?.[0] ?? otherwise;
  const steps = fields(kept.steps);
  const step = (by: keyof typeof STEPS) => within(steps[by] ?? FIRST.steps[by], STEPS[by].length - 1);
  return {
    mode: one(MODES, kept.mode, FIRST.mode),
    color: one(COLORS, kept.color, FIRST.color),
    strength: one(STRENGTHS, kept.strength, FIRST.strength),
    steps: { elo: step("elo"), depth: step("depth"), nodes: step("nodes"), time: step("time") },
    clock: one(CLOCKS, kept.clock, FIRST.clock),
    minutes: within(kept.minutes ?? FIRST.minutes, MOST.minutes),
    seconds: within(kept.seconds ?? FIRST.seconds, MOST.seconds),
    start: one(STARTS, kept.start, FIRST.start),
    number: within(kept.number ?? FIRST.number, LAST_START),
    white: String(kept.white ?? FIRST.white),
    black: String(kept.black ?? FIRST.black),
  };
}

function radios<T extends string>(name: string, options: [T, string][], value: T): HTMLElement {
  const group = make("div", { className: "segments" });
  for (const [id, text] of options) {
    const input = make("input", { type: "radio", name, value: id, checked: id === value });
    group.append(make("label", {}, input, make("span", { textContent: text })));
  }
  return group;
}

function options(id: string, choices: [string, string][], value: string): HTMLSelectElement {
  const select = make("select", { id, name: id });
  for (const [key, text] of choices) {
    select.append(make("option", { value: key, textContent: text, selected: key === value }));
  }
  return select;
}

function field(text: string, control: HTMLElement, id: string): HTMLElement {
  const label = make("label", { htmlFor: id, textContent: text });
  return make("div", { className: "pair", id: `${id}-field` }, label, control);
}

/** Asks what to play; `null` where the visitor would rather not. */
export function askNewGame(evaluators: Evaluators, begun: boolean): Promise<NewGame | null> {
  const dialog = $<HTMLDialogElement>("new-dialog");
  const chosen = remembered();

  const slider = make("input", { type: "range", id: "slider", min: "0", step: "1" });
  const output = make("output");
  const fromHere = make("input", { type: "checkbox", id: "from-here" });
  const legend = (text: string) => make("legend", { textContent: text });
  const number = (id: "minutes" | "seconds" | "number", text: string, most: number) =>
    make("label", { className: "inline" }, make("input", { type: "number", id, name: id, value: String(chosen[id]), min: "0", max: String(most) }), text);
  const color = make("fieldset", { id: "color-field" }, legend("Colour"), radios("color", COLORS, chosen.color));
  const form = make(
    "form",
    // A number out of range would keep the form shut without a word where its field is hidden.
    { method: "dialog", noValidate: true },
    make("h2", { id: "new-title", textContent: "New game" }),
    make("fieldset", {}, legend("Who plays"), radios("mode", MODES, chosen.mode)),
    color,
    field("Strength", options("strength", STRENGTHS, chosen.strength), "strength"),
    make("div", { className: "pair", id: "slider-field" }, make("label", { htmlFor: "slider", textContent: "How strong" }), make("span", { className: "slide" }, slider, output)),
    field("White’s evaluator", make("select", { id: "white", name: "white" }, ...evaluators.options(chosen.white)), "white"),
    field("Black’s evaluator", make("select", { id: "black", name: "black" }, ...evaluators.options(chosen.black)), "black"),
    field("Clock", options("clock", CLOCKS, chosen.clock), "clock"),
    make("div", { className: "pair", id: "custom-field" }, make("span", {}), make("span", { className: "row" }, number("minutes", "minutes +", MOST.minutes), number("seconds", "s", MOST.seconds))),
    make("p", { className: "quiet", id: "clock-note", textContent: `Each side begins with ${LEAST_CLOCK / 1000} seconds, the shortest clock.` }),
    field("Start", options("start", STARTS, chosen.start), "start"),
    make("div", { className: "pair", id: "number-field" }, make("span", {}), make("span", {}, number("number", `0 to ${LAST_START}`, LAST_START))),
    make("label", { className: "switch", htmlFor: "from-here" }, fromHere, make("span", { id: "from-here-text" })),
    make("div", { className: "dialog-end" }, make("button", { type: "button", textContent: "Cancel", onclick: () => dialog.close() }), make("button", { className: "primary", value: "start", textContent: "Start" })),
  );
  dialog.replaceChildren(form);

  const read = () => {
    const data = new FormData(form);
    chosen.mode = data.get("mode") as Mode;
    chosen.color = data.get("color") as Choices["color"];
    chosen.strength = data.get("strength") as Strength["by"];
    chosen.clock = data.get("clock") as string;
    chosen.minutes = within(data.get("minutes"), MOST.minutes);
    chosen.seconds = within(data.get("seconds"), MOST.seconds);
    chosen.start = data.get("start") as Choices["start"];
    chosen.number = within(data.get("number"), LAST_START);
    chosen.white = data.get("white") as string;
    chosen.black = data.get("black") as string;
  };
  const strength = (): Strength => {
    const by = chosen.strength;
    if (by === "full") return { by };
    return { by, value: STEPS[by][chosen.steps[by]] };
  };
  const show = () => {
    read();
    const { mode } = chosen;
    const by = chosen.strength;
    const engines = mode === "engines" || mode === "stockfish";
    const limited = by !== "full";
    const visible = (id: string, on: boolean) => ($(id).hidden = !on);
    visible("color-field", mode === "kibitz" || mode === "stockfish");
    color.querySelector("legend")!.textContent = mode === "stockfish" ? "Kibitz’s colour" : "Your colour";
    visible("strength-field", mode === "kibitz" || engines);
    visible("slider-field", (mode === "kibitz" || engines) && limited);
    visible("white-field", mode === "engines");
    visible("black-field", mode === "engines");
    $("from-here-text").textContent = mode === "analysis" ? "Keep the game on the board" : "From the position on the board";
    visible("clock-field", mode !== "analysis");
    visible("custom-field", mode !== "analysis" && chosen.clock === "custom");
    visible("clock-note", mode !== "analysis" && chosen.clock === "custom" && chosen.minutes === 0);
    visible("start-field", !fromHere.checked);
    visible("number-field", !fromHere.checked && chosen.start === "number");
    if (limited) {
      slider.max = String(STEPS[by].length - 1);
      slider.value = String(chosen.steps[by]);
      output.textContent = strengthText(strength());
    }
  };
  form.oninput = ({ target }) => {
    const by = chosen.strength;
    if (target === slider && by !== "full") {
      chosen.steps = { ...chosen.steps, [by]: Number(slider.value) };
    }
    // Analysis keeps the moves of the game by default.
    if ((target as HTMLInputElement).name === "mode") fromHere.checked = begun && (target as HTMLInputElement).value === "analysis";
    show();
  };

  return new Promise((resolve) => {
    dialog.onclose = () => {
      if (dialog.returnValue !== "start") return resolve(null);
      save("new", chosen);
      resolve({ ...sides(chosen, strength()), clock: clock(chosen), chess960: chess960(chosen), fromHere: fromHere.checked, analyse: chosen.mode === "analysis" });
    };
    dialog.returnValue = "";
    dialog.showModal();
    fromHere.checked = begun && chosen.mode === "analysis";
    show();
  });
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

function sides({ mode, color, white, black }: Choices, strength: Strength): { white: Side; black: Side } {
  if (mode === "people" || mode === "analysis") return { white: HUMAN, black: HUMAN };
  const kibitz = (evaluator: string): Side => ({ who: "kibitz", strength, evaluator });
  if (mode === "engines") return { white: kibitz(white), black: kibitz(black) };
  const first = color === "random" ? Math.random() < 0.5 : color === "white";
  // The evaluator of the drop-down, whichever it is when it has to move.
  const engine = kibitz("");
  if (mode === "stockfish") {
    const rival: Side = { who: "stockfish", strength, evaluator: "" };
    return first ? { white: engine, black: rival } : { white: rival, black: engine };
  }
  return first ? { white: HUMAN, black: engine } : { white: engine, black: HUMAN };
}
