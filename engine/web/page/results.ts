/** Results of the visitor's games that reached the shown position; saving and deleting these games. */
import { type PlayedGame, keepGames, playedGames } from "./archive";
import { varies } from "./book";
import { $, make } from "./dom";
import { resultCode, tagsOf } from "./format";
import type { GameState } from "./gamestate";
import type { Rules } from "./rules";
import { save } from "./storage";
import type { Ply } from "./types";

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

/** `after` tells of a move at the node looked at. */
export function showResults(state: GameState, after: (node: number, moves: string[]) => Ply | undefined) {
  const all = playedGames();
  const key = state.keys.at(-1) ?? "";
  const games = all.filter(({ keys }) => keys.includes(key));
  const { won, drawn, lost } = tally(games);
  const number = games.length === 1 ? "1 game" : `${games.length} games`;
  $("own-count").textContent = games.length ? `${number} from here: ${won} won, ${drawn} drawn, ${lost} lost.` : `No game from here, ${all.length} in all.`;
  const cell = (textContent: string) => make("td", { textContent });
  const rows = byMove(games, key).map(({ uci, games }) => {
    const { won, drawn, lost } = tally(games);
    const move = make("th", { scope: "row", textContent: after(state.at, [uci])?.san ?? uci });
    return make("tr", {}, move, ...[games.length, won, drawn, lost].map((count) => cell(String(count))));
  });
  $("own-moves").hidden = rows.length === 0;
  $("own-rows").replaceChildren(...rows);
  for (const id of ["own-export", "own-forget"]) $<HTMLButtonElement>(id).disabled = all.length === 0;
}

function pgnOf({ begun, start, moves, side, winner }: PlayedGame, rules: Rules): string {
  const { tree } = rules.grow({ start, moves });
  const [white, black] = side === "white" ? ["You", "Kibitz"] : ["Kibitz", "You"];
  return rules.writePgn({ tree, tags: tagsOf(new Date(begun), white, black), result: resultCode({ winner }) });
}

/** Many games as PGN. Other tasks have their turn between them. */
export async function joinedPgn<T>(games: T[], write: (game: T) => string): Promise<string> {
  const texts: string[] = [];
  for (const game of games) {
    texts.push(write(game));
    await new Promise((resolve) => setTimeout(resolve));
  }
  return texts.join("\n");
}

/** Saves a text as a file of the visitor's. */
export function saveFile(text: string, name: string) {
  const url = URL.createObjectURL(new Blob([text], { type: "application/x-chess-pgn" }));
  make("a", { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}

export function connectResults(rules: Rules, changed: () => void) {
  $("own-export").onclick = async () => saveFile(await joinedPgn(playedGames(), (game) => pgnOf(game, rules)), "my-games.pgn");
  $("own-forget").onclick = () => {
    if (!confirm("Forget all your games on this device?")) return;
    keepGames([]);
    changed();
  };
  const vary = $<HTMLInputElement>("vary");
  vary.checked = varies();
  vary.onchange = () => save("vary", vary.checked);
}
