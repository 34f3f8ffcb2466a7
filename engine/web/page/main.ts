/** Starts the page and connects its controls. */
import "chessground/assets/chessground.base.css";
import "chessground/assets/chessground.cburnett.css";
import "./style.css";
import "./inside.css";
import { App } from "./app";
import { $, toast, trouble } from "./dom";
import { edit } from "./editor";
import { DEFAULT, type Evaluator, Evaluators, readEvaluator } from "./evaluators";
import { sentence, why } from "./format";
import { textOf } from "./files";
import { Breakdown, Kibitz } from "./kibitz";
import { readLink } from "./link";
import { connectLooks } from "./looks";
import { openMenu } from "./menu";
import { compile } from "./module";
import { type NewGame, askNewGame } from "./newgame";
import { Openings } from "./openings";
import { Practice } from "./practice";
import { digest } from "./recent";
import { Rules } from "./rules";
import { fields } from "./saved";
import { saveFile } from "./savefile";
import { soundOn } from "./sound";
import { forgetAll, load, save } from "./storage";
import { mostThreads } from "./team";
import type { GameText } from "./types";
import { welcome } from "./welcome";

/** Tabs of today for those that former versions saved. */
const TABS: Record<string, string> = { study: "report", own: "games" };
/** Largest file accepted as a net, in bytes. */
const LARGEST_NET = 100e6;
const click = (id: string, action: () => unknown) => ($(id).onclick = () => void action());

function begin(module: WebAssembly.Module, kibitz: Kibitz) {
  welcome();
  const rules = new Rules(kibitz);
  const evaluators = new Evaluators();
  const app = new App(rules, module, evaluators);
  // A link replaces the tab's game, and so that game has to be there first.
  const own = readLink(location.hash) !== null && app.resume(true);
  if (!follow(app) && !own && !app.resume()) app.changed();
  connect(app, rules, module);
  addEventListener("hashchange", () => follow(app));
  document.documentElement.dataset.ready = "true";
  performance.mark("ready");
  // Load the rest after the first move is possible.
  setTimeout(() => void later(app, evaluators));
}

/** Shows the game of the address, if it has one. */
function follow(app: App): boolean {
  const link = readLink(location.hash);
  if (!link) return false;
  try {
    app.look(link, link.ply ?? link.moves.length, false, link.evals);
    history.replaceState(null, "", location.pathname + location.search);
    return true;
  } catch (error) {
    toast(`This link holds no game: ${why(error)}`);
    return false;
  }
}

async function later(app: App, evaluators: Evaluators) {
  const warn = (error: unknown) => console.warn(error);
  await Promise.all([
    Openings.fetch().then((openings) => app.nameOpenings(openings)).catch(warn),
    evaluators.list().then(() => recallEvaluators(app, evaluators)).catch(warn),
  ]);
  try {
    if (import.meta.env.PROD) await navigator.serviceWorker?.register("./sw.js");
  } catch (error) {
    warn(error);
  }
}

/** Chooses the evaluator of the last visit, and fetches the nets of the game that goes on. */
async function recallEvaluators(app: App, evaluators: Evaluators) {
  listEvaluators(app);
  const there = new Set(evaluators.choices().map(({ id }) => id));
  const chosen = String(load("brain") ?? DEFAULT.id);
  if (chosen !== app.evaluator.id && there.has(chosen)) {
    const select = $<HTMLSelectElement>("evaluator");
    select.value = chosen;
    select.dispatchEvent(new Event("change"));
  }
  await Promise.allSettled(app.wantedEvaluators.filter((id) => there.has(id)).map((id) => evaluators.get(id)));
  if (app.wantedEvaluators.length) app.changed({ sameGame: true });
}

function listEvaluators({ evaluators, evaluator }: App) {
  $("evaluator").replaceChildren(...evaluators.options().map(([id, text]) => new Option(text, id, false, id === evaluator.id)));
  $("evaluator-strength").textContent = evaluators.strengthNote(evaluator.id);
  $("forget-net").hidden = !evaluators.isOwn(evaluator.id);
}

