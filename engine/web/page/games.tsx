/** The tab *Your games*: results of the visitor's games that reached the shown position, and the recent games. */
import { render } from "preact";
import type { App } from "./app";
import { type PlayedGame, keepGames, playedGames } from "./archive";
import { varies } from "./book";
import { $, UNDO_TIME, offer, toast } from "./dom";
import { resultCode, tagsOf, why } from "./format";
import type { GameState } from "./gamestate";
import { type RecentGame, deleteRecent, keep, recentGames, recentNames, titleOf } from "./recent";
import type { Rules } from "./rules";
import { saveGames } from "./savefile";
import { save, saveable } from "./storage";

interface Tally {
  won: number;
  drawn: number;
  lost: number;
}

function tally(games: PlayedGame[]): Tally {
  const won = games.filter(({ side, winner }) => winner === side).length;
  const drawn = games.filter(({ winner }) => winner === null).length;
  return { won, drawn, lost: games.length - won - drawn };
}

/** Groups games by the move played next, the most frequent first. */
function byMove(games: PlayedGame[], key: string): { uci: string; games: PlayedGame[] }[] {
  const moves = new Map<string, { uci: string; games: PlayedGame[] }>();
  for (const game of games) {
    const ply = game.keys.indexOf(key);
    const next = game.keys[ply + 1];
    if (next === undefined) continue;
    const known = moves.get(next) ?? { uci: game.moves[ply], games: [] };
    known.games.push(game);
    moves.set(next, known);
  }
  return [...moves.values()].sort((a, b) => b.games.length - a.games.length);
}

export class GamesPanel {
  /** The recent games, read again when their names change. */
  private recent: RecentGame[] = [];
  private names = "";

  constructor(
    private readonly app: App,
    private readonly state: GameState,
    private readonly rules: Rules,
  ) {}

  show() {
    const names = recentNames().join();
    if (names !== this.names) this.recent = recentGames();
    this.names = names;
    render(<>{this.results()}{this.recentGames()}</>, $("panel-games"));
  }

  private results() {
    const { app, state, rules } = this;
    const all = playedGames();
    const key = state.keys.at(-1) ?? "";
    const games = all.filter(({ keys }) => keys.includes(key));
    const moves = byMove(games, key);
    const { won, drawn, lost } = tally(games);
    const number = games.length === 1 ? "1 game" : `${games.length} games`;
    const row = (uci: string, { length }: PlayedGame[], { won, drawn, lost }: Tally) => (
      <tr><th scope="row">{app.after(state.at, [uci])?.san ?? uci}</th>{[length, won, drawn, lost].map((count) => <td>{count}</td>)}</tr>
    );
    const forget = () => {
      if (!confirm("Forget all your games on this device?")) return;
      keepGames([]);
      this.show();
    };
    return <>
      <h2>Your games against engines</h2>
      <p id="own-count" class="quiet">{games.length ? `${number} from here: ${won} won, ${drawn} drawn, ${lost} lost.` : `No game from here, ${all.length} in all.`}</p>
      {moves.length > 0 && <table class="figures">
        <thead><tr>{["Move", "Games", "Won", "Drawn", "Lost"].map((name) => <th scope="col">{name}</th>)}</tr></thead>
        <tbody id="own-rows">{moves.map(({ uci, games }) => row(uci, games, tally(games)))}</tbody>
      </table>}
      <label class="switch"><input type="checkbox" id="vary" checked={varies()} onInput={({ currentTarget }) => save("vary", currentTarget.checked)} /> Kibitz varies its openings by these results</label>
      <div class="row wrap">
        <button id="own-export" type="button" disabled={!all.length} onClick={() => saveGames(all, (game) => pgnOf(game, rules), "my-games.pgn")}>Save as PGN</button>
        <button id="own-forget" type="button" disabled={!all.length} onClick={forget}>Forget my games</button>
      </div>
    </>;
  }

  private recentGames() {
    const { recent } = this;
    const none = saveable() ? "None yet. A game that another one replaces on the board is kept here." : "This browser does not let the page keep games.";
    return <>
      <h2>Recent games</h2>
      <p id="recent-count" class="quiet">{recent.length ? "Games that were replaced on the board; of more than 50 the oldest is deleted." : none}</p>
      {recent.length > 0 && <ul id="recent-list">{recent.map((game) => this.row(game))}</ul>}
      <div class="row wrap">
        <button type="button" disabled={!recent.length} onClick={() => this.save(recent, "recent-games.pgn")}>Save all as PGN</button>
      </div>
    </>;
  }

  private row(game: RecentGame) {
    const date = new Date(game.replaced).toLocaleString("en", { dateStyle: "medium", timeStyle: "short" });
    const moves = Math.ceil(game.plies / 2);
    const details = [game.result === "*" ? "" : game.result, moves === 1 ? "1 move" : `${moves} moves`, date].filter(Boolean).join(" · ");
    const label = `${titleOf(game)}, ${date}`;
    return (
      <li key={game.name}>
        <button type="button" class="open" onClick={() => this.app.openRecent(game)}><span>{titleOf(game)}</span><small>{details}</small></button>
        <button type="button" aria-label={`Save: ${label}`} onClick={() => this.save([game], "kibitz.pgn")}>Save</button>
        <button type="button" aria-label={`Delete: ${label}`} onClick={() => this.remove(game)}>Delete</button>
      </li>
    );
  }

  private remove(game: RecentGame) {
    deleteRecent(game);
    this.show();
    offer(`Deleted: ${titleOf(game)}`, "Undo", () => {
      if (!keep(game).kept) toast("This browser has no room for the game any more.");
      this.show();
    }, UNDO_TIME);
  }

  private async save(games: RecentGame[], name: string) {
    try {
      await saveGames(games, (game) => this.app.recentPgn(game), name);
    } catch (error) {
      toast(`A game cannot be read: ${why(error)}.`);
    }
  }
}

function pgnOf({ begun, start, moves, side, winner }: PlayedGame, rules: Rules): string {
  const { tree } = rules.grow({ start, moves });
  const [white, black] = side === "white" ? ["You", "Kibitz"] : ["Kibitz", "You"];
  return rules.writePgn({ tree, tags: tagsOf(new Date(begun), white, black), result: resultCode({ winner }) });
}
