/** What is said of the move looked at, and how it is changed: glyph, comment, its place among variations. */
import { $, make, refill } from "./dom";
import type { GameState } from "./gamestate";
import { GLYPHS } from "./moves";
import type { Edit } from "./types";

/** Glyphs of moves, as they stand on their buttons. */
const OFFERED: [number, string][] = [
  [3, "brilliant"], [1, "good"], [5, "interesting"], [6, "dubious"], [2, "mistake"], [4, "blunder"],
];

/** Shows the node looked at; while a game goes on nothing is changed. */
export function annotation(state: GameState, edit: (change: Edit) => void) {
  const { at, shownNode: node, playing } = state;
  const box = $("annotation");
  box.hidden = playing;
  if (playing) return;
  const start = at === 0;
  $("annotated").textContent = start ? "The game" : state.named(at);
  refill(
    $("glyphs"),
    ...OFFERED.map(([glyph, word]) => {
      const button = make("button", { type: "button", textContent: GLYPHS[glyph], title: word, disabled: start, onclick: () => edit({ edit: "glyph", glyph }) });
      button.setAttribute("aria-label", `${word} move`);
      button.setAttribute("aria-pressed", String(node.glyphs.includes(glyph)));
      return button;
    }),
  );
  const comment = $<HTMLTextAreaElement>("comment");
  comment.value = node.comment;
  comment.onchange = () => {
    if (comment.value.trim() !== node.comment) edit({ edit: "comment", text: comment.value });
  };
  const siblings = state.report.children[node.parent];
  const aside = !state.main.includes(at) && !start;
  const buttons: [string, Edit["edit"], boolean][] = [
    ["promote", "promote", aside],
    ["make-main", "makeMain", aside],
    ["delete-move", "delete", !start],
  ];
  for (const [id, change, on] of buttons) {
    const button = $<HTMLButtonElement>(id);
    button.disabled = !on;
    button.onclick = () => edit({ edit: change } as Edit);
  }
  $("delete-move").textContent = siblings[0] === at ? "Delete from here" : "Delete variation";
}
