/** A game that was looked through: how accurate each side was, and its mistakes one by one. */
import { $, make, refill } from "./dom";
import type { GameState } from "./gamestate";
import { SIDES } from "./side";
import type { Review, SideReview } from "./types";

export function showReview(review: Review | null, state: GameState, go: (node: number) => void) {
  const box = $("reviewed");
  box.hidden = review === null;
  if (!review) return;
  const rows = SIDES.map((side) => {
    const { accuracy } = review[side];
    return make("li", {},
      make("span", { className: `disc ${side}` }),
      make("b", { textContent: accuracy === null ? "–" : `${Math.round(accuracy)} %` }),
      make("span", { className: "quiet", textContent: `accurate: ${counts(review[side])}` }));
  });
  const { mistakes } = review;
  const place = mistakes.findIndex(({ node }) => node === state.at);
  const told = mistakes[place];
  // Mistakes come in the order of the game; the one behind the move looked at is next.
  const here = state.main.indexOf(state.at);
  const after = mistakes.find(({ node }) => state.main.indexOf(node) > here) ?? mistakes[0];
  const before = mistakes.findLast(({ node }) => state.main.indexOf(node) < here) ?? mistakes.at(-1);
  const step = (text: string, node: number | undefined) =>
    make("button", { type: "button", textContent: text, disabled: node === undefined, onclick: () => node !== undefined && go(node) });
  refill(
    box,
    make("ul", {}, ...rows),
    make("div", { className: "row wrap" }, step("Previous mistake", before?.node), step("Next mistake", after?.node)),
    make("p", { className: "told", textContent: told ? `${state.named(told.node)}: ${told.text}` : mistakes.length ? "" : "No mistakes found." }),
  );
}

function counts({ inaccuracies, mistakes, blunders }: SideReview): string {
  const named = (number: number, one: string, more: string) => (number ? [`${number} ${number === 1 ? one : more}`] : []);
  const all = [
    ...named(blunders, "blunder", "blunders"),
    ...named(mistakes, "mistake", "mistakes"),
    ...named(inaccuracies, "inaccuracy", "inaccuracies"),
  ];
  return all.join(", ") || "no mistakes";
}
