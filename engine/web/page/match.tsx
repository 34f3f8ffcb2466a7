/** The tab of matches: two evaluators play each other on the board, and the games are kept. */
import { render } from "preact";
import type { App, MatchListener } from "./app";
import { $, announce, toast } from "./dom";
import { DEFAULT, MATERIAL } from "./evaluators";
import { REASONS, type Result, resultCode, signedCount, tagsOf, why } from "./format";
import { LEAST_GAMES, agreed, scoreOf, sideOfFirst } from "./matchscore";
import { digest } from "./recent";
import type { Rules } from "./rules";
import { fields } from "./saved";
import { saveGames } from "./savefile";
import { Select } from "./select";
import { type Side, type Strength, strengthText } from "./side";
import { load, save } from "./storage";
import type { SideName } from "./types";

/** Pause between two games, in milliseconds. */
const REST = 1000;
/** Strengths to choose from. */
const STRENGTHS: Strength[] = [
  ...[1000, 5000, 20_000, 100_000].map((value): Strength => ({ by: "nodes", value })),
  ...[100, 500, 2000].map((value): Strength => ({ by: "time", value })),
];
const LENGTHS = [2, 10, 20, 40, 100, 200];

interface MatchGame extends Result {
  moves: string[];
}

interface Match {
  /** Ids of the two evaluators. */
  evaluators: [string, string];
  strength: Strength;
  /** Games to play. */
  length: number;
  begun: number;
  /** The line that each pair of games begins with. */
  openings: string[];
  games: MatchGame[];
}

/** The match that the browser keeps, if it can be read. */
function keptMatch(): Match | null {
  const isText = (value: unknown) => typeof value === "string";
  const texts = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText);
  const isGame = (kept: unknown) => {
    const { moves, winner, reason } = fields(kept);
    return texts(moves) && (winner === null || winner === "white" || winner === "black") && String(reason) in REASONS;
  };
  const { evaluators, strength, length, begun, openings, games } = fields(load("match"));
  const limit = STRENGTHS.find((choice) => JSON.stringify(choice) === JSON.stringify(strength));
  const sound = texts(evaluators) && limit && typeof length === "number" && typeof begun === "number" && texts(openings);
  if (!sound || !Array.isArray(games) || !games.every(isGame)) return null;
  return { evaluators: [evaluators[0], evaluators[1]], strength: limit, length, begun, openings, games };
}

export class MatchPanel implements MatchListener {
  private match = keptMatch();
  /** Whether its game is on the board. */
  private live = false;
  /** Ends the rest between two games; 0 while there is none. */
  private rest = 0;
  /** Lines that games begin with. */
  private lines: Promise<string[]> | null = null;
  /** What the form asks for: evaluators by id, which may not be listed yet, and places in `STRENGTHS` and `LENGTHS`. */
  private wanted = { first: this.match?.evaluators[0] ?? DEFAULT.id, second: this.match?.evaluators[1] ?? MATERIAL.id, strength: "1", length: "2" };

  constructor(
    private readonly app: App,
    private readonly rules: Rules,
  ) {}

  // Playing

  private begin() {
    if (!this.mayLeave()) return;
    const { evaluators } = this.app;
    const { first, second, strength, length } = this.wanted;
    this.match = {
      evaluators: [evaluators.orDefault(first), evaluators.orDefault(second)],
      strength: STRENGTHS[Number(strength)],
      length: LENGTHS[Number(length)],
      begun: Date.now(),
      openings: [],
      games: [],
    };
    void this.next();
    $("panel-match").querySelector("button")?.focus();
  }

  /** Whether the game on the board may go. */
  private mayLeave(): boolean {
    return !this.app.inGame || confirm("Leave the game on the board?");
  }

  private async next() {
    const { match } = this;
    if (!match) return;
    this.rest = 0;
    this.show();
    try {
      const { evaluators } = this.app;
      this.lines ??= fetchLines();
      const [lines] = await Promise.all([this.lines, ...match.evaluators.map((id) => evaluators.get(id))]);
      if (this.match !== match) return;
      const game = match.games.length;
      const [first, second] = match.evaluators.map((evaluator): Side => ({ who: "kibitz", strength: match.strength, evaluator }));
      const [white, black] = sideOfFirst(game) === "white" ? [first, second] : [second, first];
      this.app.playMatchGame(white, black, opening(match, lines).split(" "), this);
      this.live = true;
      this.keep();
    } catch (error) {
      this.lines = null;
      this.live = false;
      toast(`The match cannot go on: ${why(error)}.`);
    }
    this.show();
  }

  agreed = agreed;

  over(result: Result, moves: string[]) {
    const { match } = this;
    if (!match) return;
    match.games.push({ ...result, moves });
    this.keep();
    announce(`Game ${match.games.length}: ${this.title(match, match.games.length - 1)}. ${this.scoreText(match)}`);
    if (this.isOver) this.live = false;
    else this.rest = setTimeout(() => void this.next(), REST);
    this.show();
  }

  left() {
    clearTimeout(this.rest);
    this.rest = 0;
    this.live = false;
    this.show();
  }

  private pause() {
    if (!this.live) {
      if (this.mayLeave()) void this.next();
    } else if (this.rest) this.left();
    else this.app.pause();
  }

  /** Ends the match with the games so far. */
  private end() {
    const { match } = this;
    if (!match) return;
    this.app.endMatchGame();
    match.length = match.games.length;
    if (!match.length) this.match = null;
    this.keep();
    this.left();
    $("match-first").focus();
  }

  private keep() {
    save("match", this.match);
  }

  private get isOver(): boolean {
    return !this.match || this.match.games.length >= this.match.length;
  }

  // Display

