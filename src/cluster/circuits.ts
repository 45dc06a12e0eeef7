/**
 * Tracks masters that have not answered for a while. Commands to such a master are refused at once instead of waiting for their deadlines, until a
 * probe finds that it serves again. Impatient commands, which delay others, are refused much sooner than the rest. A master that another one has
 * replaced is forgotten, and its successor starts clean.
 */
import { limits } from "../limits.js";
import { ClusterError } from "./cluster-error.js";
import type { NodeAddress } from "./slots.js";

interface Failing {
  /** When the first request failed without any later answer; infinite while it is only suspected. */
  sinceMs: number;
  why: string;
  probe: NodeJS.Timeout | undefined;
}

/** One per client. */
export class Circuits {
  /** By the address of the master; "" while the slot's node is unknown. */
  readonly #failing = new Map<NodeAddress, Failing>();
  readonly #serves: (address: NodeAddress) => Promise<boolean>;

  /** `serves`: asks whether a master serves its slots. */
  constructor(serves: (address: NodeAddress) => Promise<boolean>) {
    this.#serves = serves;
  }

  /** A master has answered. */
  answered(address: NodeAddress): void {
    if (this.#failing.size > 0) this.#close(address);
  }

  /** A request had no answer by its deadline. */
  failed(address: NodeAddress, { message }: ClusterError): void {
    const failing = this.#recorded(address, message);
    failing.sinceMs = Math.min(failing.sinceMs, performance.now());
    failing.why = message;
  }

  /** A write, or an impatient command, has waited `limits.clusterImpatientMs` without an answer. */
  suspected(address: NodeAddress): void {
    this.#recorded(address, `${address === "" ? "the cluster" : address} does not answer`);
  }

  /** Whether any master `isSuspected`. */
  get hasSuspected(): boolean {
    return this.#failing.size > 0;
  }

  /** Whether impatient commands to this master are refused. */
  isSuspected(address: NodeAddress): boolean {
    return this.#failing.has(address);
  }

  /** Why this master gets no commands now, or no impatient ones; `undefined` means that it gets them. */
  refusal(address: NodeAddress, isImpatient: boolean): ClusterError | undefined {
    const failing = this.#failing.get(address);
    if (failing === undefined) return undefined;
    if (!isImpatient && performance.now() - failing.sinceMs < limits.clusterGiveUpMs) return undefined;
    failing.probe ??= this.#probeLater(address);
    return new ClusterError("unreachable", "not-sent", failing.why);
  }

  /** Forgets nodes that are no longer masters, by a map of the cluster. */
  keep(masters: ReadonlySet<NodeAddress>): void {
    for (const address of [...this.#failing.keys()]) if (!masters.has(address)) this.#close(address);
  }

  close(): void {
    for (const address of [...this.#failing.keys()]) this.#close(address);
  }

  #recorded(address: NodeAddress, why: string): Failing {
    let failing = this.#failing.get(address);
    if (failing === undefined) {
      failing = { sinceMs: Number.POSITIVE_INFINITY, why, probe: undefined };
      this.#failing.set(address, failing);
    }
    return failing;
  }

  #close(address: NodeAddress): void {
    clearTimeout(this.#failing.get(address)?.probe);
    this.#failing.delete(address);
  }

  #probeLater(address: NodeAddress): NodeJS.Timeout {
    const timer = setTimeout(async () => {
      const serves = await this.#serves(address).catch(() => false);
      const failing = this.#failing.get(address);
      if (failing === undefined) return;
      if (serves) this.#close(address);
      // The next request starts another probe: a master that nobody needs is not probed for ever.
      else failing.probe = undefined;
    }, limits.clusterProbeMs);
    return timer.unref();
  }
}
