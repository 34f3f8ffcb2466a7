/** Circles and arrows of a PGN comment: `[%csl Ga1,Rb2]` and `[%cal Ye2e4]`. */
import type { DrawShape } from "chessground/draw";
import type { Key } from "chessground/types";

const BRUSHES: Record<string, string> = { G: "green", R: "red", Y: "yellow", B: "blue" };
const CODES = Object.fromEntries(Object.entries(BRUSHES).map(([code, brush]) => [brush, code]));
const COMMAND = /\s*\[%(?:csl|cal)\s[^\]]*\]/g;
const SHAPE = /^([GRYB])([a-h][1-8])([a-h][1-8])?$/;

/** A comment without its commands for circles and arrows. */
export const commentWords = (comment: string) => comment.replace(COMMAND, "").trim();

/** Returns a comment with other words and the same circles and arrows. */
export function withWords(comment: string, words: string): string {
  const commands = [...comment.matchAll(COMMAND)].map(([command]) => command.trim());
  return [words.trim(), ...commands].filter(Boolean).join(" ");
}

/** Circles and arrows of a comment. */
export function shapesOf(comment: string): DrawShape[] {
  const codes = [...comment.matchAll(COMMAND)].flatMap(([command]) => command.replace(/^\s*\[%c[sa]l\s|\]$/g, "").split(","));
  return codes.flatMap((code): DrawShape[] => {
    const [, color, orig, dest] = SHAPE.exec(code.trim()) ?? [];
    return color ? [{ orig: orig as Key, dest: dest as Key | undefined, brush: BRUSHES[color] }] : [];
  });
}

/** Returns a comment with a circle or arrow drawn; the same one again removes it, another colour replaces it. */
export function withShape(comment: string, { orig, dest, brush }: DrawShape): string {
  const former = shapesOf(comment);
  const same = (shape: DrawShape) => shape.orig === orig && shape.dest === dest;
  const shapes = former.filter((shape) => !same(shape));
  if (former.find(same)?.brush !== brush) shapes.push({ orig, dest, brush });
  const codes = (arrows: boolean) =>
    shapes.filter((shape) => Boolean(shape.dest) === arrows).map((shape) => `${CODES[shape.brush ?? "green"]}${shape.orig}${shape.dest ?? ""}`).join(",");
  const [circles, arrows] = [codes(false), codes(true)];
  return [commentWords(comment), circles && `[%csl ${circles}]`, arrows && `[%cal ${arrows}]`].filter(Boolean).join(" ");
}
