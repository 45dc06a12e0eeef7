/** Country and autonomous system of an address, from the table that all HTTP threads of a process share. */
import type { NetworkFact } from "../contract/evidence/network-fact.js";
import { parseAddressWords } from "../net/parsed-address.js";
import { lastNotAboveV4, lastNotAboveV6 } from "../net/words.js";
import { type FactTable, factRow, factTable } from "./fact-table.js";

/** Leading bits of an IPv4 address by which a table's first steps are looked up: 16 KB, where half of a binary search would miss the processor's caches. */
const pageBits = 12;

/** Rows that a thread keeps as objects, of some hundred bytes: a cache with an order of use takes as long as the search that it saves. */
const knownRows = 4096;

const nothing: NetworkFact = Object.freeze({ country: undefined, asn: undefined, asName: undefined });

/** Look-ups of one thread in a shared table, which `use` replaces while the service runs. */
export class NetworkFacts {
  #table: FactTable;
  /** Of each page the number of IPv4 segments that begin before it. */
  #pages: Uint32Array;
  /** Rows that were asked for, the latest in each slot, so that most look-ups allocate nothing. */
  readonly #known = new Array<{ readonly row: number; readonly fact: NetworkFact } | undefined>(knownRows).fill(
    undefined,
  );

  /** `buffer` is a packed table (`fact-table.ts`). */
  constructor(buffer: ArrayBuffer | SharedArrayBuffer) {
    this.#table = factTable(buffer);
    this.#pages = pagesOf(this.#table);
  }

  /** From now on another table is asked; throws for what is none, and goes on with the old one. */
  use(buffer: ArrayBuffer | SharedArrayBuffer): void {
    this.#table = factTable(buffer);
    this.#pages = pagesOf(this.#table);
    this.#known.fill(undefined);
  }

  /** The facts of an address in any spelling; nothing for what is no address. A frozen object. About 0.3 µs for addresses at random. */
  of(address: string): NetworkFact {
    const row = this.#rowOf(address);
    if (row === 0) return nothing;
    const known = this.#known[row % knownRows];
    if (known?.row === row) return known.fact;
    const { country, asn, asName } = factRow(this.#table, row);
    const fact = Object.freeze({
      country: country || undefined,
      asn: asn || undefined,
      asName: asName || undefined,
    });
    this.#known[row % knownRows] = { row, fact };
    return fact;
  }

  #rowOf(address: string): number {
    const parsed = parseAddressWords(address);
    if (parsed === null) return 0;
    const { v4Starts, v4Rows, v6Starts, v6Rows } = this.#table;
    if (parsed.v4 >= 0) {
      const page = parsed.v4 >>> (32 - pageBits);
      return v4Rows[lastNotAboveV4(v4Starts, parsed.v4, this.#pages[page]!, this.#pages[page + 1]!)] ?? 0;
    }
    return v6Rows[lastNotAboveV6(v6Starts, parsed.v6)] ?? 0;
  }
}

function pagesOf({ v4Starts }: FactTable): Uint32Array {
  const first = (page: number): number => lastNotAboveV4(v4Starts, page * 2 ** (32 - pageBits) - 1) + 1;
  return Uint32Array.from({ length: 2 ** pageBits + 1 }, (_, page) => first(page));
}
