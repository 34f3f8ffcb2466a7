/** The policy: what people of a rating would play. It is fetched when it is first wanted. */
import { beside } from "./beside";
import type { Rules } from "./rules";
import type { Game, PeopleMove } from "./types";

const FILE = "./nets/people.safetensors.gz";

/** First bytes of a gzip file. */
const GZIP = [0x1f, 0x8b];

export class People {
  /** Least ratings of the bands that the policy knows, 100 points wide; none before they are listed, or without a policy. */
  ratings: number[] = [];
  private coming: Promise<ArrayBuffer> | null = null;

  constructor(private readonly rules: Rules) {}

  /** Asks whether the host has a policy, and for which ratings. */
  async list() {
    this.ratings = (await beside()).people?.ratings ?? [];
  }

  /** Returns the policy's file, and has the module know it; rejects where it cannot be fetched or read. */
  policy(): Promise<ArrayBuffer> {
    return (this.coming ??= this.fetch().catch((error) => {
      this.coming = null;
      throw error;
    }));
  }

  private async fetch(): Promise<ArrayBuffer> {
    const response = await fetch(FILE).catch(() => null);
    if (!response?.ok) throw new Error("the moves of people could not be fetched");
    const policy = await unpacked(await response.arrayBuffer());
    this.rules.loadPolicy(policy);
    return policy;
  }

  /** Returns the legal moves of a game's last position, the likeliest first. */
  async moves(game: Game, rating: number): Promise<PeopleMove[]> {
    await this.policy();
    return this.rules.people(game, rating);
  }
}

/** Unpacks a gzip file, unless the host had the browser do so. */
async function unpacked(bytes: ArrayBuffer): Promise<ArrayBuffer> {
  const start = new Uint8Array(bytes, 0, Math.min(bytes.byteLength, GZIP.length));
  if (start.join() !== GZIP.join()) return bytes;
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

/** Name of the band of ratings that begins with one. */
export const bandText = (least: number) => `${least} to ${least + 99}`;
