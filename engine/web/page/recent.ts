/**
 * Recent games, saved in the browser when another game replaces them on the board. Storage has one value per game:
 * tabs would overwrite each other's changes of a common list.
 */
import { fields } from "./saved";
import { load, namesOf, remove, saveText } from "./storage";
import type { Tree } from "./types";

/** Games kept; beyond them the oldest is deleted. */
const MOST_GAMES = 50;
/** Characters kept; browsers store about 5 million for a page. */
const MOST_SIZE = 2_000_000;
const NAME = "recent.";

export interface RecentGame {
  /** Name of the value in storage. */
  name: string;
  /** Time of the replacement, in milliseconds since 1970. */
  replaced: number;
  white: string;
  black: string;
  /** `1-0`, `0-1`, `1/2-1/2`, or `*`. */
  result: string;
  /** Length of the main line in plies. */
  plies: number;
  /** Digest of the PGN text that the game was read from. */
  origin: string | null;
  /** The saved game, for `readSaved`. */
  game: unknown;
}

/** Outcome of keeping a game. */
export interface Kept {
  /** False if storage is forbidden or full. */
  kept: boolean;
  /** Games deleted to make room. */
  deleted: RecentGame[];
}

function read(name: string): RecentGame[] {
  const { replaced, white, black, result, plies, origin, game } = fields(load(name));
  const isText = (value: unknown): value is string => typeof value === "string";
  const isNumber = (value: unknown): value is number => typeof value === "number";
  if (!isNumber(replaced) || !isText(white) || !isText(black) || !isText(result) || !isNumber(plies)) return [];
  return [{ name, replaced, white, black, result, plies, origin: isText(origin) ? origin : null, game }];
}

/** Names of the stored games. */
export const recentNames = () => namesOf(NAME);

/** All recent games that can be read, the newest first. */
export function recentGames(): RecentGame[] {
  return recentNames().flatMap(read).sort((a, b) => b.replaced - a.replaced);
}

/** Digest of a PGN text, to recognise it (FNV-1a of the UTF-16 units, and the length). */
export function digest(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return `${(hash >>> 0).toString(16)}-${text.length}`;
}

/** Players of a game, for messages. */
export const titleOf = ({ white, black }: RecentGame) => `${white} – ${black}`;

export const deleteRecent = ({ name }: RecentGame) => remove(name);

/** Adds a game and deletes its former versions, and the oldest games beyond the limits. */
export function keepRecent(entry: Omit<RecentGame, "name" | "replaced">): Kept {
  const all = recentGames();
  if (all.some(({ game }) => contains(game, entry.game) && !contains(entry.game, game))) return { kept: true, deleted: [] };
  const replaced = Math.max(Date.now(), (all[0]?.replaced ?? 0) + 1);
  const kept = keep({ ...entry, name: `${NAME}${replaced}.${Math.random().toString(36).slice(2)}`, replaced });
  if (kept.kept) for (const former of all) if (contains(entry.game, former.game)) deleteRecent(former);
  const deleted = [...kept.deleted];
  let [games, size] = [0, 0];
  for (const game of recentGames()) {
    games += 1;
    size += JSON.stringify(game).length;
    if (games === 1 || (games <= MOST_GAMES && size <= MOST_SIZE)) continue;
    deleteRecent(game);
    deleted.push(game);
  }
  return { kept: kept.kept, deleted };
}

/** Writes an entry under its name, such as one deleted before. */
export const keep = ({ name, ...entry }: RecentGame): Kept => saveAnyway(name, JSON.stringify(entry));

/** Saves a text, and deletes the oldest recent games until there is room. If that is not enough, deletes none. */
export function saveAnyway(name: string, text: string): Kept {
  const deleted: RecentGame[] = [];
  // Saved after every move: do not parse the recent games unless storage is full.
  if (saveText(name, text)) return { kept: true, deleted };
  const games = recentGames();
  while (!saveText(name, text)) {
    const oldest = games.pop();
    if (!oldest) {
      for (const { name, ...game } of deleted) saveText(name, JSON.stringify(game));
      return { kept: false, deleted: [] };
    }
    deleteRecent(oldest);
    deleted.push(oldest);
  }
  return { kept: true, deleted };
}

/** Returns whether a saved game holds all of another: the same game, its moves, comments and glyphs. */
function contains(whole: unknown, part: unknown): boolean {
  const [a, b] = [fields(whole), fields(part)];
  if (a.begun !== b.begun || a.study !== b.study || a.start !== b.start) return false;
  try {
    return holds(a.tree as Tree, b.tree as Tree);
  } catch {
    // A tree of another version, or a damaged one.
    return false;
  }
}

function holds(whole: Tree, part: Tree): boolean {
  const nodes = new Map(whole.nodes.map(({ parent, uci }, node) => [`${parent} ${uci}`, node]));
  /** Node of the whole by node of the part. */
  const same = [0];
  return part.nodes.every(({ parent, uci, before, comment, glyphs }, node) => {
    if (node) same[node] = nodes.get(`${same[parent]} ${uci}`) ?? -1;
    const other = whole.nodes[same[node]];
    return other && (!before || before === other.before) && (!comment || comment === other.comment) && glyphs.every((glyph) => other.glyphs.includes(glyph));
  });
}
