/** Country and autonomous system of an address, from the table that all HTTP threads of a process share. */
import type { NetworkFact } from "../contract/network-fact.js";
import { limits } from "../limits.js";
import { parseAddressWords } from "../net/parsed-address.js";
import { lastNotAboveV4, lastNotAboveV6 } from "../net/words.js";
import { type FactTable, factRow, factTable } from "./fact-table.js";

const nothing: NetworkFact = Object.freeze({ country: undefined, asn: undefined, asName: undefined });

/** Look-ups of one thread in a shared table, which `use` replaces while the service runs. */
export class NetworkFacts {
  #table: FactTable;
  /** Rows that were asked for, so that a look-up allocates nothing; begun anew when it is full. */
  readonly #known = new Map<number, NetworkFact>();

  /** `buffer` is a packed table (`fact-table.ts`). */
  constructor(buffer: ArrayBuffer | SharedArrayBuffer) {
    this.#table = factTable(buffer);
  }

  /** From now on another table is asked; throws for what is none, and goes on with the old one. */
  use(buffer: ArrayBuffer | SharedArrayBuffer): void {
    this.#table = factTable(buffer);
    this.#known.clear();
  }

  /** The facts of an address in any spelling; nothing for what is no address. A frozen object. About 0.7 µs for addresses at random. */
  of(address: string): NetworkFact {
    const row = this.#rowOf(address);
    if (row === 0) return nothing;
    const known = this.#known.get(row);
    if (known !== undefined) return known;
    const { country, asn, asName } = factRow(this.#table, row);
    const fact = Object.freeze({
      country: country || undefined,
      asn: asn || undefined,
      asName: asName || undefined,
    });
    if (this.#known.size >= limits.networkFactsMemoMax) this.#known.clear();
    this.#known.set(row, fact);
    return fact;
  }

  #rowOf(address: string): number {
    const parsed = parseAddressWords(address);
    if (parsed === null) return 0;
    const { v4Starts, v4Rows, v6Starts, v6Rows } = this.#table;
    if (parsed.v4 >= 0) return v4Rows[lastNotAboveV4(v4Starts, parsed.v4)] ?? 0;
    return v6Rows[lastNotAboveV6(v6Starts, parsed.v6)] ?? 0;
  }
}