  private names({ evaluators }: Match): string[] {
    const choices = this.app.evaluators.choices();
    return evaluators.map((id) => choices.find((choice) => choice.id === id)?.name ?? id);
  }

  private players(match: Match, game: number): Record<SideName, string> {
    const [first, second] = this.names(match);
    return sideOfFirst(game) === "white" ? { white: first, black: second } : { white: second, black: first };
  }

  private title(match: Match, game: number): string {
    const { white, black } = this.players(match, game);
    const { winner, reason } = match.games[game];
    return `${resultCode({ winner })} ${white} – ${black}${reason ? `, ${REASONS[reason]}` : ""}`;
  }

  private scoreText(match: Match): string {
    const [first, second] = this.names(match);
    const { points } = scoreOf(match.games);
    return `${first} ${points}, ${second} ${match.games.length - points}`;
  }

  show() {
    render(<>{this.isOver && this.form()}{this.match && this.progress(this.match)}</>, $("panel-match"));
  }

  private form() {
    const { wanted } = this;
    const { evaluators } = this.app;
    const select = (field: keyof typeof wanted, label: string, options: [string, string][], value = wanted[field]) => (
      <Select id={`match-${field}`} label={label} options={options} value={value} choose={(value) => {
        wanted[field] = value;
        this.show();
      }} />
    );
    const evaluator = (field: "first" | "second", label: string) => select(field, label, evaluators.options(), evaluators.orDefault(wanted[field]));
    return (
      <form onSubmit={(event) => {
        event.preventDefault();
        this.begin();
      }}>
        <h2>A match of two evaluators</h2>
        <p class="quiet">They play on the board, each opening with both colours. A new match forgets the games of the one before.</p>
        {evaluator("first", "First")}
        {evaluator("second", "Second")}
        {select("strength", "Each move", numbered(STRENGTHS.map(strengthText)))}
        {select("length", "Length", numbered(LENGTHS.map((games) => `${games} games`)))}
        <button class="primary">Start the match</button>
      </form>
    );
  }

  private progress(match: Match) {
    const { isOver } = this;
    return <>
      <p>{this.state(match)}</p>
      <div class="row wrap">
        {!isOver && <>
          <button type="button" onClick={() => this.pause()}>{this.live && !this.app.paused ? "Pause" : "Go on"}</button>
          <button type="button" onClick={() => this.end()}>End the match</button>
        </>}
        {match.games.length > 0 && <button type="button" onClick={() => saveGames([...match.games.keys()], (game) => this.pgn(match, game), "match.pgn")}>Save games as PGN</button>}
      </div>
      {this.score(match)}
      <ul class="match-games">
        {match.games.map((_, game) => <li><button type="button" onClick={() => this.study(match, game)}>{`${game + 1}. ${this.title(match, game)}`}</button></li>)}
      </ul>
    </>;
  }

  private state(match: Match): string {
    const { games, length, strength } = match;
    if (this.isOver) return `Over after ${games.length} games (${strengthText(strength)}).`;
    const game = `game ${games.length + 1} of ${length} (${strengthText(strength)})`;
    if (!this.live || this.app.paused) return `Waits: ${game} comes next.`;
    const { white, black } = this.players(match, games.length);
    return this.rest ? `Next: ${game}.` : `On the board: ${game}, ${white} – ${black}.`;
  }

  private score(match: Match) {
    const { won, drawn, lost, points, elo } = scoreOf(match.games);
    const [first, second] = this.names(match);
    const played = match.games.length;
    const row = (name: string, ...figures: number[]) => <tr><th scope="row">{name}</th>{figures.map((figure) => <td>{figure}</td>)}</tr>;
    const alike = played < LEAST_GAMES ? `Elo is told from ${LEAST_GAMES} games on.` : "The results are too much alike to tell Elo.";
    return <>
      <table class="figures">
        <thead><tr>{["Evaluator", "Won", "Drawn", "Lost", "Points"].map((name) => <th scope="col">{name}</th>)}</tr></thead>
        <tbody>{row(first, won, drawn, lost, points)}{row(second, lost, drawn, won, played - points)}</tbody>
      </table>
      <p class="quiet">{elo ? `${first}: ${Math.round((100 * points) / played)}%, ${signedCount(Math.round(elo.value))} ± ${Math.round(elo.error)} Elo (95%).` : alike}</p>
    </>;
  }

  // Finished games

  private pgn(match: Match, game: number): string {
    const { moves, winner } = match.games[game];
    const { white, black } = this.players(match, game);
    const { tree } = this.rules.grow({ start: null, moves });
    return this.rules.writePgn({ tree, tags: tagsOf(new Date(match.begun), white, black), result: resultCode({ winner }) });
  }

  /** Puts a game on the board to study; a match that goes on waits. */
  private study(match: Match, game: number) {
    if (!this.mayLeave()) return;
    try {
      const text = this.pgn(match, game);
      this.app.lookAt(this.rules.readPgn(text), digest(text), true);
    } catch (error) {
      toast(`This game cannot be read: ${why(error)}.`);
    }
  }
}

async function fetchLines(): Promise<string[]> {
  const response = await fetch("./lines.txt");
  if (!response.ok) throw new Error("its openings could not be fetched");
  return (await response.text()).trim().split("\n");
}

/** The line of the next game's pair; a new one where the pair begins. */
function opening({ games, openings }: Match, lines: string[]): string {
  const pair = Math.floor(games.length / 2);
  if (openings.length <= pair) {
    const others = lines.filter((line) => !openings.includes(line));
    openings.push(others[Math.floor(Math.random() * others.length)]);
  }
  return openings[pair];
}

const numbered = (texts: string[]) => texts.map((text, place): [string, string] => [String(place), text]);