function connect(app: App, rules: Rules, module: WebAssembly.Module) {
  let newest: NewGame;
  click("new", async () => {
    const game = await askNewGame(app.evaluators, app.begun);
    if (!game) return;
    newest = game;
    try {
      // So that they are at hand when their turn comes.
      await Promise.all([game.white, game.black].map(({ evaluator }) => evaluator && app.evaluators.get(evaluator)));
      // While they came another game may have begun.
      if (newest === game) app.begin(game);
    } catch (error) {
      toast(why(error));
    }
  });
  click("undo", () => app.undo());
  click("flip", () => app.flip());
  click("draw", () => app.offerDraw());
  click("resign", () => app.resign());
  click("pause", () => app.pause());
  click("first", () => app.leap(false));
  click("previous", () => app.step(-1));
  click("next", () => app.step(1));
  click("last", () => app.leap(true));
  click("help", () => $<HTMLDialogElement>("help-dialog").showModal());

  let turned = 0;
  $("board").addEventListener("wheel", (event) => {
    if (event.ctrlKey) return;
    event.preventDefault();
    // A touchpad tells of many small turns.
    turned += event.deltaY;
    if (Math.abs(turned) < 40) return;
    app.step(turned < 0 ? -1 : 1);
    turned = 0;
  }, { passive: false });

  const text = $<HTMLInputElement>("move-text");
  $<HTMLFormElement>("type-move").onsubmit = (event) => {
    event.preventDefault();
    if (text.value.trim() && app.type(text.value.trim())) text.value = "";
    else text.select();
  };

  document.addEventListener("visibilitychange", () => app.think());
  document.addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    const taken = target.closest("input, select, textarea, dialog, [popover], [role=tablist], [role=grid]");
    if (taken || event.altKey || event.ctrlKey || event.metaKey) return;
    // Space presses buttons, and arrows scroll what has the focus.
    const presses = target.closest("button, a, label") && !target.closest("#moves");
    const scrolls = target.tabIndex >= 0 && target.getAttribute("role") === "region";
    const action = {
      ArrowLeft: () => app.step(-1),
      ArrowRight: () => app.step(1),
      ArrowUp: () => !scrolls && app.aside(-1),
      ArrowDown: () => !scrolls && app.aside(1),
      Home: () => app.leap(false),
      End: () => app.leap(true),
      f: () => app.flip(),
      " ": () => (presses ? false : app.onward()),
    }[event.key];
    if (action && action() !== false) event.preventDefault();
  });

  connectTabs(app);
  connectSettings(app);
  connectNets(app);
  connectStudy(app, rules);
  new Practice(app, rules, module);
}

/** Connects the tabs, and those within *Analyse* and *Lab*. */
function connectTabs(app: App) {
  const nameOf = ({ id }: Element) => id.slice("tab-".length);
  const tabsIn = (list: Element) => [...list.children].map(nameOf);
  /** Opens a tab and the one around it; a tab with tabs within opens the last of those. */
  const choose = (name: string) => {
    const list = $(`tab-${name}`).parentElement as HTMLElement;
    for (const other of tabsIn(list)) {
      const chosen = other === name;
      $(`tab-${other}`).setAttribute("aria-selected", String(chosen));
      $(`tab-${other}`).tabIndex = chosen ? 0 : -1;
      $(`panel-${other}`).hidden = !chosen;
    }
    const around = list.closest(".group");
    if (around) choose(around.id.slice("panel-".length));
    else for (const within of document.querySelectorAll<HTMLElement>(".group")) hideWithin(within);
  };
  /** Panels within a closed one are hidden too: whoever asks for one need not look around it. */
  const hideWithin = (group: HTMLElement) => {
    for (const tab of group.querySelectorAll("[role=tab]")) {
      $(`panel-${nameOf(tab)}`).hidden = group.hidden || tab.getAttribute("aria-selected") !== "true";
    }
  };
  const open = (name: string) => {
    choose(name);
    const within = $(`panel-${name}`).querySelector("[role=tab][aria-selected=true]");
    save("tab", within ? nameOf(within) : name);
    app.changed({ sameGame: true });
  };
  for (const list of document.querySelectorAll("[role=tablist]")) {
    const names = tabsIn(list);
    for (const name of names) {
      click(`tab-${name}`, () => open(name));
      $(`tab-${name}`).onkeydown = ({ key }) => {
        const by = { ArrowRight: 1, ArrowLeft: names.length - 1 }[key];
        if (!by) return;
        const next = names[(names.indexOf(name) + by) % names.length];
        open(next);
        $(`tab-${next}`).focus();
      };
    }
  }
  for (const name of ["net", "engine"]) choose(name);
  const former = load("tab");
  open(TABS[String(former)] ?? (typeof former === "string" && document.getElementById(`tab-${former}`) ? former : "engine"));
}

