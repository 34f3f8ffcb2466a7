/** Signed numbers as colours that light and dark pages share, and pictures made of them. */
import { make } from "./dom";

const GAP = 8;
const CELL = 8;
const BOARD = 8 * CELL;
/** Activations side by side. */
const COLUMNS = 64;

/** Green for what is above zero, orange for what is below; −1 to 1. */
export function tint(value: number): string {
  const strength = Math.min(1, Math.abs(value)).toFixed(2);
  return value > 0 ? `rgb(31 157 118 / ${strength})` : `rgb(221 110 20 / ${strength})`;
}

/**
 * Twelve boards, White's pieces above, from pawns to kings: a number from −1 to 1 for each piece
 * on each square, in the order of the module, and a frame around those that stand there.
 */
export function planes(values: ArrayLike<number>, on: Set<number>, flipped: boolean, label: string): HTMLElement {
  const canvas = make("canvas", { className: "planes", width: 6 * (BOARD + GAP) - GAP, height: 2 * (BOARD + GAP) - GAP });
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", label);
  const pen = canvas.getContext("2d");
  if (!pen) return canvas;
  for (let plane = 0; plane < 12; plane += 1) {
    const [left, top] = [(plane % 6) * (BOARD + GAP), Math.floor(plane / 6) * (BOARD + GAP)];
    for (let square = 0; square < 64; square += 1) {
      const [file, rank] = [square % 8, Math.floor(square / 8)];
      const x = left + CELL * (flipped ? 7 - file : file);
      const y = top + CELL * (flipped ? rank : 7 - rank);
      pen.fillStyle = (file + rank) % 2 ? "rgb(128 128 128 / 0.13)" : "rgb(128 128 128 / 0.22)";
      pen.fillRect(x, y, CELL, CELL);
      const index = 64 * plane + square;
      if (values[index]) {
        pen.fillStyle = tint(values[index]);
        pen.fillRect(x, y, CELL, CELL);
      }
      if (!on.has(index)) continue;
      pen.strokeStyle = "#7d7d7d";
      pen.lineWidth = 2;
      pen.strokeRect(x + 1, y + 1, CELL - 2, CELL - 2);
    }
  }
  return canvas;
}

/** A layer's activations, from 0 to 255, as cells that are the fuller the more they are on. */
export function strip(activations: number[], label: string): HTMLElement {
  const columns = Math.min(COLUMNS, activations.length);
  const canvas = make("canvas", { className: "strip", width: columns * CELL, height: Math.ceil(activations.length / columns) * CELL });
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", label);
  canvas.style.setProperty("--columns", String(columns));
  const pen = canvas.getContext("2d");
  if (!pen) return canvas;
  activations.forEach((activation, index) => {
    const [x, y] = [(index % columns) * CELL, Math.floor(index / columns) * CELL];
    pen.fillStyle = "rgb(128 128 128 / 0.2)";
    pen.fillRect(x, y, CELL - 1, CELL - 1);
    if (!activation) return;
    pen.fillStyle = tint(activation / 255);
    pen.fillRect(x, y, CELL - 1, CELL - 1);
  });
  return canvas;
}
