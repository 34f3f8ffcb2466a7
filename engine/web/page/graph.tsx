/** Two curves over a game: what its comments say, and what a short search finds; mistakes are dots. */
import { Component, render } from "preact";
import { $ } from "./dom";
import { chance, scoreText } from "./format";
import type { WhiteScore } from "./types";

type Curve = (WhiteScore | null)[];

/** The picture, and within it the place of the curves. */
const [WIDTH, HEIGHT] = [400, 120];
const [LEFT, RIGHT, TOP, BOTTOM] = [42, 394, 6, 100];

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
  /** The glyph of each move's dot. */
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
const any = (curve: Curve) => curve.some((score) => score !== null);

export function showCurves(curves: Curves, go: (ply: number) => void) {
  const { theirs, ours } = curves;
  $("curves").hidden = !any(theirs) && !any(ours);
  if (!$("curves").hidden) render(<Graph {...curves} go={go} />, $("curves"));
}

type Properties = Curves & { go(ply: number): void };

class Graph extends Component<Properties, { pointed: number | null }> {
  override state = { pointed: null };

  override render({ theirs, ours, nodes, names, glyphs, shown, go }: Properties, state: { pointed: number | null }) {
    // Another game may be shorter.
    const pointed = state.pointed === null ? null : Math.min(state.pointed, names.length);
    const x = (ply: number) => LEFT + (ply / Math.max(1, names.length)) * (RIGHT - LEFT);
    const y = (score: WhiteScore) => height(chance(score));
    const plyAt = ({ clientX, currentTarget }: { clientX: number; currentTarget: SVGElement }) => {
      const box = currentTarget.getBoundingClientRect();
      const share = (((clientX - box.left) / box.width) * WIDTH - LEFT) / (RIGHT - LEFT);
      return Math.min(names.length, Math.max(0, Math.round(share * names.length)));
    };
    const main = any(ours) ? ours : theirs;
    const known = main.flatMap((score, index) => (score ? [[x(index + 1), y(score)]] : []));
    const area = [[known[0][0], BOTTOM], ...known, [known[known.length - 1][0], BOTTOM]];
    const path = (curve: Curve) => curve.map((score, index) => (score ? `${curve[index - 1] ? "L" : "M"}${x(index + 1).toFixed(1)} ${y(score).toFixed(1)}` : "")).join("");
    const upright = (look: string, ply: number) => <line class={look} x1={x(ply)} x2={x(ply)} y1={TOP} y2={BOTTOM} />;
    /** Both scores of a ply, as far as they are known. */
    const scores = (ply: number) => {
      const [their, our] = [theirs[ply - 1], ours[ply - 1]];
      return [their && `given ${scoreText(their)}`, our && `Kibitz ${scoreText(our)}`].filter(Boolean).join(", ");
    };
    const apart = differences(theirs, ours).slice(0, 5).filter(({ gap }) => gap > 0.02);
    const step = [1, 2, 5, 10, 20, 50, 100].find((step) => names.length / 2 / step <= 8) ?? 200;
    return <>
      <div id="graph">
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          role="img"
          aria-label="White's chance to win over the game, as given with the game and as a search of Kibitz's sees it"
          onClick={(event) => go(plyAt(event))}
          onPointerMove={(event) => this.setState({ pointed: plyAt(event) })}
          onPointerLeave={() => this.setState({ pointed: null })}
        >
          <polygon class="white" points={area.join(" ")} />
          {[0, 0.5, 1].map((chance) => <>
            <line class="middle" x1={LEFT} x2={RIGHT} y1={height(chance)} y2={height(chance)} />
            <text x={LEFT - 4} y={height(chance) + 4} text-anchor="end">{`${chance * 100}%`}</text>
          </>)}
          {names.map((name, index) => {
            const number = /^(\d+)\. /.exec(name)?.[1];
            return number && Number(number) % step === 0 && <text x={x(index + 1)} y={HEIGHT - 6} text-anchor="middle">{number}</text>;
          })}
          {any(theirs) && <path class="theirs" d={path(theirs)} />}
          {any(ours) && <path class="ours" d={path(ours)} />}
          {apart.map(({ ply }) => <line class="apart" x1={x(ply)} x2={x(ply)} y1={y(theirs[ply - 1] as WhiteScore)} y2={y(ours[ply - 1] as WhiteScore)} />)}
          {main.map((score, index) => {
            const glyph = glyphs[index];
            return score && glyph && MISTAKES.includes(glyph) && <circle class={`glyph-${glyph}`} cx={x(index + 1)} cy={y(score)} r={4} />;
          })}
          {upright("now", shown)}
          {pointed !== null && upright("pointed", pointed)}
        </svg>
        <p class="quiet told">{pointed === null ? "White’s chance to win." : `${pointed ? names[pointed - 1] : "Start"}: ${scores(pointed) || "no score"}`}</p>
        <ul class="legend" id="legend">
          {any(theirs) && <li class="theirs">given with the game</li>}
          {any(ours) && <li class="ours">{nodes ? `Kibitz, ${nodes.toLocaleString("en")} nodes a move` : "Kibitz"}</li>}
          {apart.length > 0 && <li class="apart">where they differ most</li>}
        </ul>
      </div>
      {apart.length > 0 && <div id="differences">
        <p class="quiet">Where they differ most:</p>
        <ul>{apart.map(({ ply }) => <li><button type="button" onClick={() => go(ply)}><b>{names[ply - 1]}</b> {scores(ply)}</button></li>)}</ul>
      </div>}
    </>;
  }
}