function connectSettings(app: App) {
  const sound = $("sound");
  const showSound = () => sound.setAttribute("aria-pressed", String(soundOn()));
  click("sound", () => {
    save("sound", !soundOn());
    showSound();
  });
  showSound();

  click("theme", () => {
    const { dataset } = document.documentElement;
    const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    dataset.theme = (dataset.theme ?? system) === "dark" ? "light" : "dark";
    save("theme", dataset.theme);
  });

  for (const id of ["arrows", "show-worth"]) {
    const box = $<HTMLInputElement>(id);
    box.checked = load(id) !== false;
    box.onchange = () => {
      save(id, box.checked);
      app.settingsChanged();
    };
  }
  const lines = $<HTMLSelectElement>("lines");
  lines.value = String(load("lines") ?? 1);
  if (lines.selectedIndex < 0) lines.value = "1";
  lines.onchange = () => {
    save("lines", lines.value);
    app.linesChanged();
    app.changed({ sameGame: true });
  };
  connectLooks();
  connectThreads(app);
  const help = $<HTMLInputElement>("playing-help");
  help.checked = load("playing-help") === true;
  help.onchange = () => {
    save("playing-help", help.checked);
    app.changed({ sameGame: true });
  };
  $("analyse").onchange = () => app.changed({ sameGame: true });
}

function connectThreads(app: App) {
  $("threads-field").hidden = mostThreads === 1;
  if (mostThreads === 1) return;
  const threads = $<HTMLSelectElement>("threads");
  for (let number = 1; number <= mostThreads; number += 1) threads.add(new Option(String(number)));
  // The page and other programs want to run too.
  threads.value = String(load("threads"));
  if (threads.selectedIndex < 0) threads.value = String(Math.ceil(mostThreads / 2));
  app.useThreads(Number(threads.value));
  threads.onchange = () => {
    save("threads", threads.value);
    app.useThreads(Number(threads.value));
  };
}

