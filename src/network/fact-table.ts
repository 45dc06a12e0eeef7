/**
 * Network facts as they are held: one buffer that all HTTP threads share, the same bytes as the file that the build makes. Little-endian
 * u32 throughout:
 *
 * | words | what |
 * |---|---|
 * | 8 | magic, form, segments of IPv4, segments of IPv6, rows, bytes of names, 0, 0 |
 * | v4 | starts |
 * | v4 | rows |
 * | 4 v6 | starts, four words each |
 * | v6 | rows |
 * | rows | countries, two letters in the low bytes; 0: not known |
 * | rows | AS numbers; 0: not known |
 * | rows | where the name begins |
 * | rows | bytes of the name |
 * | | names, UTF-8, each once |
 */
import { endianness } from "node:os";
import type { FactRow, FactSource } from "./fact-source.js";
import { Segments } from "./segments.js";

const magic = 0x76_6e_66_31;
const form = 1;
const headWords = 8;

/** Columns over a buffer. */
export interface FactTable {
  readonly v4Starts: Uint32Array;
  readonly v4Rows: Uint32Array;
  readonly v6Starts: Uint32Array;
  readonly v6Rows: Uint32Array;
  readonly countries: Uint32Array;
  readonly asns: Uint32Array;
  readonly nameStarts: Uint32Array;
  readonly nameLengths: Uint32Array;
  readonly names: Buffer;
}

/** The columns of a packed table; copies nothing. Throws for a buffer that is none. */
export function factTable(buffer: ArrayBuffer | SharedArrayBuffer): FactTable {
  if (endianness() !== "LE") throw new Error("network facts need a little-endian machine");
  const head = new Uint32Array(buffer, 0, Math.min(headWords, buffer.byteLength >>> 2));
  const [found, version, v4 = 0, v6 = 0, rows = 0, nameBytes = 0] = head;
  if (found !== magic || version !== form || buffer.byteLength !== bytesOf(v4, v6, rows, nameBytes)) {
    throw new Error("the network facts are not of this build");
  }
  let at = headWords;
  const column = (words: number): Uint32Array => {
    const made = new Uint32Array(buffer, 4 * at, words);
    at += words;
    return made;
  };
  return {
    v4Starts: column(v4),
    v4Rows: column(v4),
    v6Starts: column(4 * v6),
    v6Rows: column(v6),
    countries: column(rows),
    asns: column(rows),
    nameStarts: column(rows),
    nameLengths: column(rows),
    names: Buffer.from(buffer, 4 * at, nameBytes),
  };
}

/** The table as a source, to lay others over it. */
export function sourceOfTable(table: FactTable): FactSource {
  const rows = Array.from(table.asns, (_, row) => factRow(table, row));
  return {
    rows,
    v4: Segments.of(1, table.v4Starts, table.v4Rows),
    v6: Segments.of(4, table.v6Starts, table.v6Rows),
  };
}

/** Makes the table that threads share. */
export function packFacts({ rows, v4, v6 }: FactSource): SharedArrayBuffer {
  const names = new DistinctNames();
  const spans = rows.map(({ asName }) => names.spanOf(asName));
  const all = Buffer.concat(names.kept);
  const buffer = new SharedArrayBuffer(bytesOf(v4.length, v6.length, rows.length, all.length));
  new Uint32Array(buffer).set([magic, form, v4.length, v6.length, rows.length, all.length]);
  const table = factTable(buffer);
  table.v4Starts.set(v4.starts);
  table.v4Rows.set(v4.values);
  table.v6Starts.set(v6.starts);
  table.v6Rows.set(v6.values);
  for (const [index, { country, asn }] of rows.entries()) {
    table.countries[index] = country === "" ? 0 : country.charCodeAt(0) | (country.charCodeAt(1) << 8);
    table.asns[index] = asn;
    table.nameStarts[index] = spans[index]!.start;
    table.nameLengths[index] = spans[index]!.length;
  }
  table.names.set(all);
  return buffer;
}

class DistinctNames {
  readonly kept: Buffer[] = [];
  readonly #spans = new Map<string, { readonly start: number; readonly length: number }>();
  #bytes = 0;

  spanOf(name: string): { readonly start: number; readonly length: number } {
    const known = this.#spans.get(name);
    if (known !== undefined) return known;
    const bytes = Buffer.from(name);
    const span = { start: this.#bytes, length: bytes.length };
    this.kept.push(bytes);
    this.#bytes += bytes.length;
    this.#spans.set(name, span);
    return span;
  }
}

/** What a row of the table says. */
export function factRow(table: FactTable, row: number): FactRow {
  const country = table.countries[row]!;
  const start = table.nameStarts[row]!;
  return {
    country: country === 0 ? "" : String.fromCharCode(country & 0xff, country >>> 8),
    asn: table.asns[row]!,
    asName: table.names.toString("utf8", start, start + table.nameLengths[row]!),
  };
}

function bytesOf(v4: number, v6: number, rows: number, nameBytes: number): number {
  return 4 * (headWords + 2 * v4 + 5 * v6 + 4 * rows + Math.ceil(nameBytes / 4));
}
