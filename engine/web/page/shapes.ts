/** Circles and arrows that a PGN's comments hold: `[%csl Ga1,Rb2]` and `[%cal Ye2e4]`. */
import type { DrawShape } from "chessground/draw";
import type { Key } from "chessground/types";

const BRUSHES: Record<string, string> = { G: "green", R: "red", Y: "yellow", B: "blue" };
const COMMAND = /\s*\[%(?:csl|cal)\s[^\]]*\]/g;
const SHAPE = /^([GRYB])([a-h][1-8])([a-h][1-8])?$/;

/** What a comment says in words. */
export const commentWords = (comment: string) => comment.replace(COMMAND, "").trim();

/** A comment with other words, and the same circles and arrows. */
export function withWords(comment: string, words: string): string {
  const commands = [...comment.matchAll(COMMAND)].map(([command]) => command.trim());
  return [words.trim(), ...commands].filter(Boolean).join(" ");
}

/** What a comment draws. */
export function shapesOf(comment: string): DrawShape[] {
  const codes = [...comment.matchAll(COMMAND)].flatMap(([command]) => command.replace(/^\s*\[%c[sa]l\s|\]$/g, "").split(","));
  return codes.flatMap((code): DrawShape[] => {
    const [, color, orig, dest] = SHAPE.exec(code.trim()) ?? [];
    return color ? [{ orig: orig as Key, dest: dest as Key | undefined, brush: BRUSHES[color] }] : [];
  });
}