function connectNets(app: App) {
  const select = $<HTMLSelectElement>("evaluator");
  const { evaluators } = app;
  const forget = $("forget-net");
  app.evaluatorsChanged = () => {
    save("brain", app.evaluator.id);
    listEvaluators(app);
  };
  listEvaluators(app);
  select.onchange = async () => {
    const id = select.value;
    let evaluator: Evaluator;
    try {
      evaluator = await evaluators.get(id);
    } catch (error) {
      toast(`This net cannot be had: ${why(error)}.`);
      return listEvaluators(app);
    }
    // While it was fetched another may have been chosen.
    if (select.value !== id) return;
    try {
      app.use(evaluator);
    } catch (error) {
      const own = evaluators.isOwn(id);
      toast(`${evaluator.name} cannot be used: ${why(error)}.${own ? " It is forgotten." : ""}`);
      if (own) await evaluators.forget(id);
      listEvaluators(app);
    }
  };
  const file = $<HTMLInputElement>("net-file");
  const take = async (net: File) => {
    try {
      if (net.size > LARGEST_NET) throw new Error("it is too large for a net");
      const evaluator = await readEvaluator(net);
      app.use(evaluator);
      // The first evaluation may have failed, and the evaluator been dismissed.
      if (app.evaluator !== evaluator) return;
      const kept = await evaluators.keep(evaluator);
      toast(`Kibitz now thinks with ${net.name}${kept ? "." : "; the browser will not keep it."}`);
    } catch (error) {
      toast(`${net.name} cannot be used: ${why(error)}`);
    }
    listEvaluators(app);
  };
  forget.onclick = async () => {
    const { id } = app.evaluator;
    if (app.wantedEvaluators.includes(id)) return toast("This net plays in the game on the board.");
    await evaluators.forget(id);
    app.use(DEFAULT);
    select.focus();
  };
  file.onchange = () => {
    if (file.files?.[0]) void take(file.files[0]);
    file.value = "";
  };
  let newest: File;
  const open = async (opened: File) => {
    newest = opened;
    if (opened.name.endsWith(".safetensors")) {
      $("tab-net").click();
      return take(opened);
    }
    const reading = $("reading");
    reading.hidden = false;
    try {
      const progress = (games: number) => newest === opened && (reading.textContent = `Reading ${opened.name}: ${games} games…`);
      progress(0);
      const { text, firstGames } = await textOf(opened, progress);
      // While it was read another may have been opened.
      if (newest !== opened) return;
      $<HTMLTextAreaElement>("pgn").value = text;
      $("read-pgn").click();
      if (firstGames) toast(`${opened.name} is long: its first ${firstGames} games are listed.`);
    } catch (error) {
      toast(`${opened.name} cannot be read: ${why(error)}.`);
    } finally {
      if (newest === opened) reading.hidden = true;
    }
  };
  const any = $<HTMLInputElement>("open-file");
  any.onchange = () => {
    if (any.files?.[0]) void open(any.files[0]);
    any.value = "";
  };
  document.addEventListener("dragover", (event) => {
    if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
  });
  document.addEventListener("drop", async (event) => {
    const dropped = event.dataTransfer?.files[0];
    if (!dropped) return;
    event.preventDefault();
    await open(dropped);
  });
}

