/** Signed numbers as colours that light and dark pages share, and pictures made of them. */

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

interface PictureProperties {
  look: string;
  label: string;
  width: number;
  height: number;
  columns?: number;
  draw(pen: CanvasRenderingContext2D): void;
}

function Picture({ look, label, width, height, columns, draw }: PictureProperties) {
  const paint = (canvas: HTMLCanvasElement | null) => {
    const pen = canvas?.getContext("2d");
    pen?.clearRect(0, 0, width, height);
    if (pen) draw(pen);
  };
  return <canvas class={look} role="img" aria-label={label} width={width} height={height} style={{ "--columns": columns }} ref={paint} />;
}

interface PlanesProperties {
  /** A number from −1 to 1 for each piece on each square, in the order of the module. */
  values: ArrayLike<number>;
  /** Indexes of `values` with a frame: pieces that stand there. */
  on: Set<number>;
  flipped: boolean;
  label: string;
}

/** Twelve boards, White's pieces above, from pawns to kings. */
export function Planes({ values, on, flipped, label }: PlanesProperties) {
  const draw = (pen: CanvasRenderingContext2D) => {
    for (let index = 0; index < 12 * 64; index += 1) {
      const [plane, file, rank] = [Math.floor(index / 64), index % 8, Math.floor(index / 8) % 8];
      const x = (plane % 6) * (BOARD + GAP) + CELL * (flipped ? 7 - file : file);
      const y = Math.floor(plane / 6) * (BOARD + GAP) + CELL * (flipped ? rank : 7 - rank);
      pen.fillStyle = (file + rank) % 2 ? "rgb(128 128 128 / 0.13)" : "rgb(128 128 128 / 0.22)";
      pen.fillRect(x, y, CELL, CELL);
      if (values[index]) {
        pen.fillStyle = tint(values[index]);
        pen.fillRect(x, y, CELL, CELL);
      }
      if (!on.has(index)) continue;
      pen.strokeStyle = "#7d7d7d";
      pen.lineWidth = 2;
      pen.strokeRect(x + 1, y + 1, CELL - 2, CELL - 2);
    }
  };
  return <Picture look="planes" label={label} width={6 * (BOARD + GAP) - GAP} height={2 * (BOARD + GAP) - GAP} draw={draw} />;
}

/** A layer's activations, from 0 to 255, as cells that are the fuller the more they are on. */
export function Strip({ activations, label }: { activations: number[]; label: string }) {
  const columns = Math.min(COLUMNS, activations.length);
  const draw = (pen: CanvasRenderingContext2D) => activations.forEach((activation, index) => {
    const [x, y] = [(index % columns) * CELL, Math.floor(index / columns) * CELL];
    pen.fillStyle = "rgb(128 128 128 / 0.2)";
    pen.fillRect(x, y, CELL - 1, CELL - 1);
    if (!activation) return;
    pen.fillStyle = tint(activation / 255);
    pen.fillRect(x, y, CELL - 1, CELL - 1);
  });
  return <Picture look="strip" label={label} width={columns * CELL} height={Math.ceil(activations.length / columns) * CELL} columns={columns} draw={draw} />;
}
