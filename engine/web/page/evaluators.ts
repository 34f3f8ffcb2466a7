/** Evaluators of positions: nets, and material alone. */
import { type Strengths, beside } from "./beside";
import { signedCount } from "./format";
import { nets } from "./storage";
import type { EvaluationKind } from "./types";

export interface Evaluator {
  id: string;
  name: string;
  kind: EvaluationKind;
  /** The net's file; `null` for the one that is compiled in. */
  net: ArrayBuffer | null;
}

type OwnEvaluator = Evaluator & { net: ArrayBuffer };

export const DEFAULT: Evaluator = { id: "default", name: "Default net", kind: "network", net: null };
export const MATERIAL: Evaluator = {
  id: "material",
  name: "Material only",
  kind: "material",
  net: null,
};

/** Prefix of the id of an evaluator from a visitor's file; the file's name follows. */
const OWN = "file:";

/** The choices of the drop-down: nets of the host and of former visits are fetched once chosen. */
export class Evaluators {
  private readonly known = new Map<string, Evaluator>([
    [DEFAULT.id, DEFAULT],
    [MATERIAL.id, MATERIAL],
  ]);
  private elsewhere: string[] = [];
  /** Nets on their way, so that two who ask get the same one. */
  private readonly coming = new Map<string, Promise<Evaluator>>();
  private listed: Promise<void> | null = null;
  /** Measured strengths; `null` without measurements. */
  private strengths: Strengths | null = null;

  /** Asks which nets former visits have left, and which lie beside the page. */
  list(): Promise<void> {
    return (this.listed ??= this.look());
  }

  private async look() {
    this.elsewhere.push(...(await nets.names()).map((name) => OWN + name));
    try {
      const { nets: files, strengths } = await beside();
      this.elsewhere.push(...files);
      this.strengths = strengths;
    } catch (error) {
      console.warn("nothing beside the page:", error);
    }
  }

  choices(): { id: string; name: string }[] {
    const fetched = [...this.known.values()];
    const others = this.elsewhere.filter((file) => !this.known.has(file));
    return [...fetched, ...others.map((file) => ({ id: file, name: netName(file) }))];
  }

  /** Returns an id, or the default evaluator's if it is not among the choices. */
  orDefault(id: string): string {
    return this.choices().some((choice) => choice.id === id) ? id : DEFAULT.id;
  }

  /** Id and text of each choice of a drop-down, with its strength. */
  options(): [id: string, text: string][] {
    return this.choices().map(({ id, name }) => {
      const elo = id === DEFAULT.id ? undefined : this.strengths?.elo[id]?.elo;
      return [id, elo === undefined ? name : `${name} (${signedCount(elo)} Elo)`];
    });
  }

  /** Returns a text on an evaluator's strength and its measurement. */
  strengthNote(id: string): string {
    const { strengths } = this;
    const strength = strengths?.elo[id];
    if (!strengths || !strength) return "How strong it is, was not measured: a match tells.";
    const { nodes, games, commit } = strengths;
    const how = `arena ladder, ${games} games a pair at ${nodes.toLocaleString("en")} nodes a move, commit ${commit}`;
    if (!strength.interval) return `The Elo of the others is counted from this net (${how}).`;
    const [low, high] = strength.interval.map((end) => (end === null ? "?" : signedCount(end)));
    return `${signedCount(strength.elo)} Elo beside the default net, with 95 % certainty ${low} to ${high} (${how}).`;
  }

  async get(id: string): Promise<Evaluator> {
    const known = this.known.get(id);
    if (known) return known;
    const coming = this.coming.get(id) ?? this.fetch(id).finally(() => this.coming.delete(id));
    this.coming.set(id, coming);
    return coming;
  }

  private async fetch(id: string): Promise<Evaluator> {
    await this.list();
    if (!this.elsewhere.includes(id)) throw new Error(`there is no net ${netName(id)} here`);
    if (this.isOwn(id)) return this.add(id, netName(id), await nets.get(netFile(id)));
    const response = await fetch(`./nets/${id}`).catch(() => null);
    if (!response?.ok) throw new Error(`${id} could not be fetched`);
    return this.add(id, netName(id), await response.arrayBuffer());
  }

  /** An evaluator that is at hand; the default one where it is not. */
  present(id: string): Evaluator {
    return this.known.get(id) ?? DEFAULT;
  }

  /** Takes a net of the visitor's in; whether later visits will have it too. */
  keep(evaluator: OwnEvaluator): Promise<boolean> {
    this.known.set(evaluator.id, evaluator);
    return nets.keep(netFile(evaluator.id), evaluator.net);
  }

  isOwn(id: string): boolean {
    return id.startsWith(OWN);
  }

  async forget(id: string) {
    this.known.delete(id);
    this.elsewhere = this.elsewhere.filter((other) => other !== id);
    await nets.forget(netFile(id));
  }

  private add(id: string, name: string, net: ArrayBuffer): Evaluator {
    const evaluator: Evaluator = { id, name, kind: "network", net };
    this.known.set(id, evaluator);
    return evaluator;
  }
}

const netFile = (id: string) => id.replace(OWN, "");

/** A file of the visitor's. */
export async function readEvaluator(file: File): Promise<OwnEvaluator> {
  return { id: OWN + file.name, name: file.name, kind: "network", net: await file.arrayBuffer() };
}

const NAMES: Record<string, string> = {
  "games1191.safetensors": "Earlier net, of 1,191 games",
  "linear.safetensors": "Piece-square tables",
};

function netName(id: string): string {
  return id.startsWith(OWN) ? netFile(id) : (NAMES[id] ?? id.replace(/\.safetensors$/, ""));
}
