/** A game that was looked through: a card for each player, and the mistakes one by one. */
import { $, make, refill } from "./dom";
import type { GameState } from "./gamestate";
import { SIDES } from "./side";
import type { Review, SideName } from "./types";

/** Kinds of mistakes as their texts begin, the glyph's number, and the plural. */
const KINDS = [
  ["Blunder", 4, "blunders"],
  ["Mistake", 2, "mistakes"],
  ["Inaccuracy", 6, "inaccuracies"],
] as const;

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
  const step = (text: string, node: number | undefined, className = "") =>
    make("button", { type: "button", textContent: text, className, disabled: node === undefined, onclick: () => node !== undefined && go(node) });
  const cards = SIDES.map((side) => {
    const { accuracy } = review[side];
    const own = mistakes.filter((mistake) => mistake.side === side);
    const counts = KINDS.map(([kind, glyph, plural]) => {
      const some = own.filter(({ text }) => text.startsWith(kind));
      return step(`${some.length} ${some.length === 1 ? kind.toLowerCase() : plural}`, next(some), `count glyph-${glyph}`);
    });
    const better = own.some(({ better }) => better.length);
    return make("li", { className: "player-card" },
      make("span", { className: "who" }, make("span", { className: `disc ${side}` }), make("b", { textContent: name(side) })),
      make("b", { className: "accuracy", textContent: accuracy === null ? "–" : `${Math.round(accuracy)} %` }),
      make("span", { className: "quiet", textContent: "accuracy" }),
      ...counts,
      make("button", { type: "button", className: "learn", disabled: !better, textContent: "Learn from mistakes", onclick: () => learn(side) }));
  });
  const told = mistakes.find(({ node }) => node === state.at);
  const before = mistakes.findLast(({ node }) => state.main.indexOf(node) < here) ?? mistakes.at(-1);
  refill(
    box,
    make("ul", {}, ...cards),
    make("div", { className: "row wrap" }, step("Previous mistake", before?.node), step("Next mistake", next(mistakes))),
    make("p", { className: "told", textContent: told ? `${state.named(told.node)}: ${told.text}` : mistakes.length ? "" : "No mistakes found." }),
  );
}
