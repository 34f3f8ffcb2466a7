/** Tabs whose code is loaded when they are first opened. */
import type { App } from "./app";
import { $ } from "./dom";
import type { Engines } from "./engines";
import type { GameState } from "./gamestate";
import type { Inside } from "./inside";
import { KibitzSearcher } from "./kibitzsearcher";
import type { MatchPanel } from "./match";
import type { Rules } from "./rules";
import type { Why } from "./why";

export class Panels {
  private inside: Promise<Inside> | null = null;
  private why: Promise<Why> | null = null;
  private match: Promise<MatchPanel> | null = null;
  private searcher: KibitzSearcher | null = null;

  constructor(
    private readonly rules: Rules,
    private readonly state: GameState,
    private readonly module: WebAssembly.Module,
    private readonly engines: Engines,
    private readonly app: App,
  ) {}

  /** Something has changed that the open one shows. */
  show() {
    if (!$("panel-inside").hidden) void this.showInside();
    if (!$("panel-why").hidden) void this.showWhy();
    if (!$("panel-match").hidden) void this.showMatch();
  }

  private async showInside() {
    this.inside ??= import("./inside").then(({ Inside }) => new Inside((request) => this.rules.inside(request)));
    const inside = await this.inside;
    const { shown, position, orientation } = this.state;
    inside.show({ game: shown, fen: position.fen, orientation });
  }

  private async showWhy() {
    this.why ??= import("./why").then(({ Why }) => new Why(this.rules, () => this.search()));
    const why = await this.why;
    const { state } = this;
    const name = state.at ? state.named(state.at) : "";
    const fen = state.fenOf(state.shownNode.parent);
    why.show({ game: state.shown, fen, name, orientation: state.orientation, evaluator: this.engines.evaluator.id });
  }

  private async showMatch() {
    this.match ??= import("./match").then(({ MatchPanel }) => new MatchPanel(this.app, this.rules));
    (await this.match).show();
  }

  private search(): KibitzSearcher {
    const { evaluator } = this.engines;
    this.searcher ??= new KibitzSearcher(this.module, evaluator);
    this.searcher.use(evaluator);
    return this.searcher;
  }
}
