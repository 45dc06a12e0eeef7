/** Memory of what visitors write, bounded in characters: copies of parts of their texts, and what is remembered by them. */
import { LRUCache } from "lru-cache";
import { limits } from "../limits.js";

/** A copy. What is cut out of a text is a view in V8, which keeps all of that text in memory as long as it is held. */
export function ownText(text: string): string {
  return Buffer.from(text).toString();
}

/** A part of `whole` that is going to be kept: a copy, unless all of `whole` may be kept as well. About 0.2 us for a copy. */
export function ownPart(part: string, whole: string): string {
  return whole.length > limits.contextValueMax ? ownText(part) : part;
}

/**
 * What was found out of texts that visitors write. Bounded in entries and in the characters of all texts; whose last use is
 * longest ago go first. Texts of more than `contextValueMax` characters are not kept: nobody's browser sends such.
 */
export class TextMemo<V extends NonNullable<unknown>> {
  readonly #values: LRUCache<string, V>;

  constructor(entriesMax: number) {
    this.#values = new LRUCache<string, V>({ max: entriesMax, maxSize: limits.textMemoCharactersMax });
  }

  get(text: string): V | undefined {
    return this.#values.get(text);
  }

  set(text: string, value: V): void {
    if (text.length > limits.contextValueMax) return;
    this.#values.set(ownText(text), value, { size: Math.max(1, text.length) });
  }

  clear(): void {
    this.#values.clear();
  }
}
