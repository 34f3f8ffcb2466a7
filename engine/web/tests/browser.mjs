// A real browser with the built page.
import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { chromium } from "playwright-core";
import { serve } from "./server.mjs";

const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];

/** How long, in milliseconds, is waited for what would otherwise never come: a busy machine may hold it up. */
export const PATIENCE = 300_000;

/** Notes that a test is left out, for the list at the end of `tests/all.sh`. */
export function skip(why) {
  if (process.env.KIBITZ_SKIPS) appendFileSync(process.env.KIBITZ_SKIPS, `${why}\n`);
  return why;
}

/** Opens a browser and a server; `leave` ends all visits, and `close` ends both. */
export async function open() {
  const server = await serve();
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: FLAGS,
    timeout: PATIENCE,
  });
  const leave = async () => {
    // A search that was left behind would slow down the next test.
    await Promise.all(browser.contexts().map((context) => context.close()));
    server.restore();
  };
  const close = async () => {
    await browser.close();
    await server.close();
  };
  return { ...server, browser, leave, close };
}

/**
 * A visitor with nothing stored; whatever goes wrong on the page is in `errors`.
 * `init` runs in the page before anything else.
 */
export async function visit(site, { path = "", init, ...options } = {}) {
  const context = await site.browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
  if (init) await context.addInitScript(init);
  return { context, ...(await tab(site, context, path)) };
}

/** Another tab of a visitor; `ready` is false where the page will not start. */
export async function tab({ url }, context, path = "", { ready = true } = {}) {
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  await page.goto(url + path);
  if (ready) await page.waitForSelector("[data-ready]");
  return { page, errors };
}

export async function reload(page) {
  await page.reload();
  await page.waitForSelector("[data-ready]");
}

/** Where a square is on the screen. */
export async function square(page, key) {
  const box = await page.locator(`[data-square=${key}]`).boundingBox();
  return [box.x + box.width / 2, box.y + box.height / 2];
}

export async function clickMove(page, from, to) {
  await page.mouse.click(...(await square(page, from)));
  await page.mouse.click(...(await square(page, to)));
}

export async function dragMove(page, from, to) {
  await page.mouse.move(...(await square(page, from)));
  await page.mouse.down();
  await page.mouse.move(...(await square(page, to)), { steps: 5 });
  await page.mouse.up();
}

/** Moves by the box for typing. */
export async function type(page, ...moves) {
  for (const move of moves) {
    await page.fill("#move-text", move);
    await page.press("#move-text", "Enter");
  }
}

/** Answers every question that the page asks. */
export const answer = (page, yes) => page.on("dialog", (dialog) => (yes ? dialog.accept() : dialog.dismiss()));

/** The moves of the main line. */
export const mainLine = (page) =>
  page.$$eval("#moves li:not(.aside) button", (buttons) => buttons.map((button) => button.firstChild.textContent));

/** The variations, a text each. */
export const variations = (page) =>
  page.$$eval("#moves .aside:not(.comment)", (items) => items.map((item) => [...item.children].map((word) => [...word.children].map((part) => part.textContent).join("") || word.textContent).join(" ")));

/** Waits for a message that says this. */
export const toast = (page, text) =>
  page.waitForFunction((text) => document.getElementById("toast").checkVisibility() && document.getElementById("toast").textContent.includes(text), text);

/** Drops a file on the page, as a visitor does who drags it from a folder. */
export async function drop(page, name, bytes) {
  const files = await page.evaluateHandle(
    ([name, base64]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], name));
      return transfer;
    },
    [name, bytes.toString("base64")],
  );
  await page.dispatchEvent("body", "drop", { dataTransfer: files });
}

/** Reads a game in the study. */
export async function readPgn(page, text) {
  await page.click("#tab-study");
  await page.fill("#pgn", text);
  await page.click("#read-pgn");
}

/** What a button puts into the clipboard. */
export const copied = (page, id) =>
  page.evaluate(async (id) => {
    let copied = "";
    navigator.clipboard.writeText = async (text) => void (copied = text);
    document.getElementById(id).click();
    await new Promise((resolve) => setTimeout(resolve, 50));
    return copied;
  }, id);

/** The moves listed. */
export const sans = (page) =>
  page.$$eval("#moves button", (buttons) => buttons.map((button) => button.firstChild.textContent));

/** Waits until these are the moves listed: the board tells of moves a moment later. */
export async function played(page, ...expected) {
  await page.waitForFunction((number) => document.querySelectorAll("#moves button").length === number, expected.length).catch(() => {});
  assert.deepEqual(await sans(page), expected);
}

export const waitForMoves = (page, number) =>
  page.waitForFunction((number) => document.querySelectorAll("#moves button").length >= number, number);

/** Begins a game by the dialog: `choices` are names of fields and their values. */
export async function newGame(page, choices) {
  await page.click("#new");
  for (const [name, value] of Object.entries(choices)) {
    const radio = page.locator(`#new-dialog input[type=radio][name=${name}][value="${value}"]`);
    if (await radio.count()) await radio.check({ force: true });
    else if (name === "slider") await page.locator("#slider").fill(String(value));
    else if (name === "fromHere") await page.check("#from-here");
    else if (await page.locator(`#new-dialog select[name=${name}]`).count()) await page.selectOption(`#new-dialog select[name=${name}]`, value);
    else await page.fill(`#new-dialog input[name=${name}]`, String(value));
  }
  await page.evaluate(() => (document.getElementById("announce").textContent = ""));
  await page.click("#new-dialog button.primary");
  await page.waitForFunction(() => document.getElementById("announce").textContent !== "");
}
