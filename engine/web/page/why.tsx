/** Why the last move was played: what the net makes of every move, what a search prefers, and what the move has changed. */
import { read } from "chessground/fen";
import type { Color, Key } from "chessground/types";
import { render } from "preact";
import { $ } from "./dom";
import { lineText, pawns, scoreText, sentence, why } from "./format";
import { InputList, inputName } from "./inputs";
import type { Searcher } from "./searcher";
import { type Cell, EMPTY_CELL, SmallBoard } from "./smallboard";
import type { Game, InputReport, Iteration, MoveChange, MoveValue, SideName, WhiteScore, WorthChange } from "./types";

/** Nodes of the search behind the two choices. */
const NODES = 50_000;
const NODES_TEXT = NODES.toLocaleString("en");
/** Moves of a line that are shown. */
const MOST_MOVES = 10;
/** Changes of worth that are shown. */
const MOST_CHANGES = 6;

/** Evaluations that the explanation asks for. */
export interface Judge {
  weigh(game: Game): MoveValue[];
  change(game: Game): MoveChange | null;
}

/** The move looked at. */
export interface Looked {
  /** With the move as its last one. */
  game: Game;
  /** Before the move, or of the start where there is none. */
  fen: string;
  /** The move with its number; empty at the start. */
  name: string;
  orientation: Color;
  /** Id of the evaluator; another one gives another explanation. */
  evaluator: string;
}

/** A move, its score and the line behind it. */
interface Choice {
  score: WhiteScore;
  san: string[];
}

/** Results of the search: the move played, and the best other move if there is one. */
interface Found {
  own: Choice;
  other: Choice | null;
}

export class Why {
  private looked: Looked | null = null;
  private key = "";
  private picked: Key | null = null;
  /** The mover's best first; `null` as long as they are not weighed. */
  private moves: MoveValue[] | null = null;
  private reasons: string[] = [];
  private searching = false;
  private found: Found | null = null;
  private change: MoveChange | null = null;

  constructor(
    private readonly judge: Judge,
    private readonly searcher: () => Searcher,
  ) {}

  show(looked: Looked) {
    const key = JSON.stringify([looked.game, looked.evaluator]);
    const same = key === this.key;
    this.looked = looked;
    this.key = key;
    if (same) return this.draw();
    this.picked = this.moves = this.change = this.found = null;
    this.reasons = [];
    this.searching = false;
    void this.explain(looked, key);
  }

  private async explain({ game, fen }: Looked, key: string) {
    const before = { ...game, moves: game.moves.slice(0, -1) };
    try {
      const sign = fen.split(" ")[1] === "w" ? 1 : -1;
      const moves = this.judge.weigh(before).sort((a, b) => Number(b.mates) - Number(a.mates) || sign * (b.value - a.value));
      this.moves = moves;
      const played = moves.find(({ uci }) => uci === game.moves.at(-1));
      if (played) this.reasons.push(ranked(played, moves, fen));
      this.draw();
      // The frame between leaves time for a move on the board.
      await new Promise((resolve) => setTimeout(resolve));
      if (key !== this.key || !played) return;
      this.change = this.judge.change(game);
      if (!this.change) return;
      this.reasons.push(...changed(this.change));
      this.searching = true;
      this.draw();
      const found = await this.search(before, game, played);
      if (key !== this.key) return;
      this.found = found;
      if (found) this.reasons.unshift(compared(played, found, this.change.mover));
    } catch (error) {
      if (key !== this.key) return;
      this.reasons.push(`More cannot be said: ${why(error)}.`);
      this.key = "";
    }
    this.searching = false;
    this.draw();
  }

  /** The move played and the best other one; `null` where another move is looked at by now. */
  private async search(before: Game, after: Game, { uci, san, mates }: MoveValue): Promise<Found | null> {
    const searcher = this.searcher();
    const best = new Map<number, Iteration>();
    const report = (iteration: Iteration) => {
      if (iteration.bound === "exact") best.set(iteration.rank, iteration);
    };
    if (!(await searcher.search({ ...before, nodes: NODES, lines: 2 }, report))) return null;
    const found = [...best.values()].sort((a, b) => a.rank - b.rank);
    const other = found.find(({ pv }) => pv[0] !== uci) ?? null;
    const own = found.find(({ pv }) => pv[0] === uci);
    if (own) return { own, other };
    let san2: string[] = [];
    const result = await searcher.search({ ...after, nodes: NODES }, ({ bound, san }) => {
      if (bound === "exact") san2 = san;
    });
    if (!result) return null;
    return { own: { score: mates ? { mate: 1 } : result.score, san: [san, ...san2] }, other };
  }

