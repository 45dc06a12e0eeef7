/**
 * Tracks masters that have not answered for a while. Commands to such a master are refused at once instead of waiting for their deadlines, until a
 * probe finds that it serves again. Impatient commands, which delay others, are refused much sooner than the rest. A master that another one has
 * replaced is forgotten, and its successor starts clean.
 */
import { limits } from "../limits.js";
import { ClusterError } from "./cluster-error.js";
import type { NodeAddress } from "./slots.js";

interface Failing {
  /** When it was first doubted, or failed. */
  readonly doubtedMs: number;
  isSuspected: boolean;
  /** When the first request failed without any later answer; infinite while it is only doubted or suspected. */
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
    const failing = this.#recorded(address);
    failing.isSuspected = true;
    failing.sinceMs = Math.min(failing.sinceMs, performance.now());
    failing.why = message;
  }

  /** An impatient command has waited `limits.clusterImpatientMs` without an answer. */
  suspected(address: NodeAddress): void {
    this.#recorded(address).isSuspected = true;
  }

  /**
   * A write waits: called every half of `limits.clusterImpatientMs`. It may only be behind writes that wait for replicas, so the master is asked for a
   * sign of life on another connection. It is suspected if it has answered nothing by the next call.
   */
  doubted(address: NodeAddress): void {
    const doubted = this.#failing.get(address);
    if (doubted === undefined) {
      this.#recorded(address);
      const close = (serves: boolean): void => {
        if (serves) this.#close(address);
      };
      this.#serves(address).then(close, () => {});
    } else if (performance.now() - doubted.doubtedMs >= limits.clusterSignMs) doubted.isSuspected = true;
  }

  /** Whether any master `isSuspected`. */
  get hasSuspected(): boolean {
    for (const { isSuspected } of this.#failing.values()) if (isSuspected) return true;
    return false;
  }

  /** Whether impatient commands to this master are refused. */
  isSuspected(address: NodeAddress): boolean {
    return this.#failing.get(address)?.isSuspected ?? false;
  }

  /** Why this master gets no commands now, or no impatient ones; `undefined` means that it gets them. */
  refusal(address: NodeAddress, isImpatient: boolean): ClusterError | undefined {
    const failing = this.#failing.get(address);
    if (failing === undefined || !failing.isSuspected) return undefined;
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

  #recorded(address: NodeAddress): Failing {
    let failing = this.#failing.get(address);
    if (failing === undefined) {
      const why = `${address === "" ? "the cluster" : address} does not answer`;
      const doubtedMs = performance.now();
      failing = { doubtedMs, isSuspected: false, sinceMs: Number.POSITIVE_INFINITY, why, probe: undefined };
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
