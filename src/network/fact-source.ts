/** Network facts while they are built: rows of facts, and which row holds where. Sources are laid one over another. */
import { overlay, Segments } from "./segments.js";

/** What is known of an address; "" and 0 where it is not. */
export interface FactRow {
  /** ISO 3166-1 alpha-2, upper case. */
  readonly country: string;
  readonly asn: number;
  readonly asName: string;
}

/** Row 0 knows nothing. */
export interface FactSource {
  readonly rows: readonly FactRow[];
  readonly v4: Segments;
  readonly v6: Segments;
}

/** Row 0 of every source, for addresses of which nothing is known. */
const nothingKnown: FactRow = Object.freeze({ country: "", asn: 0, asName: "" });

/** Collects distinct rows. */
export class FactRows {
  readonly rows: FactRow[] = [nothingKnown];
  readonly #numbers = new Map<string, number>([[keyOf(nothingKnown), 0]]);

  /** The number of the row, which is added when it is new. */
  numberOf(row: FactRow): number {
    const key = keyOf(row);
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    this.#numbers.set(key, this.rows.length);
    return this.rows.push(row) - 1;
  }
}

function keyOf({ country, asn, asName }: FactRow): string {
  return `${country} ${asn} ${asName}`;
}

/** A source that knows nothing of any address. A new one each time. */
export function emptySource(): FactSource {
  return { rows: [nothingKnown], v4: new Segments(1), v6: new Segments(4) };
}

/**
 * The facts of `above`, and where it lacks one, those of `below`. A name is that of the number beside it: where `above` knows a number
 * without a name, `below` is asked for the name of this number, and one of another number is never taken.
 */
export function layOver(above: FactSource, below: FactSource): FactSource {
  const made = new FactRows();
  const nameOf = new Map<number, string>();
  for (const { asn, asName } of below.rows) if (asName !== "" && !nameOf.has(asn)) nameOf.set(asn, asName);
  const known = new Map<number, number>();
  const combine = (one: number, other: number): number => {
    const key = one * below.rows.length + other;
    let number = known.get(key);
    if (number === undefined) {
      number = made.numberOf(combined(above.rows[one]!, below.rows[other]!, nameOf));
      known.set(key, number);
    }
    return number;
  };
  const [v4, v6] = [overlay(above.v4, below.v4, combine), overlay(above.v6, below.v6, combine)];
  return { rows: made.rows, v4, v6 };
}

function combined(above: FactRow, below: FactRow, nameOf: ReadonlyMap<number, string>): FactRow {
  const country = above.country || below.country;
  if (above.asn === 0) return { country, asn: below.asn, asName: below.asName };
  if (above.asName !== "") return { country, asn: above.asn, asName: above.asName };
  return { country, asn: above.asn, asName: above.asn === below.asn ? below.asName : (nameOf.get(above.asn) ?? "") };
}
