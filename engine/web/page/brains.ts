/** What can evaluate: nets, and material alone. */

export interface Brain {
  id: string;
  name: string;
  kind: "network" | "material";
  /** The net's file; `null` for the one that is compiled in. */
  net: ArrayBuffer | null;
}

export const DEFAULT: Brain = { id: "default", name: "Default net", kind: "network", net: null };
export const MATERIAL: Brain = {
  id: "material",
  name: "Material only (classical)",
  kind: "material",
  net: null,
};

/** The choices of the drop-down: a net of the host is fetched once it is chosen. */
export class Brains {
  private readonly known = new Map<string, Brain>([
    [DEFAULT.id, DEFAULT],
    [MATERIAL.id, MATERIAL],
  ]);
  private readonly elsewhere: string[] = [];

  /** Asks the host which nets lie beside the page. */
  async list() {
    const response = await fetch("./nets/nets.json");
    if (response.ok) this.elsewhere.push(...((await response.json()) as string[]));
  }

  choices(): { id: string; name: string }[] {
    const fetched = [...this.known.values()];
    const others = this.elsewhere.filter((file) => !this.known.has(file));
    return [...fetched, ...others.map((file) => ({ id: file, name: netName(file) }))];
  }

  async get(id: string): Promise<Brain> {
    const known = this.known.get(id);
    if (known) return known;
    if (!this.elsewhere.includes(id)) throw new Error(`there is no net ${id} here`);
    const response = await fetch(`./nets/${id}`);
    if (!response.ok) throw new Error(`${id} could not be fetched: ${response.status}`);
    return this.add(id, netName(id), await response.arrayBuffer());
  }

  /** A brain that is at hand; the default one where it is not. */
  present(id: string): Brain {
    return this.known.get(id) ?? DEFAULT;
  }

  add(id: string, name: string, net: ArrayBuffer): Brain {
    const brain: Brain = { id, name, kind: "network", net };
    this.known.set(id, brain);
    return brain;
  }

  remove(id: string) {
    this.known.delete(id);
  }
}

const NAMES: Record<string, string> = { "games1191.safetensors": "Earlier net, of 1,191 games" };

function netName(file: string): string {
  return NAMES[file] ?? file.replace(/\.safetensors$/, "");
}
