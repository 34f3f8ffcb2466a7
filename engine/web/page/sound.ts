/** Short tones, made here. */
import type { Ply } from "./types";
import { load } from "./storage";

/** Whether sounds are on, which they are until they are switched off. */
export const soundOn = () => load("sound") !== false;

let context: AudioContext | null = null;

// Browsers want a gesture first; and it takes a while, which must not be
// while pieces move.
for (const gesture of ["pointerdown", "keydown"]) {
  addEventListener(gesture, () => (context ??= globalThis.AudioContext ? new AudioContext() : null), { once: true });
}

function tone(frequency: number, start: number, length: number, shape: OscillatorType, loud = 0.12) {
  if (!context) return;
  const begin = context.currentTime + start;
  const oscillator = context.createOscillator();
  const volume = context.createGain();
  oscillator.type = shape;
  oscillator.frequency.value = frequency;
  volume.gain.setValueAtTime(loud, begin);
  volume.gain.exponentialRampToValueAtTime(0.001, begin + length);
  oscillator.connect(volume).connect(context.destination);
  oscillator.start(begin);
  oscillator.stop(begin + length);
}

export function moveSound(ply: Ply) {
  if (!soundOn()) return;
  if (ply.check) {
    tone(740, 0, 0.1, "triangle");
    tone(988, 0.09, 0.14, "triangle");
  } else if (ply.castles) {
    tone(294, 0, 0.08, "triangle");
    tone(392, 0.1, 0.1, "triangle");
  } else if (ply.capture) {
    tone(185, 0, 0.12, "square", 0.06);
  } else {
    tone(330, 0, 0.08, "triangle");
  }
}

export function endSound() {
  if (!soundOn()) return;
  [523, 659, 784].forEach((frequency, index) => tone(frequency, index * 0.13, 0.25, "triangle"));
}