function connectStudy(app: App, rules: Rules) {
  const fen = $<HTMLInputElement>("fen");
  const pgn = $<HTMLTextAreaElement>("pgn");
  const pick = $<HTMLSelectElement>("pick-game");
  let games: GameText[] = [];

  const panel = $("open-panel");
  /** Closes the panel; keys then walk through the game. */
  const close = () => {
    if (!panel.matches(":popover-open")) return;
    panel.hidePopover();
    $("moves").focus();
  };
  click("open", () => {
    panel.showPopover();
    pgn.focus();
  });
  click("set-fen", () => {
    try {
      app.look({ start: rules.setUp(fen.value), moves: [] });
      close();
    } catch (error) {
      toast(`${sentence(why(error))}.`);
    }
  });
  fen.onkeydown = ({ key }) => {
    if (key === "Enter") $("set-fen").click();
  };

  const show = (index: number, picked: boolean) => {
    const origin = digest(games[index].text);
    if (picked && app.openChanged(origin)) return toast("As you left it, with your changes.");
    try {
      const game = rules.readPgn(games[index].text);
      const { faults, tree } = game;
      if (faults.length && tree.nodes.length < 2 && !tree.start) return toast(`No move of this game can be read: ${faults[0]}.`);
      app.lookAt(game, origin, picked);
      close();
      if (faults.length) toast(`Read, but for this: ${faults.join(". ")}.`);
      if (tree.nodes.some((node) => node.eval)) void app.drawCurve();
    } catch (error) {
      toast(`No move of this game can be read: ${why(error)}.`);
    }
  };
  // *Undo* and the recent games may bring back a game of the list.
  app.gameReplaced = (origin) => {
    const same = ({ text }: GameText) => origin !== null && origin.endsWith(`-${text.length}`) && digest(text) === origin;
    if (games.length < 2 || same(games[pick.selectedIndex])) return;
    const index = games.findIndex(same);
    if (index >= 0) pick.selectedIndex = index;
  };
  const list = (text: string, chosen: number) => {
    games = rules.listPgn(text);
    pgn.value = text;
    $("pick-game-label").hidden = games.length < 2;
    pick.replaceChildren(...games.map((game, index) => new Option(`${index + 1}. ${titleOf(game)}`, String(index), false, index === chosen)));
  };
  /** Saves the list for a reload. */
  const keep = () => {
    if (save("pgn", { text: pgn.value, chosen: pick.selectedIndex }, "tab") || games.length < 2) return;
    save("pgn", null, "tab");
    toast("This file is too long for the browser to keep: after a reload, open it again.");
  };
  click("read-pgn", () => {
    try {
      list(pgn.value, 0);
    } catch (error) {
      return toast(`${sentence(why(error))}.`);
    }
    show(0, false);
    keep();
  });
  pick.onchange = () => {
    show(pick.selectedIndex, true);
    keep();
  };
  const { text, chosen } = fields(load("pgn", "tab"));
  if (typeof text === "string" && text) {
    try {
      list(text, Number(chosen));
    } catch (error) {
      console.warn("the games of this tab:", error);
    }
  }
  click("review", () => app.review());
  click("draw-curve", () => app.drawCurve());
  click("edit", () => {
    close();
    app.edit(edit);
  });
  const share = $("share");
  const words = new Intl.ListFormat("en");
  click("share", () => {
    const { leftOut } = app;
    openMenu("Share", [
      { id: "copy-link", name: "Copy link", act: () => copy(app.link(), "The link", leftOut.length ? ` It leaves out ${words.format(leftOut)}.` : "") },
      { id: "copy-pgn", name: "Copy PGN", act: () => copy(app.pgn(), "The game") },
      { id: "copy-fen", name: "Copy FEN", act: () => copy(fen.value, "The position") },
      { id: "save-pgn", name: "Save PGN", act: () => saveFile(app.pgn(), "kibitz.pgn") },
    ], share);
  });
}

/** Names a game of a list by its players, or where they are unknown by its chapter or event. */
function titleOf({ tags }: GameText): string {
  const tag = (name: string) => tags.find(([key]) => key.toLowerCase() === name)?.[1].replace(/^\?*$/, "") ?? "";
  const [white, black] = [tag("white"), tag("black")];
  const other = white || black ? "" : tag("chaptername") || tag("event");
  return other || `${white || "?"} – ${black || "?"}`;
}

async function copy(text: string, what: string, note = "") {
  try {
    await navigator.clipboard.writeText(text);
    toast(`${what} is in the clipboard.${note}`);
  } catch {
    prompt(`${what}:`, text);
  }
}

// A breakdown with the built-in net, from which only a reload recovers.
const broken = (error: unknown) => {
  if (error instanceof Breakdown) trouble(`${error.message}.`, { "Reload the page": () => refresh() });
};
addEventListener("error", ({ error }) => broken(error));
addEventListener("unhandledrejection", ({ reason }) => broken(reason));

async function start() {
  const again = { "Try again": () => refresh() };
  let module: WebAssembly.Module;
  let kibitz: Kibitz;
  try {
    module = await compile();
    kibitz = await Kibitz.start(module);
  } catch (error) {
    // Saved games and settings are not read yet, and cannot be the cause.
    console.error(error);
    const offline = error instanceof TypeError;
    return trouble(offline ? "The engine could not be fetched. Check your connection." : `The page could not start: ${why(error)}.`, again);
  }
  try {
    begin(module, kibitz);
  } catch (error) {
    console.error(error);
    trouble(`The page could not start: ${why(error)}.`, {
      ...again,
      "Forget my game and settings, and start afresh": () => {
        forgetAll();
        void refresh();
      },
    });
  }
}

document.documentElement.dataset.begun = "true";
void start();