  // The board before the move

  private pick(square: Key) {
    this.picked = this.picked !== square && this.moves?.some(({ from }) => from === square) ? square : null;
    this.draw();
  }

  private draw() {
    const { looked, picked, moves, change, found, searching } = this;
    if (!looked) return;
    const { fen, name, orientation } = looked;
    const whole = picked ? `The moves of the piece on ${picked}.` : "The best move to each square. Pick a piece to see its own moves.";
    const values = moves?.length ? `The net’s value after every move, White’s view, before any search. ${whole}` : "There is no legal move.";
    const line = (what: string, { score, san }: Choice) => (
      <p><span class="quiet">{what}</span><b>{scoreText(score)}</b><span>{lineText(fen, san.slice(0, MOST_MOVES))}</span></p>
    );
    render(<>
      <h2>{name ? `Why ${name}?` : "The moves from the start"}</h2>
      <ul class="reasons">{searching && <li>{`A search of ${NODES_TEXT} nodes is under way.`}</li>}{this.reasons.map((reason) => <li>{reason}</li>)}</ul>
      <div class="choices">
        {found && line("Played", found.own)}
        {found?.other && line("Best other", found.other)}
      </div>
      {moves && <p class="quiet">{values}</p>}
      <SmallBoard look="wide" label="The net’s value of every move" orientation={orientation} at={this.cells(looked)} pick={(square) => this.pick(square)} />
      <div>{change && details(change)}</div>
    </>, $("panel-why"));
  }

  private cells({ fen, game }: Looked): (square: Key) => Cell {
    const { picked } = this;
    const moves = this.moves ?? [];
    const standing = read(fen);
    const sign = fen.split(" ")[1] === "w" ? 1 : -1;
    const played = moves.find(({ uci }) => uci === game.moves.at(-1));
    const best = moves[0];
    // The best move to each square: moves are sorted best first.
    const to = new Map<string, MoveValue>();
    for (const move of moves) if (!to.has(move.to) && (!picked || move.from === picked)) to.set(move.to, move);
    return (square) => {
      const move = to.get(square);
      const chosen = square === picked || (!picked && (square === played?.from || square === played?.to));
      const piece = standing.get(square) ?? null;
      if (!move) return { ...EMPTY_CELL, piece, chosen };
      const value = valueText(move, 1);
      const [note, words] = move.mates ? ["#", `${move.san} mates`] : [value, `${move.san} ${value}`];
      return { piece, chosen, note, tint: move.mates ? 1 : shade(sign * (best.value - move.value)), words };
    };
  }
}

/** The best moves are green; what loses more than half a pawn to them turns orange. */
const shade = (loss: number) => Math.max(-0.85, Math.min(0.85, 0.75 - 1.5 * loss));

const ORDINALS = ["first", "second", "third", "fourth", "fifth"];
const valueText = ({ value }: MoveValue, digits?: number) => scoreText({ cp: 100 * value }, digits);
const said = (move: MoveValue) => (move.mates ? "mate" : valueText(move));

/** Where the net alone has the move among all. */
function ranked(played: MoveValue, moves: MoveValue[], fen: string): string {
  if (moves.length === 1) return `${played.san} is the only legal move.`;
  const rank = moves.indexOf(played);
  const place = ORDINALS[rank] ?? `number ${rank + 1}`;
  const other = rank ? moves[0] : moves[1];
  const mover = fen.split(" ")[1] === "w" ? "White" : "Black";
  return `For the net alone, which looks no move ahead, ${played.san} is ${place} among ${mover}’s ${moves.length} moves (${said(played)}); ${rank ? "first" : "second"} is ${other.san} (${said(other)}).${mover === "Black" ? " Low scores are good for Black." : ""}`;
}

