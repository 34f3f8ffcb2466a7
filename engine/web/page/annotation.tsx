/** Editor of the shown move's annotations: glyph, comment, and its place among variations. */
import { render } from "preact";
import { $ } from "./dom";
import type { GameState } from "./gamestate";
import { type Item, openMenu } from "./menu";
import { GLYPHS } from "./moves";
import { withWords, commentWords } from "./shapes";
import type { Edit } from "./types";

/** Glyphs of moves, as they stand on their buttons. */
const OFFERED: [number, string][] = [
  [3, "brilliant"], [1, "good"], [5, "interesting"], [6, "dubious"], [2, "mistake"], [4, "blunder"],
];

export class Annotation {
  /** A comment that is being typed, and the one that it replaces. */
  private typed: { text: string; comment: string } | null = null;
  private pressed = false;
  /** Comment of the shown node. */
  private comment = "";

  constructor(private readonly edit: (change: Edit) => void) {
    const button = $("annotate");
    button.onclick = () => button.setAttribute("aria-expanded", String(button.getAttribute("aria-expanded") !== "true"));
    const box = $<HTMLTextAreaElement>("comment");
    box.oninput = () => (this.typed = { text: box.value, comment: this.comment });
    // Commit after the click: a new layout would move its target away under the pointer.
    box.onchange = () => !this.pressed && this.commit();
    addEventListener("pointerdown", () => (this.pressed = true), true);
    for (const end of ["pointerup", "pointercancel"]) {
      addEventListener(end, () => {
        this.pressed = false;
        setTimeout(() => document.activeElement !== box && this.commit());
      }, true);
    }
  }

  /** Takes what was typed into the tree, before anything else changes. */
  commit() {
    const { typed } = this;
    this.typed = null;
    if (typed && typed.text.trim() !== commentWords(typed.comment)) this.edit({ edit: "comment", text: withWords(typed.comment, typed.text) });
  }

  /** Shows the node looked at; while a game goes on nothing is changed. */
  show(state: GameState) {
    this.comment = state.shownNode.comment;
    showMove(state, this.edit);
    if (!this.typed) $<HTMLTextAreaElement>("comment").value = commentWords(this.comment);
  }
}

function showMove(state: GameState, edit: (change: Edit) => void) {
  const { at, shownNode: node, playing } = state;
  const box = $("annotation");
  box.hidden = playing;
  if (playing) return;
  const start = at === 0;
  $("annotated").textContent = start ? "The game" : state.named(at);
  render(OFFERED.map(([glyph, word]) => (
    <button type="button" title={word} aria-label={`${word} move`} aria-pressed={node.glyphs.includes(glyph)} disabled={start} onClick={() => edit({ edit: "glyph", glyph })}>{GLYPHS[glyph]}</button>
  )), $("glyphs"));
  const items = changesOf(state, edit);
  const menu = $<HTMLButtonElement>("move-menu");
  menu.disabled = start;
  menu.onclick = () => openMenu("Change the line", items, menu);
}

/** Menu of the changes to the line of the node looked at. */
export function changesOf(state: GameState, edit: (change: Edit) => void): Item[] {
  const { at, shownNode: node, main, report, playing } = state;
  const fixed = playing || main.includes(at);
  const first = report.children[node.parent][0] === at;
  return [
    { id: "promote", name: "Promote", disabled: fixed, act: () => edit({ edit: "promote" }) },
    { id: "make-main", name: "Make main line", disabled: fixed, act: () => edit({ edit: "makeMain" }) },
    { id: "delete-move", name: first ? "Delete from here" : "Delete variation", disabled: playing, act: () => edit({ edit: "delete" }) },
  ];
}
