/**
 * The pointer paths of one project in memory: hash and session. It remembers what an array of `limits.shingleSlotsMax` slots would, where the newest
 * hash of a slot wins, but begins small and doubles as paths come, while there is memory for it. Pure.
 */
import { limits } from "../../limits.js";

const slotCount = limits.shingleSlotsMax;
const firstSlots = 128;
/** How many slots a path may be in: a cache line, so that no choice of paths makes look-ups slow. Random paths fill 30 to 60 % until one finds none. */
const stepsMax = 8;

/** A hash table with linear probing. Its keys are the slots of the largest array, where each key has its own: no look-up probes there. */
export class PathSlots {
  readonly #mayGrow: (bytes: number) => boolean;
  /** Hash and session of each slot; both are 0 in an empty slot. */
  #slots = new Uint32Array(2 * firstSlots);
  #mask = firstSlots - 1;
  /** Whether it was refused memory, or lost some: it does not ask again until this is cleared. */
  isShort = false;

  /** `mayGrow`: whether there is memory for so many bytes more; they are taken then. */
  constructor(mayGrow: (bytes: number) => boolean) {
    this.#mayGrow = mayGrow;
  }

  get slotBytes(): number {
    return this.#slots.byteLength;
  }

  /** Returns the session that has shown the hash; `undefined` means that none is remembered. */
  ownerOf(hash: number): number | undefined {
    const slot = hash & this.#mask;
    const held = this.#slots[2 * slot]!;
    const owner = this.#slots[2 * slot + 1]!;
    if (held === hash >>> 0 && (held !== 0 || owner !== 0)) return owner;
    return this.#mask === slotCount - 1 ? undefined : this.#ownerNear(hash);
  }

  #ownerNear(hash: number): number | undefined {
    const slot = this.#find(hash);
    return slot === -1 || this.#slots[2 * slot] !== hash >>> 0 || this.#isEmpty(slot)
      ? undefined
      : this.#slots[2 * slot + 1];
  }

  /** The first session that showed a path keeps it until another path needs its slot. */
  add(hash: number, session: number): void {
    // An empty slot looks like this one.
    if (hash === 0 && session === 0) return;
    let slot = this.#find(hash);
    while (slot === -1 && this.#grow()) slot = this.#find(hash);
    // Without memory to grow, a new path replaces an older one.
    if (slot === -1) slot = hash & this.#mask;
    if (this.#slots[2 * slot] !== hash >>> 0 || this.#isEmpty(slot)) this.#set(slot, hash, session);
  }

  /** Removes the path that was added. */
  forget(hash: number, session: number): void {
    if (this.ownerOf(hash) !== session >>> 0) return;
    let free = this.#find(hash);
    this.#set(free, 0, 0);
    // A look-up ends at an empty slot: paths that had to go past this one move up.
    for (let step = 1; step < stepsMax; step++) {
      const next = (free + step) & this.#mask;
      if (this.#isEmpty(next)) return;
      const held = this.#slots[2 * next]!;
      if (((next - held) & this.#mask) < step) continue;
      this.#set(free, held, this.#slots[2 * next + 1]!);
      this.#set(next, 0, 0);
      free = next;
      step = 0;
    }
  }

  /** Gives back half of the memory, and with it about half of the paths if the slots were full. */
  halve(): void {
    this.isShort = true;
    this.#resize(this.#slots.length / 2);
  }

  /** `false` means that there is no memory for more. The largest array never needs more. */
  #grow(): boolean {
    this.isShort ||= !this.#mayGrow(this.slotBytes);
    if (!this.isShort) this.#resize(2 * this.#slots.length);
    return !this.isShort;
  }

  #resize(words: number): void {
    const before = this.#slots;
    this.#slots = new Uint32Array(words);
    this.#mask = words / 2 - 1;
    for (let at = 0; at < before.length; at += 2) {
      if (before[at] !== 0 || before[at + 1] !== 0) this.add(before[at]!, before[at + 1]!);
    }
  }

  /** Returns the slot that has the hash's key, or else the first empty one that it may be in; -1 if there is neither. */
  #find(hash: number): number {
    let slot = hash & this.#mask;
    for (let step = 0; step < stepsMax; step++) {
      const held = this.#slots[2 * slot]!;
      if (((held ^ hash) & (slotCount - 1)) === 0 || (held === 0 && this.#slots[2 * slot + 1] === 0)) return slot;
      slot = (slot + 1) & this.#mask;
    }
    return -1;
  }

  #isEmpty(slot: number): boolean {
    return this.#slots[2 * slot] === 0 && this.#slots[2 * slot + 1] === 0;
  }

  #set(slot: number, hash: number, session: number): void {
    this.#slots[2 * slot] = hash;
    this.#slots[2 * slot + 1] = session;
  }
}
