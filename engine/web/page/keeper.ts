/** Games in the browser's storage: this tab's own, the browser's last, which new tabs go on with, and the recent ones. */
import { toast } from "./dom";
import { resultCode, tagsOf } from "./format";
import type { GameState } from "./gamestate";
import { type RecentGame, keepRecent, saveAnyway, titleOf } from "./recent";
import type { Rules } from "./rules";
import { type Saved, readGame, readSaved, toKeep } from "./saved";
import { load, loadText, saveText } from "./storage";
import type { SideName } from "./types";

export class Keeper {
  /** Whether the visitor knows that the browser keeps nothing. */
  private told = false;
  /** Text of the browser's last game as this tab wrote or read it: another text is of another tab. */
  private last: string | null = null;

  constructor(
    private readonly state: GameState,
    private readonly rules: Rules,
    /** Gives the name of a player of a saved game. */
    private readonly nameIn: (saved: Saved, side: SideName) => string,
  ) {}

  /** Returns this tab's game, or else, unless `own`, the browser's last; `undefined` if there is none. */
  load(own: boolean): unknown {
    const tab = loadText("game", "tab") !== null;
    if (!tab && own) return undefined;
    const area = tab ? "tab" : "browser";
    this.last = loadText("game", area);
    return load("game", area);
  }

  /** Saves the game on the board after a change. */
  save() {
    const text = this.text();
    const kept = saveText("game", text, "tab") && (!this.state.touched || this.saveLast(text));
    if (kept || this.told || !this.state.last) return;
    this.told = true;
    toast("This browser does not let the page keep the game: it ends with this tab.");
  }

  /** Saves the game as the page is left: clocks have run on since the last move. */
  leave() {
    const text = this.text();
    saveText("game", text, "tab");
    if (this.last !== null && loadText("game") === this.last) saveText("game", text);
  }

  private text(): string {
    return JSON.stringify(toKeep(this.state.saved()));
  }

  /** Saves the game as the browser's last; that of another tab becomes a recent game. */
  private saveLast(text: string): boolean {
    const last = loadText("game");
    if (last !== null && last !== this.last) this.keepOther(load("game"));
    const { kept, deleted } = saveAnyway("game", text);
    if (kept) this.last = text;
    tellDeleted(deleted);
    return kept;
  }

  private keepOther(other: unknown) {
    try {
      const saved = readSaved(other);
      if (saved.moves.length && !saved.disposable) this.keepRecent(saved);
    } catch (error) {
      console.warn("the game of another tab:", error);
    }
  }

  /** Adds a game to the recent ones; returns false if the browser does not keep it. */
  keepRecent(saved: Saved): boolean {
    const { moves, result, origin } = saved;
    const [white, black] = [this.nameIn(saved, "white"), this.nameIn(saved, "black")];
    const { kept, deleted } = keepRecent({ white, black, result: result ? resultCode(result) : "*", plies: moves.length, origin, game: toKeep(saved) });
    tellDeleted(deleted);
    return kept;
  }

  /** Returns a recent game as PGN; throws if it is damaged. */
  recentPgn({ game, white, black, result, replaced }: RecentGame): string {
    const { tree } = readSaved(game);
    return this.rules.writePgn({ tree: tree ?? this.rules.grow(readGame(game)).tree, tags: tagsOf(new Date(replaced), white, black), result });
  }
}

function tellDeleted([game, ...others]: RecentGame[]) {
  if (!game) return;
  const more = others.length ? ` and ${others.length} more` : "";
  toast(`Recent games is full: the oldest, ${titleOf(game)}${more}, was deleted.`);
}
