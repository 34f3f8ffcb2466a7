/** PGN files that the visitor opens: plain, or packed by gzip or Zstandard. */

/** Bytes of unpacked text read from one file; a longer text would keep the page busy. */
const MOST_BYTES = 10e6;
/** Games read from one file. */
const MOST_GAMES = 1000;
/** First line of a game in files of many games. */
const GAME = /^\[Event /gm;

type Bytes = Uint8Array<ArrayBuffer>;
type Unpack = TransformStream<Bytes, Bytes>;

const gzip = () => new DecompressionStream("gzip") as Unpack;

async function zstd(): Promise<Unpack> {
  const { zstdStream } = await import("./zstd").catch(() => {
    throw new Error("the decoder of Zstandard could not be loaded: try again when online");
  });
  return zstdStream();
}

interface Format {
  /** Lowest and highest first bytes of a file; a single number is both. */
  bytes: (number | [number, number])[];
  name: string;
  /** The decoder, or the command that unpacks the format outside the page. */
  unpack: (() => Unpack | Promise<Unpack>) | string;
}

const FORMATS: Format[] = [
  { bytes: [0x1f, 0x8b], name: "gzip", unpack: gzip },
  { bytes: [0x28, 0xb5, 0x2f, 0xfd], name: "Zstandard", unpack: zstd },
  // A skippable frame: pzstd begins its files with one.
  { bytes: [[0x50, 0x5f], 0x2a, 0x4d, 0x18], name: "Zstandard", unpack: zstd },
  { bytes: [0x42, 0x5a, 0x68], name: "bzip2", unpack: "bunzip2" },
  { bytes: [0x50, 0x4b, 0x03, 0x04], name: "ZIP", unpack: "unzip" },
  { bytes: [0xfd, 0x37, 0x7a, 0x58], name: "xz", unpack: "unxz" },
  { bytes: [0x37, 0x7a, 0xbc, 0xaf], name: "7-Zip", unpack: "7z x" },
];

/** The PGN text of a file. */
export interface FileText {
  text: string;
  /** Number of games read, if the file holds more than the page reads; else `null`. */
  firstGames: number | null;
}

/**
 * Reads the text of a file, unpacked, up to 1,000 games and 10 MB; `progress` is called with the number of games
 * read. Throws an `Error` that says why if the file is binary, damaged, or of a format that the page cannot unpack.
 */
export async function textOf(file: File, progress: (games: number) => void): Promise<FileText> {
  const first = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  const format = FORMATS.find(({ bytes }) =>
    bytes.every((range, index) => {
      const [low, high] = typeof range === "number" ? [range, range] : range;
      return first[index] >= low && first[index] <= high;
    }),
  );
  if (!format) return readText(file.stream(), progress);
  const { name, unpack } = format;
  if (typeof unpack === "string") throw new Error(`it is packed by ${name}, which the page cannot unpack: use ${unpack} first`);
  return readText(file.stream().pipeThrough(await unpack()), progress);
}

async function readText(stream: ReadableStream<Bytes>, progress: (games: number) => void): Promise<FileText> {
  const decoder = new TextDecoder();
  const reader = stream.getReader();
  let text = "";
  let [bytes, games] = [0, 0];
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    if (!bytes && isBinary(part.value)) {
      void reader.cancel();
      throw new Error("it holds binary data, and the page reads PGN text, plain or packed by gzip or Zstandard");
    }
    bytes += part.value.length;
    const more = decoder.decode(part.value, { stream: true });
    games += more.match(GAME)?.length ?? 0;
    text += more;
    progress(games);
    if (bytes > MOST_BYTES || games > MOST_GAMES) {
      void reader.cancel();
      return firstGames(text);
    }
  }
  return { text: text + decoder.decode(), firstGames: null };
}

/** Returns whether bytes hold control characters that no text has. */
function isBinary(bytes: Bytes): boolean {
  return bytes.some((byte) => byte < 32 && !(byte >= 9 && byte <= 13) && byte !== 26 && byte !== 27);
}

/** Cuts a text behind its last whole game, or the last that the page reads. */
function firstGames(text: string): FileText {
  const starts = [...text.matchAll(GAME)].map(({ index }) => index);
  const games = Math.min(starts.length - 1, MOST_GAMES);
  if (games < 1) throw new Error("it is too large, the page reads 10 MB of games at most");
  return { text: text.slice(0, starts[games]), firstGames: games };
}
