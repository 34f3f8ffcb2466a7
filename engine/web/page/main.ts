/** Starts the page and connects its controls. */
import "chessground/assets/chessground.base.css";
import "chessground/assets/chessground.cburnett.css";
import "./style.css";
import "./inside.css";
import { App } from "./app";
import { $, click, toast, trouble } from "./dom";
import { Evaluators } from "./evaluators";
import { why } from "./format";
import { Breakdown, Kibitz } from "./kibitz";
import { readLink } from "./link";
import { connectLooks } from "./looks";
import { compile } from "./module";
import { type NewGame, askNewGame, gameAt } from "./newgame";
import { connectOpenPanel } from "./openpanel";
import { Openings } from "./openings";
import { People } from "./people";
import { Practice } from "./practice";
import { Rules } from "./rules";
import { connectShare } from "./share";
import { soundOn } from "./sound";
import { forgetAll, save } from "./storage";
import { connectTabs } from "./tabs";
import { welcome } from "./welcome";

function begin(module: WebAssembly.Module, kibitz: Kibitz) {
  welcome((rating) => app.begin(gameAt(rating)));
  const rules = new Rules(kibitz);
  const evaluators = new Evaluators();
  const people = new People(rules);
  const app = new App(rules, module, evaluators, people);
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
    Promise.all([evaluators.list(), app.people.list()]).then(() => app.recallEvaluators()).catch(warn),
  ]);
  try {
    if (import.meta.env.PROD) await navigator.serviceWorker?.register("./sw.js");
  } catch (error) {
    warn(error);
  }
}

function connect(app: App, rules: Rules, module: WebAssembly.Module) {
  let newest: NewGame;
  click("new", async () => {
    const game = await askNewGame(app.evaluators, app.people, app.begun);
    if (!game) return;
    newest = game;
    try {
      // So that they are at hand when their turn comes.
      await Promise.all([game.white, game.black].flatMap(({ evaluator, strength }) => [
        evaluator && app.evaluators.get(evaluator),
        strength.by === "person" && app.people.policy(),
      ]));
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
  click("review", () => app.review());
  click("draw-curve", () => app.drawCurve());
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
  connectLook();
  connectOpenPanel(app, rules);
  connectShare(app);
  new Practice(app, rules, module);
}

function connectLook() {
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

  connectLooks();
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