/** Returns a sentence that compares the searches of the move and of the best other move. */
function compared({ san }: MoveValue, { own, other }: Found, mover: SideName): string {
  if (!other) return `A search of ${NODES_TEXT} nodes: ${scoreText(own.score)}.`;
  const better = pawnsOf(own.score) - pawnsOf(other.score);
  const gain = mover === "white" ? better : -better;
  const mate = "mate" in own.score || "mate" in other.score;
  const apart = mate || Math.abs(gain) > 10 ? `${scoreText(own.score)} against ${scoreText(other.score)}` : `by ${Math.abs(gain).toFixed(2)} pawns`;
  if (gain >= 0) return `A search of ${NODES_TEXT} nodes takes ${san} for better than ${other.san[0]}, ${apart}.`;
  return `A search of ${NODES_TEXT} nodes would rather play ${other.san[0]} than ${san}, ${apart}.`;
}

const pawnsOf = (score: WhiteScore) => ("mate" in score ? Math.sign(score.mate) * 1000 : score.cp / 100);

/** Returns sentences on the capture, and on pieces that come en prise or out of it. */
function changed({ mover, pieces, threats: [before, after] }: MoveChange): string[] {
  const reasons: string[] = [];
  const taken = pieces.find(({ to }) => to === null);
  if (taken) reasons.push(`It takes the ${taken.color} ${taken.piece} on ${taken.from}, worth ${Math.abs(taken.before).toFixed(2)} pawns there.`);
  const news = (some: InputReport[], others: InputReport[]) => some.filter((input) => others.every((other) => inputName(other) !== inputName(input)));
  const list = (some: InputReport[]) => some.map((input) => `${inputName(input)} (${pawns(input.effect)})`).join(", ");
  const [gone, come] = [news(before, after), news(after, before)];
  if (come.length) reasons.push(`The net’s inputs now see ${list(come)}.`);
  if (gone.length) reasons.push(`They no longer see ${list(gone)}.`);
  const kept = pieces.filter(({ to }) => to !== null);
  const gain = (change: WorthChange) => (mover === "white" ? 1 : -1) * (change.after - change.before);
  const [most] = kept.toSorted((a, b) => gain(b) - gain(a));
  const [least] = kept.toSorted((a, b) => gain(a) - gain(b));
  if (most && gain(most) >= 0.1) reasons.push(`Best for ${sentence(mover)}: ${turned(most)} than before the move.`);
  if (least && gain(least) <= -0.1) reasons.push(`Worst for ${sentence(mover)}: ${turned(least)} than before the move.`);
  return reasons;
}

const named = ({ color, piece, from, to }: WorthChange) => `${color} ${piece} ${to === from ? `on ${from}` : `from ${from} to ${to}`}`;

/** Returns a phrase on a piece's gain or loss of worth for its side. */
function turned(change: WorthChange): string {
  const more = (change.color === "white" ? 1 : -1) * (change.after - change.before);
  return `the ${named(change)} is worth ${Math.abs(more).toFixed(2)} pawns ${more > 0 ? "more" : "less"}`;
}

/** Returns the table of the pieces' worth before and after, and the en-prise inputs. */
function details({ pieces, threats: [before, after] }: MoveChange) {
  const most = pieces
    .filter(({ to }) => to !== null)
    .toSorted((a, b) => Math.abs(b.after - b.before) - Math.abs(a.after - a.before))
    .slice(0, MOST_CHANGES);
  const enPrise = (title: string, inputs: InputReport[]) => inputs.length > 0 && <><p class="quiet">{title}</p><InputList inputs={inputs} /></>;
  return <>
    <h2>What the move changed</h2>
    <p class="quiet">Worth of each piece, White’s view: before, after, difference.</p>
    <table>
      <tbody>{most.map((change) => <tr><th scope="row">{named(change)}</th>{[change.before, change.after, change.after - change.before].map((value) => <td>{pawns(value)}</td>)}</tr>)}</tbody>
    </table>
    {enPrise("En prise before, and what that adds to the score:", before)}
    {enPrise("En prise now:", after)}
  </>;
}
