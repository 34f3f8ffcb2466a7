/** A game that was looked through: a card for each player, and the mistakes one by one. */
import { render } from "preact";
import { $ } from "./dom";
import type { GameState } from "./gamestate";
import { SIDES } from "./side";
import type { Mistake, Review, SideName } from "./types";

/** Kinds of mistakes as their texts begin, the glyph's number, and the plural. */
const KINDS = [
  ["Blunder", 4, "blunders"],
  ["Mistake", 2, "mistakes"],
  ["Inaccuracy", 6, "inaccuracies"],
] as const;

/** Returns the glyph of a mistake. */
export const glyphOf = ({ text }: Mistake) => KINDS.find(([kind]) => text.startsWith(kind))?.[1];

interface Listener {
  name(side: SideName): string;
  go(node: number): void;
  learn(side: SideName): void;
}

export function showReview(review: Review | null, state: GameState, { name, go, learn }: Listener) {
  const box = $("reviewed");
  box.hidden = review === null;
  if (!review) return;
  const { mistakes } = review;
  const here = state.main.indexOf(state.at);
  /** Mistakes come in the order of the game; the one behind the move looked at is next. */
  const next = (some: typeof mistakes) => (some.find(({ node }) => state.main.indexOf(node) > here) ?? some[0])?.node;
  const step = (text: string, node: number | undefined, look = "") => (
    <button type="button" class={look} disabled={node === undefined} onClick={() => node !== undefined && go(node)}>{text}</button>
  );
  const card = (side: SideName) => {
    const { accuracy } = review[side];
    const own = mistakes.filter((mistake) => mistake.side === side);
    return (
      <li class="player-card">
        <span class="who"><span class={`disc ${side}`} /><b>{name(side)}</b></span>
        <b class="accuracy">{accuracy === null ? "–" : `${Math.round(accuracy)}%`}</b>
        <span class="quiet">accuracy</span>
        {KINDS.map(([kind, glyph, plural]) => {
          const some = own.filter((mistake) => glyphOf(mistake) === glyph);
          return step(`${some.length} ${some.length === 1 ? kind.toLowerCase() : plural}`, next(some), `count glyph-${glyph}`);
        })}
        <button type="button" class="learn" disabled={own.every(({ better }) => !better.length)} onClick={() => learn(side)}>Learn from mistakes</button>
      </li>
    );
  };
  const told = mistakes.find(({ node }) => node === state.at);
  const before = mistakes.findLast(({ node }) => state.main.indexOf(node) < here) ?? mistakes.at(-1);
  render(<>
    <ul>{SIDES.map(card)}</ul>
    <div class="row wrap">{step("Previous mistake", before?.node)}{step("Next mistake", next(mistakes))}</div>
    <p class="told">{told ? `${state.named(told.node)}: ${told.text}` : mistakes.length ? "" : "No mistakes found."}</p>
  </>, box);
}
