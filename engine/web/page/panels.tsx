/** The tabs: their code is loaded when they are first opened; those that would help in a game or puzzle are silent. */
import { render } from "preact";
import type { App } from "./app";
import { $ } from "./dom";
import type { Engines } from "./engines";
import type { GameState } from "./gamestate";
import type { Inside } from "./inside";
import { KibitzSearcher } from "./kibitzsearcher";
import type { MatchPanel } from "./match";
import type { PeoplePanel } from "./peoplepanel";
import { GamesPanel } from "./games";
import type { Rules } from "./rules";
import type { Why } from "./why";

/** Tabs that would help in a game. */
const TELLING = ["net", "inside", "why", "people"];

export class Panels {
  private inside: Promise<Inside> | null = null;
  private why: Promise<Why> | null = null;
  private match: Promise<MatchPanel> | null = null;
  private people: Promise<PeoplePanel> | null = null;
  private readonly games: GamesPanel;
  private searcher: KibitzSearcher | null = null;
  /** The note in a silent tab. */
  private readonly silence = Object.assign(document.createElement("div"), { id: "silence" });

  constructor(
    private readonly rules: Rules,
    private readonly state: GameState,
    private readonly module: WebAssembly.Module,
    private readonly engines: Engines,
    private readonly app: App,
  ) {
    this.games = new GamesPanel(app, state, rules);
  }

  /** Shows the open tab anew. */
  show() {
    if (!$("panel-match").hidden) void this.showMatch();
    if (!$("panel-games").hidden) this.games.show();
    this.silence.remove();
    if (this.app.silent) return this.keepSilent();
    if (!$("panel-inside").hidden) void this.showInside();
    if (!$("panel-why").hidden) void this.showWhy();
    if (!$("panel-people").hidden) void this.showPeople();
  }

  /** Says why the open tab is silent. */
  private keepSilent() {
    const open = TELLING.find((name) => !$(`panel-${name}`).hidden);
    if (!open) return;
    const help = () => {
      $("playing-help").click();
      $(`tab-${open}`).focus();
    };
    render(
      this.app.puzzling
        ? <p>This tab would tell the answer. It is back when the puzzle is solved.</p>
        : <><p>You play without help, and this tab would tell how the net judges the position.</p><button type="button" onClick={help}>Turn help on</button></>,
      this.silence,
    );
    $(`panel-${open}`).prepend(this.silence);
  }

  private async showInside() {
    this.inside ??= import("./later").then(({ Inside }) => new Inside((request) => this.rules.inside(request)));
    const inside = await this.inside;
    const { shown, position, orientation } = this.state;
    inside.show({ game: shown, fen: position.fen, orientation });
  }

  private async showWhy() {
    this.why ??= import("./later").then(({ Why }) => new Why(this.rules, () => this.search()));
    const why = await this.why;
    const { state } = this;
    const name = state.at ? state.named(state.at) : "";
    const fen = state.fenOf(state.shownNode.parent);
    why.show({ game: state.shown, fen, name, orientation: state.orientation, evaluator: this.engines.evaluator.id });
  }

  private async showPeople() {
    const { app, state } = this;
    this.people ??= import("./later").then(async ({ PeoplePanel }) => {
      await app.people.list();
      return new PeoplePanel(app.people, {
        chosen: (uci) => app.moved(uci),
        drawn: (shapes) => app.drawOver(shapes),
      });
    });
    const people = await this.people;
    if (app.silent) return;
    people.show({ game: state.shown, best: app.bestMove, over: Boolean(state.position.ending) });
  }

  private async showMatch() {
    this.match ??= import("./later").then(({ MatchPanel }) => new MatchPanel(this.app, this.rules));
    (await this.match).show();
  }

  private search(): KibitzSearcher {
    const { evaluator } = this.engines;
    this.searcher ??= new KibitzSearcher(this.module, evaluator);
    this.searcher.use(evaluator);
    return this.searcher;
  }
}
