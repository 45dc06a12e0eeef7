/** Memory of what visitors write, bounded in characters: copies of parts of their texts, and what is remembered by them. */
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
 * What was found out of texts that visitors write. Bounded in entries and in the characters of all texts; one that is full starts anew.
 * Texts of more than `contextValueMax` characters are not kept: nobody's browser sends such.
 */
export class TextMemo<V> {
  readonly #entriesMax: number;
  readonly #values = new Map<string, V>();
  #characters = 0;

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax;
  }

  get(text: string): V | undefined {
    return this.#values.get(text);
  }

  set(text: string, value: V): void {
    if (text.length > limits.contextValueMax) return;
    const isFull = this.#values.size >= this.#entriesMax || this.#characters >= limits.textMemoCharactersMax;
    if (isFull) this.clear();
    this.#values.set(ownText(text), value);
    this.#characters += text.length;
  }

  clear(): void {
    this.#values.clear();
    this.#characters = 0;
  }
}
