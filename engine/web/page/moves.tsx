/** The move list: the main line in two columns, and below its moves what is said of them and the variations. */
import { type ComponentChild, render } from "preact";
import { $ } from "./dom";
import { scoreText } from "./format";
import { commentWords } from "./shapes";
import type { Tree, TreeReport } from "./types";

/** Glyphs by number (NAG), as the Informator prints them; the others are shown as numbers. */
export const GLYPHS: Record<number, string> = {
  1: "!", 2: "?", 3: "!!", 4: "??", 5: "!?", 6: "?!", 7: "□", 8: "□", 10: "=", 11: "=", 12: "=", 13: "∞", 14: "⩲", 15: "⩱", 16: "±", 17: "∓",
  18: "+−", 19: "−+", 20: "+−", 21: "−+", 22: "⨀", 23: "⨀", 26: "○", 27: "○", 32: "⟳", 33: "⟳", 36: "↑", 37: "↑", 40: "→", 41: "→",
  44: "=∞", 45: "=∞", 132: "⇆", 133: "⇆", 138: "⊕", 139: "⊕", 140: "∆", 142: "⌓", 145: "RR", 146: "N",
};

export const glyphText = (glyphs: number[]) => glyphs.map((glyph) => GLYPHS[glyph] ?? `$${glyph}`).join(" ");

/** A word of a variation. */
type Word = { node: number; number: string } | { text: string; comment: boolean };

export class MoveList {
  private current: HTMLElement | null = null;
  private tree: Tree | null = null;

  /** `menu` opens the menu of a move at a point. */
  constructor(go: (node: number) => void, menu: (node: number, at: { x: number; y: number }) => void) {
    // The list is lower where another panel needs room.
    new ResizeObserver(() => this.reveal($("moves"))).observe($("moves"));
    const nodeAt = ({ target }: Event) => (target as HTMLElement).closest<HTMLElement>("[data-node]")?.dataset.node;
    $("moves").onclick = (event) => {
      const node = nodeAt(event);
      if (node) go(Number(node));
    };
    $("moves").oncontextmenu = (event) => {
      const node = nodeAt(event);
      if (!node) return;
      event.preventDefault();
      menu(Number(node), event);
    };
  }

  /** Shows the moves; `shown` is the node looked at. */
  show(tree: Tree, report: TreeReport, shown: number) {
    const list = $("moves");
    // Every change makes another tree; a step through a long one changes two buttons.
    if (tree !== this.tree) render(rowsOf(tree, report), list);
    this.tree = tree;
    this.current?.removeAttribute("aria-current");
    this.current = list.querySelector<HTMLElement>(`[data-node="${shown}"]`);
    this.current?.setAttribute("aria-current", "true");
    if (!this.current) list.scrollTo(0, 0);
    else if (!report.children[shown].length) {
      const [own, box] = [this.current.getBoundingClientRect(), list.getBoundingClientRect()];
      list.scrollBy(own.right - box.right + 8, own.bottom - box.bottom + 8);
    }
    this.reveal(list);
  }

  /** Scrolls to the move looked at where it is out of sight: down, or along the single line of a phone. */
  private reveal(list: HTMLElement) {
    if (!this.current) return;
    const [own, box] = [this.current.getBoundingClientRect(), list.getBoundingClientRect()];
    if (own.top < box.top || own.bottom > box.bottom) list.scrollTop += own.top - box.top - (list.clientHeight < FEW_ROWS ? 4 : list.clientHeight / 2);
    if (own.left < box.left || own.right > box.right) list.scrollLeft += own.left - box.left - list.clientWidth / 2;
  }
}

/** Height in pixels of a list of few rows, which starts with the move looked at, so that its comment is in sight. */
const FEW_ROWS = 150;

const turnOf = (fen: string) => fen.split(" ")[1];

function rowsOf(tree: Tree, report: TreeReport): ComponentChild[] {
  const fenOf = (node: number) => (node ? report.plies[node - 1].fen : report.start);
  const rows: ComponentChild[] = [];
  const button = (node: number, scored: boolean) => {
    const { glyphs, eval: score } = tree.nodes[node];
    return (
      <button type="button" data-node={node}>
        {report.plies[node - 1].san}
        {glyphs.length > 0 && <span class={`glyph glyph-${glyphs[0]}`}>{glyphText(glyphs)}</span>}
        {scored && score && <small>{scoreText(score)}</small>}
      </button>
    );
  };
  const said = (node: number) => {
    const comment = commentWords(tree.nodes[node].comment);
    if (comment) rows.push(<li class="aside comment">{comment}</li>);
  };
  const variation = (word: Word) => {
    if ("text" in word) return <span class={word.comment ? "comment" : "bracket"}>{word.text}</span>;
    return <span>{word.number && <span class="number">{word.number}</span>}{button(word.node, false)}</span>;
  };
  /** White's move that waits for Black's beside it. */
  let waiting: number | null = null;
  let number = "";
  const flush = (black: number | null) => {
    if (waiting === null && black === null) return;
    rows.push(<li><span class="number">{`${number}.`}</span>{waiting === null ? <span class="gap">…</span> : button(waiting, true)}{black !== null && button(black, true)}</li>);
    waiting = null;
  };
  said(0);
  for (let node = 0; report.children[node].length; ) {
    const [main, ...others] = report.children[node];
    number = fenOf(node).split(" ")[5];
    if (turnOf(fenOf(node)) === "w") waiting = main;
    else flush(main);
    if (others.length || commentWords(tree.nodes[main].comment)) {
      flush(null);
      said(main);
      for (const other of others) rows.push(<li class="aside">{wordsOf(tree, report, other).map(variation)}</li>);
    }
    node = main;
  }
  flush(null);
  return rows;
}

/** The words of a variation by its first move, those of inner ones in parentheses. */
function wordsOf(tree: Tree, report: TreeReport, first: number): Word[] {
  const words: Word[] = [];
  const say = (text: string) => text && words.push({ text, comment: true });
  let numbered = false;
  const move = (node: number) => {
    const { parent } = tree.nodes[node];
    const [, turn, , , , number] = (parent ? report.plies[parent - 1].fen : report.start).split(" ");
    words.push({ node, number: turn === "w" ? `${number}.` : numbered ? "" : `${number}…` });
    numbered = true;
    const comment = commentWords(tree.nodes[node].comment);
    say(comment);
    if (comment) numbered = false;
  };
  type Step = { from: number } | { first: number } | { text: string };
  const steps: Step[] = [{ first }];
  for (let step = steps.pop(); step; step = steps.pop()) {
    if ("text" in step) {
      words.push({ text: step.text, comment: false });
      numbered = false;
    } else if ("first" in step) {
      say(tree.nodes[step.first].before);
      move(step.first);
      steps.push({ from: step.first });
    } else {
      const [main, ...others] = report.children[step.from];
      if (main === undefined) continue;
      move(main);
      steps.push({ from: main });
      for (const other of others.toReversed()) steps.push({ text: ")" }, { first: other }, { text: "(" });
    }
  }
  return words;
}
