/** Two curves over a game: what its comments say, and what a short search finds. */
import { $, make, svg } from "./dom";
import { CURVE_NODES } from "./engines";
import { chance, scoreText } from "./format";
import type { WhiteScore } from "./types";

type Curve = (WhiteScore | null)[];

const [WIDTH, HEIGHT] = [400, 130];

export interface Curves {
  /** From the game's comments, of the position after each ply. */
  theirs: Curve;
  ours: Curve;
  /** The moves with their numbers. */
  names: string[];
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

export function showCurves(curves: Curves, go: (ply: number) => void) {
  const { theirs, ours, names, shown } = curves;
  const any = (curve: Curve) => curve.some((score) => score !== null);
  $("curves").hidden = !any(theirs) && !any(ours);
  if ($("curves").hidden) return;
  const x = (ply: number) => (ply / Math.max(1, names.length)) * WIDTH;
  const y = (score: WhiteScore) => (1 - chance(score)) * (HEIGHT - 6) + 3;
  const picture = svg("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    role: "img",
    "aria-label": "White's chance to win over the game, as the game's comments and as a search of Kibitz's see it",
  });
  picture.append(svg("line", { class: "middle", x1: 0, x2: WIDTH, y1: HEIGHT / 2, y2: HEIGHT / 2 }));
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
  picture.append(svg("line", { class: "now", x1: x(shown), x2: x(shown), y1: 0, y2: HEIGHT }));
  picture.onclick = (event) => {
    const box = picture.getBoundingClientRect();
    go(Math.round(((event.clientX - box.left) / box.width) * names.length));
  };
  $("graph").replaceChildren(picture);

  const legend = [
    ["theirs", any(theirs) ? "the PGN’s comments" : ""],
    ["ours", any(ours) ? `Kibitz, ${CURVE_NODES.toLocaleString("en")} nodes a move` : ""],
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
      ` the PGN ${scoreText(their)}, Kibitz ${scoreText(our)}`,
    );
    return make("li", {}, button);
  });
  $("differences").replaceChildren(
    ...(rows.length ? [make("p", { className: "quiet", textContent: "Where they differ most:" }), make("ul", {}, ...rows)] : []),
  );
}
