/**
 * Which masters have not answered for a while: what is asked of them is refused at once, instead of each request waiting for its deadline, until
 * a probe finds that they serve again. Impatient commands, which hold up others, are refused much sooner than the rest. A master that another one
 * replaces is not asked any more, and its successor begins anew.
 */
import { limits } from "../limits.js";
import { ClusterError } from "./cluster-error.js";
import type { NodeAddress } from "./slots.js";

interface Failing {
  /** When the first request failed that no answer followed; infinite: it is only suspected. */
  sinceMs: number;
  why: string;
  probe: NodeJS.Timeout | undefined;
}

/** One for each client. */
export class Circuits {
  /** By the address of the master; "" while no node is known to have the slot. */
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
    const failing = this.#noted(address, message);
    failing.sinceMs = Math.min(failing.sinceMs, performance.now());
    failing.why = message;
  }

  /** A write, or an impatient command, has had no answer for `limits.clusterImpatientMs`. */
  suspected(address: NodeAddress): void {
    this.#noted(address, `${address === "" ? "the cluster" : address} does not answer`);
  }

  /** Whether any master `isSuspected`. */
  get hasSuspected(): boolean {
    return this.#failing.size > 0;
  }

  /** Whether impatient commands to this master are refused. */
  isSuspected(address: NodeAddress): boolean {
    return this.#failing.has(address);
  }

  /** Why nothing is asked of this master now, or nothing impatient; undefined: ask it. */
  refusal(address: NodeAddress, isImpatient: boolean): ClusterError | undefined {
    const failing = this.#failing.get(address);
    if (failing === undefined) return undefined;
    if (!isImpatient && performance.now() - failing.sinceMs < limits.clusterGiveUpMs) return undefined;
    failing.probe ??= this.#probeLater(address);
    return new ClusterError("unreachable", "not-sent", failing.why);
  }

  /** Forgets masters that are none any more, by a map of the cluster. */
  keep(masters: ReadonlySet<NodeAddress>): void {
    for (const address of [...this.#failing.keys()]) if (!masters.has(address)) this.#close(address);
  }

  close(): void {
    for (const address of [...this.#failing.keys()]) this.#close(address);
  }

  #noted(address: NodeAddress, why: string): Failing {
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
      // Asked for again by the next request: a master that nobody needs is not probed for ever.
      else failing.probe = undefined;
    }, limits.clusterProbeMs);
    return timer.unref();
  }
}
