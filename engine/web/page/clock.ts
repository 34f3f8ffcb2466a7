/** The two clocks of a game. */
import type { Color } from "chessground/types";

/** Minutes for the game and seconds for each move, in milliseconds. */
export interface ClockSetting {
  initial: number;
  increment: number;
}

export class Clock {
  left: Record<Color, number>;
  private running: Color | null = null;
  private since = 0;

  constructor(
    readonly setting: ClockSetting,
    left?: Record<Color, number>,
  ) {
    this.left = left ?? { white: setting.initial, black: setting.initial };
  }

  /** Time left at this moment, in milliseconds. */
  now(color: Color): number {
    const spent = this.running === color ? performance.now() - this.since : 0;
    return Math.max(0, this.left[color] - spent);
  }

  start(color: Color) {
    this.stop();
    this.running = color;
    this.since = performance.now();
  }

  stop() {
    if (this.running) this.left[this.running] = this.now(this.running);
    this.running = null;
  }

  /** The running side has moved: it gets its increment. */
  moved(color: Color) {
    this.stop();
    this.left[color] += this.setting.increment;
  }
}
