/**
 * Who may ask DNS next. Questions about one network can all be slow, since whoever has the network answers for its reverse zone; so a network has a share
 * of what is asked at a time and of what waits, networks take turns, and those whose questions fail have little together.
 */
import { LRUCache } from "lru-cache";

/** Bounds of all networks together. */
interface TurnsMax {
  /** Questions at a time. */
  readonly concurrencyMax: number;
  /** Questions that wait. */
  readonly waitingMax: number;
  /** How long a network is known to fail, ms. */
  readonly unknownTtlMs: number;
  /** Clock, ms. */
  readonly now: () => number;
}

interface Network {
  active: number;
  readonly waiting: ((mayAsk: boolean) => void)[];
}

/** One network, and all that fail together, have a quarter. */
const share = 4;
/** Networks that are known to fail: some 100 KB. */
const failingMax = 1000;

/** Turns of questions by network. Each turn that `take` promises is ended once by `end`. */
export class FairTurns {
  readonly #max: TurnsMax;
  /** Those with questions; in the order of their turns. */
  readonly #networks = new Map<string, Network>();
  /** Until when a network counts as failing, ms. */
  readonly #failing = new LRUCache<string, number>({ max: failingMax });
  #active = 0;
  #waiting = 0;

  constructor(max: TurnsMax) {
    this.#max = max;
  }

  /** Questions that wait. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Resolves with true when the question may be asked, with false when it never may; null: too many wait already. */
  take(name: string): Promise<boolean> | null {
    const network = this.#networks.get(name) ?? { active: 0, waiting: [] };
    if (this.#mayAsk(name, network)) {
      this.#begin(name, network);
      return Promise.resolve(true);
    }
    const waitingMax = this.#isFailing(name) ? 0 : shareOf(this.#max.waitingMax);
    if (this.#waiting >= this.#max.waitingMax || network.waiting.length >= waitingMax) return null;
    this.#networks.set(name, network);
    this.#waiting++;
    return new Promise((answer) => network.waiting.push(answer));
  }

  /** Ends a turn of the network, and starts those that have room now. */
  end(name: string, isFailure: boolean): void {
    const network = this.#networks.get(name);
    if (network === undefined) return;
    network.active--;
    this.#active--;
    if (isFailure) {
      this.#failing.set(name, this.#max.now() + this.#max.unknownTtlMs);
      this.#dismiss(network);
    } else this.#failing.delete(name);
    if (network.active === 0 && network.waiting.length === 0) this.#networks.delete(name);
    this.#grantNext();
  }

  /** Sends all away that wait, since nothing is asked any more. */
  dismissAll(): void {
    for (const network of this.#networks.values()) this.#dismiss(network);
  }

  #dismiss({ waiting }: Network): void {
    this.#waiting -= waiting.length;
    for (const answer of waiting.splice(0)) answer(false);
  }

  /** Grants turns while there is room, to each network after the others. */
  #grantNext(): void {
    for (const [name, network] of [...this.#networks]) {
      if (this.#active >= this.#max.concurrencyMax) return;
      if (network.waiting.length === 0 || !this.#mayAsk(name, network)) continue;
      this.#waiting--;
      const answer = network.waiting.shift()!;
      this.#begin(name, network);
      answer(true);
    }
  }

  #begin(name: string, network: Network): void {
    network.active++;
    this.#active++;
    // Last again.
    this.#networks.delete(name);
    this.#networks.set(name, network);
  }

  #mayAsk(name: string, { active }: Network): boolean {
    const { concurrencyMax } = this.#max;
    if (this.#active >= concurrencyMax) return false;
    if (!this.#isFailing(name)) return active < shareOf(concurrencyMax);
    return active === 0 && this.#failingActive() < shareOf(concurrencyMax);
  }

  /** Questions that are asked now about networks that fail. */
  #failingActive(): number {
    let sum = 0;
    for (const [name, { active }] of this.#networks) if (active > 0 && this.#isFailing(name)) sum += active;
    return sum;
  }

  #isFailing(name: string): boolean {
    const untilMs = this.#failing.get(name);
    return untilMs !== undefined && untilMs > this.#max.now();
  }
}

function shareOf(max: number): number {
  return Math.max(1, Math.floor(max / share));
}
