/** Two curves over a game: what its comments say, and what a short search finds; mistakes are dots. */
import { $, make, svg } from "./dom";
import { chance, scoreText } from "./format";
import type { WhiteScore } from "./types";

type Curve = (WhiteScore | null)[];

/** The picture, and within it the place of the curves. */
const [WIDTH, HEIGHT] = [400, 150];
const [LEFT, RIGHT, TOP, BOTTOM] = [42, 394, 6, 130];

/** Glyphs that are drawn as dots: mistake, blunder, inaccuracy. */
const MISTAKES = [2, 4, 6];

export interface Curves {
  /** From the game's comments, of the position after each ply. */
  theirs: Curve;
  ours: Curve;
  /** Nodes of each search behind ours, where that is known. */
  nodes: number | null;
  /** The moves with their numbers. */
  names: string[];
  /** The first glyph of each move. */
  glyphs: (number | undefined)[];
  shown: number;
}

/** Plies where the curves lie furthest apart in winning chances, furthest first. */
export function differences(theirs: Curve, ours: Curve): { ply: number; gap: number }[] {
  const gaps: { ply: number; gap: number }[] = [];
  theirs.forEach((their, index) => {
    const our = ours[index];
    if (their && our) gaps.push({ ply: index + 1, gap: Math.abs(chance(their) - chance(our)) });
  });
  return gaps.sort((a, b) => b.gap - a.gap);
}

const height = (chance: number) => TOP + (1 - chance) * (BOTTOM - TOP);

/** Lines and numbers: White's chance upwards, moves along. */
function axes(names: string[], x: (ply: number) => number): SVGElement[] {
  const text = (words: string, at: Record<string, string | number>) => {
    const element = svg("text", at);
    element.textContent = words;
    return element;
  };
  const parts: SVGElement[] = [];
  for (const chance of [0, 0.5, 1]) {
    const at = height(chance);
    parts.push(svg("line", { class: "middle", x1: LEFT, x2: RIGHT, y1: at, y2: at }));
    parts.push(text(`${chance * 100} %`, { x: LEFT - 4, y: at + 4, "text-anchor": "end" }));
  }
  const step = [1, 2, 5, 10, 20, 50, 100].find((step) => names.length / 2 / step <= 8) ?? 200;
  names.forEach((name, index) => {
    const number = /^(\d+)\. /.exec(name)?.[1];
    if (number && Number(number) % step === 0) parts.push(text(number, { x: x(index + 1), y: HEIGHT - 6, "text-anchor": "middle" }));
  });
  return parts;
}

export function showCurves(curves: Curves, go: (ply: number) => void) {
  const { theirs, ours, nodes, names, glyphs, shown } = curves;
  const any = (curve: Curve) => curve.some((score) => score !== null);
  $("curves").hidden = !any(theirs) && !any(ours);
  if ($("curves").hidden) return;
  const x = (ply: number) => LEFT + (ply / Math.max(1, names.length)) * (RIGHT - LEFT);
  const y = (score: WhiteScore) => height(chance(score));
  const picture = svg("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    role: "img",
    "aria-label": "White's chance to win over the game, as given with the game and as a search of Kibitz's sees it",
  });
  const main = any(ours) ? ours : theirs;
  const known = main.flatMap((score, index) => (score ? [[x(index + 1), y(score)]] : []));
  const [first, last] = [known[0][0], known[known.length - 1][0]];
  picture.append(svg("polygon", { class: "white", points: [[first, BOTTOM], ...known, [last, BOTTOM]].map((point) => point.join()).join(" ") }));
  picture.append(...axes(names, x));
  for (const [name, curve] of [["theirs", theirs], ["ours", ours]] as const) {
    let path = "";
    let joined = false;
    curve.forEach((score, index) => {
      if (score) path += `${joined ? "L" : "M"}${x(index + 1).toFixed(1)} ${y(score).toFixed(1)}`;
      joined = score !== null;
    });
    if (path) picture.append(svg("path", { class: name, d: path }));
  }
  const apart = differences(theirs, ours).slice(0, 5).filter(({ gap }) => gap > 0.02);
  for (const { ply } of apart) {
    const [their, our] = [theirs[ply - 1] as WhiteScore, ours[ply - 1] as WhiteScore];
    picture.append(svg("line", { class: "apart", x1: x(ply), x2: x(ply), y1: y(their), y2: y(our) }));
  }
  glyphs.forEach((glyph, index) => {
    const score = main[index];
    if (score && glyph && MISTAKES.includes(glyph)) picture.append(svg("circle", { class: `glyph-${glyph}`, cx: x(index + 1), cy: y(score), r: 4 }));
  });
  picture.append(svg("line", { class: "now", x1: x(shown), x2: x(shown), y1: TOP, y2: BOTTOM }));
  const told = make("p", { className: "quiet told", textContent: "White’s chance to win." });
  const pointed = svg("line", { class: "pointed", y1: TOP, y2: BOTTOM, visibility: "hidden" });
  picture.append(pointed);
  const plyAt = ({ clientX }: MouseEvent) => {
    const box = picture.getBoundingClientRect();
    const share = (((clientX - box.left) / box.width) * WIDTH - LEFT) / (RIGHT - LEFT);
    return Math.min(names.length, Math.max(0, Math.round(share * names.length)));
  };
  picture.onclick = (event) => go(plyAt(event));
  picture.onpointermove = (event) => {
    const ply = plyAt(event);
    for (const end of ["x1", "x2"]) pointed.setAttribute(end, String(x(ply)));
    pointed.setAttribute("visibility", "visible");
    const [their, our] = [theirs[ply - 1], ours[ply - 1]];
    const parts = [their && `given ${scoreText(their)}`, our && `Kibitz ${scoreText(our)}`].filter(Boolean);
    told.textContent = `${ply ? names[ply - 1] : "Start"}: ${parts.join(", ") || "no score"}`;
  };
  picture.onpointerleave = () => {
    pointed.setAttribute("visibility", "hidden");
    told.textContent = "White’s chance to win.";
  };
  $("graph").replaceChildren(picture, told);

  const legend = [
    ["theirs", any(theirs) ? "given with the game" : ""],
    ["ours", any(ours) ? nodes ? `Kibitz, ${nodes.toLocaleString("en")} nodes a move` : "Kibitz" : ""],
  ];
  $("legend").replaceChildren(
    ...legend
      .filter(([, text]) => text)
      .map(([className, text]) => make("li", { className, textContent: text })),
  );
  const rows = apart.map(({ ply }) => {
    const [their, our] = [theirs[ply - 1] as WhiteScore, ours[ply - 1] as WhiteScore];
    const button = make("button", { type: "button", onclick: () => go(ply) });
    button.append(
      make("b", { textContent: names[ply - 1] }),
      ` given ${scoreText(their)}, Kibitz ${scoreText(our)}`,
    );
    return make("li", {}, button);
  });
  $("differences").replaceChildren(
    ...(rows.length ? [make("p", { className: "quiet", textContent: "Where they differ most:" }), make("ul", {}, ...rows)] : []),
  );
}
