/** The slots of a project's paths: as they grow, lack memory and give some back. */

import fc from "fast-check";
import t from "tap";
import { PathSlots } from "../../../src/cluster-store/ingest/path-slots.js";
import { limits } from "../../../src/limits.js";
import { scatteredHash } from "./scattered-hash.js";

const slotCount = limits.shingleSlotsMax;

interface Step {
  readonly isAdded: boolean;
  readonly hash: number;
  readonly session: number;
}

// A third of the hashes is random, the rest crowds around few slots, of the smallest array and of the largest.
const hashes = fc.oneof(
  fc.nat(0xffff_ffff),
  fc.tuple(fc.nat(9), fc.nat(slotCount / 128 - 1)).map(([low, high]) => low + 128 * high),
  fc.tuple(fc.nat(9), fc.nat(3)).map(([low, high]) => (low - 3 + slotCount * (high + 1)) >>> 0),
);
const sessions = fc.oneof(fc.nat(2), fc.nat(0xffff_ffff));
const steps = fc.array(
  fc.record<Step>({
    isAdded: fc.oneof(fc.constant(true), fc.constant(true), fc.boolean()),
    hash: hashes,
    session: sessions,
  }),
  { maxLength: 2000, size: "max" },
);

/** What the slots stand for: the newest hash of each slot of the largest array, and who showed it first. */
class Model {
  readonly #slots = new Map<number, { readonly hash: number; readonly session: number }>();

  apply({ isAdded, hash, session }: Step): void {
    const owner = this.ownerOf(hash);
    // Hash 0 of session 0 can't be told from an empty slot.
    if (isAdded && owner === undefined && (hash !== 0 || session !== 0)) {
      this.#slots.set(hash % slotCount, { hash, session });
    } else if (!isAdded && owner === session) this.#slots.delete(hash % slotCount);
  }

  ownerOf(hash: number): number | undefined {
    const held = this.#slots.get(hash % slotCount);
    return held?.hash === hash ? held.session : undefined;
  }
}

function apply(slots: PathSlots, { isAdded, hash, session }: Step): void {
  if (isAdded) slots.add(hash, session);
  else slots.forget(hash, session);
}

t.test("slots that grow remember what the largest array would", async (t) => {
  let largest = 0;
  fc.assert(
    fc.property(steps, (steps) => {
      const slots = new PathSlots(() => true);
      const model = new Model();
      for (const step of steps) {
        apply(slots, step);
        model.apply(step);
        if (slots.ownerOf(step.hash) !== model.ownerOf(step.hash)) return false;
      }
      largest = Math.max(largest, slots.slotBytes);
      return steps.every(({ hash }) => slots.ownerOf(hash) === model.ownerOf(hash));
    }),
  );
  t.ok(largest > new PathSlots(() => true).slotBytes, "some have grown");
});

t.test("slots without memory to grow remember the newest path, and nothing untrue", async (t) => {
  let asked = 0;
  fc.assert(
    fc.property(steps, fc.nat(4), (steps, granted) => {
      let left = granted;
      const slots = new PathSlots(() => {
        asked++;
        return left-- > 0;
      });
      const model = new Model();
      const isTrue = ({ hash }: Step) => [undefined, model.ownerOf(hash)].includes(slots.ownerOf(hash));
      for (const step of steps) {
        // A path that was forgotten for want of memory may come again, with another session.
        if (step.isAdded && slots.ownerOf(step.hash) === undefined) {
          model.apply({ ...step, isAdded: false, session: model.ownerOf(step.hash) ?? 0 });
        }
        apply(slots, step);
        model.apply(step);
        if (step.isAdded && slots.ownerOf(step.hash) !== model.ownerOf(step.hash)) return false;
      }
      if (!steps.every(isTrue)) return false;
      const bytes = slots.slotBytes;
      slots.halve();
      return slots.slotBytes === bytes / 2 && steps.every(isTrue);
    }),
  );
  t.ok(asked > 0, "some were refused");
});

t.test("few paths take few bytes, and many no more than the largest array", async (t) => {
  const slots = new PathSlots(() => true);
  for (let path = 1; path <= 50; path++) slots.add(scatteredHash(path), path);
  t.ok(slots.slotBytes <= 4096);
  for (let path = 1; path <= 2 * slotCount; path++) slots.add(scatteredHash(path), path);
  t.equal(slots.slotBytes, 8 * slotCount);
  const newest = new Map<number, number>();
  for (let path = 1; path <= 2 * slotCount; path++) newest.set(scatteredHash(path) % slotCount, path);
  for (let path = 1; path <= 2 * slotCount; path++) {
    const isNewest = newest.get(scatteredHash(path) % slotCount) === path;
    if (slots.ownerOf(scatteredHash(path)) !== (isNewest ? path : undefined)) t.fail(`path ${path}`);
  }
});
