/**
 * Reads a MaxMind DB file whole: every network of its tree, and of each record what verdictd uses. Read at load and not at each look-up, so
 * that damage shows before the file is used. The fields are those of GeoLite2, DB-IP and IPinfo. Format: maxmind.github.io/MaxMind-DB.
 */
import decoderModule from "mmdb-lib/lib/decoder.js";
import { isJsonObject } from "../contract/api/json-body.js";
import { limits } from "../limits.js";
import { type FactRow, FactRows, type FactSource } from "./fact-source.js";
import { Segments } from "./segments.js";

/** A CommonJS module: its default export is a member of what Node calls the default one. */
const { default: Decoder } = decoderModule as unknown as {
  default: new (bytes: Buffer, base: number) => RecordDecoder;
};
interface RecordDecoder {
  decode(offset: number): Decoded;
  decodeByType(type: number, offset: number, size: number): Decoded;
}
interface Decoded {
  readonly value: unknown;
  readonly offset: number;
}

/**
 * Decodes one record at a time. A record may name parts of others, and these parts of others again: a few hundred bytes whose every level names the
 * next twice would take for ever, so what a record costs is counted.
 */
class BoundedDecoder extends Decoder {
  #left = 0;

  /** Throws for a record that takes more than `limits.mmdbRecordBytesMax`, all that it names included. */
  record(offset: number): Decoded {
    this.#left = limits.mmdbRecordBytesMax;
    return this.decode(offset);
  }

  override decode(offset: number): Decoded {
    this.#spend(1);
    return super.decode(offset);
  }

  override decodeByType(type: number, offset: number, size: number): Decoded {
    this.#spend(size);
    return super.decodeByType(type, offset, size);
  }

  #spend(bytes: number): void {
    this.#left -= bytes;
    if (this.#left < 0) throw new Error("is damaged: a record is too large");
  }
}

/** Before the metadata, which end the file. */
const metadataMarker = Buffer.from("abcdef4d61784d696e642e636f6d", "hex");
const separatorBytes = 16;

/** The file's facts. Throws an `Error` with a message of one line for what is no such file, or damaged. Two seconds for a city file. */
export function readMmdb(bytes: Buffer): FactSource {
  const tree = readTree(bytes);
  const records = new Records(bytes, tree);
  const v4 = new Segments(1);
  const v6 = new Segments(4);
  const v4Root = tree.ipVersion === 4 ? 0 : rootOfV4(tree);
  new Walk(tree, records, v4, 32, -1).from(v4Root);
  if (tree.ipVersion === 6) new Walk(tree, records, v6, 128, v4Root).from(0);
  if (records.rows.length === 1) throw new Error("holds neither countries nor autonomous systems");
  return { rows: records.rows, v4, v6 };
}

interface Tree {
  readonly bytes: Buffer;
  readonly ipVersion: 4 | 6;
  readonly nodeCount: number;
  readonly nodeBytes: number;
  readonly treeBytes: number;
  /** Where the records end and the metadata begin. */
  readonly dataEnd: number;
}

function readTree(bytes: Buffer): Tree {
  const dataEnd = bytes.lastIndexOf(metadataMarker);
  if (dataEnd < 0) throw new Error("is no MaxMind DB file, or it was cut off");
  const {
    ip_version: ipVersion,
    node_count: nodeCount,
    record_size: recordBits,
    binary_format_major_version: version,
  } = metadataOf(bytes, dataEnd + metadataMarker.length);
  if (recordBits !== 24 && recordBits !== 28 && recordBits !== 32) throw badMetadata();
  if (typeof nodeCount !== "number" || !Number.isSafeInteger(nodeCount)) throw badMetadata();
  const nodeBytes = recordBits / 4;
  const treeBytes = nodeCount * nodeBytes;
  const isSound =
    version === 2 &&
    (ipVersion === 4 || ipVersion === 6) &&
    nodeCount > 0 &&
    treeBytes + separatorBytes <= dataEnd &&
    bytes.subarray(treeBytes, treeBytes + separatorBytes).every((byte) => byte === 0);
  if (!isSound) throw new Error("is damaged: its tree is not where the metadata say");
  return { bytes, ipVersion, nodeCount, nodeBytes, treeBytes, dataEnd };
}

function metadataOf(bytes: Buffer, at: number): Record<string, unknown> {
  try {
    const { value } = new BoundedDecoder(bytes, at).record(at);
    if (isJsonObject(value)) return value;
  } catch {
    // What the decoder throws names a byte, which helps nobody.
  }
  throw badMetadata();
}

function badMetadata(): Error {
  return new Error("is damaged: its metadata can't be read");
}

/** The record of a node for the next bit: below `nodeCount` a node, equal to it nothing, above it a place of the data. */
function childOf({ bytes, nodeBytes }: Tree, node: number, bit: 0 | 1): number {
  const at = node * nodeBytes;
  if (nodeBytes === 6) return bytes.readUIntBE(at + 3 * bit, 3);
  if (nodeBytes === 8) return bytes.readUInt32BE(at + 4 * bit);
  const middle = bytes[at + 3]!;
  return bit === 0
    ? (middle >>> 4) * 0x1000000 + bytes.readUIntBE(at, 3)
    : (middle & 15) * 0x1000000 + bytes.readUIntBE(at + 4, 3);
}

/** Where `::/96` leads, in which IPv4 lies. */
function rootOfV4(tree: Tree): number {
  let node = 0;
  for (let depth = 0; depth < 96 && node < tree.nodeCount; depth++) node = childOf(tree, node, 0);
  return node;
}

/** Goes through a tree in the order of addresses. */
class Walk {
  readonly #tree: Tree;
  readonly #records: Records;
  readonly #segments: Segments;
  readonly #bits: number;
  readonly #skipped: number;
  readonly #prefix: Uint32Array;
  #nodes = 0;

  /** `skipped`: the node of IPv4, which the tree of IPv6 reaches from several places (`::ffff:0:0/96`, 6to4, Teredo); -1: none. */
  constructor(tree: Tree, records: Records, segments: Segments, bits: number, skipped: number) {
    this.#tree = tree;
    this.#records = records;
    this.#segments = segments;
    this.#bits = bits;
    this.#skipped = skipped;
    this.#prefix = new Uint32Array(segments.width);
  }

  from(root: number): void {
    this.#visit(root, 0);
  }

  #visit(node: number, depth: number): void {
    const { nodeCount } = this.#tree;
    if (node >= nodeCount || node === this.#skipped) {
      const row = node <= nodeCount ? 0 : this.#records.rowAt(node - nodeCount);
      this.#segments.push(this.#prefix, 0, row);
      return;
    }
    // A sound tree is visited once a node; one with loops would be for ever.
    if (depth === this.#bits || ++this.#nodes > nodeCount) throw new Error("is damaged: its tree has loops");
    this.#visit(childOf(this.#tree, node, 0), depth + 1);
    const word = depth >>> 5;
    const bit = 2 ** (31 - (depth & 31));
    this.#prefix[word] = this.#prefix[word]! + bit;
    this.#visit(childOf(this.#tree, node, 1), depth + 1);
    this.#prefix[word] = this.#prefix[word]! - bit;
  }
}

/** The records of the data, each decoded once. */
class Records {
  readonly #decoder: BoundedDecoder;
  readonly #tree: Tree;
  readonly #rows = new FactRows();
  readonly #numbers = new Map<number, number>();

  constructor(bytes: Buffer, tree: Tree) {
    this.#tree = tree;
    this.#decoder = new BoundedDecoder(bytes.subarray(0, tree.dataEnd), tree.treeBytes + separatorBytes);
  }

  get rows(): readonly FactRow[] {
    return this.#rows.rows;
  }

  /** The row of the record that a tree names; `place` counts from the end of the tree. */
  rowAt(place: number): number {
    const known = this.#numbers.get(place);
    if (known !== undefined) return known;
    const number = this.#rows.numberOf(factsOf(this.#recordAt(this.#tree.treeBytes + place)));
    this.#numbers.set(place, number);
    return number;
  }

  #recordAt(offset: number): Record<string, unknown> {
    const { treeBytes, dataEnd } = this.#tree;
    try {
      if (offset < treeBytes + separatorBytes || offset >= dataEnd) throw new Error("outside");
      const { value, offset: end } = this.#decoder.record(offset);
      if (end <= dataEnd && isJsonObject(value)) return value;
    } catch {
      // Said below: what the decoder throws names a byte, which helps nobody.
    }
    throw new Error("is damaged: a record can't be read");
  }
}

/** Of what the known kinds of files write, the first that is there. */
function factsOf(record: Record<string, unknown>): FactRow {
  const { country, traits } = record;
  const inTraits = isJsonObject(traits) ? traits : {};
  const asn = asnOf(record["autonomous_system_number"] ?? record["asn"] ?? inTraits["autonomous_system_number"]);
  const name =
    record["autonomous_system_organization"] ??
    record["as_name"] ??
    inTraits["autonomous_system_organization"] ??
    (asn === 0 ? undefined : record["name"]);
  return {
    country: countryOf(record["country_code"] ?? (isJsonObject(country) ? country["iso_code"] : country)),
    asn,
    asName: asn === 0 || typeof name !== "string" ? "" : asNameOf(name),
  };
}

/** Codes that stand for no country in some files: unknown, Europe, Asia and the Pacific. */
const noCountries: ReadonlySet<string> = new Set(["XX", "ZZ", "EU", "AP"]);

/** A country's code in capitals; "" for anything but two letters, and for codes that name no country. */
function countryOf(value: unknown): string {
  if (typeof value !== "string" || !/^[A-Za-z]{2}$/.test(value)) return "";
  const code = value.toUpperCase();
  return noCountries.has(code) ? "" : code;
}

/** A number, or text such as `AS15169`; 0 for what is none. */
export function asnOf(value: unknown): number {
  const number =
    typeof value === "string" && /^(AS)?\d{1,10}$/i.test(value) ? Number(value.replace(/^AS/i, "")) : value;
  return typeof number === "number" && Number.isInteger(number) && number >= 1 && number <= 0xffff_ffff ? number : 0;
}

/** A network's name in one line, cut to `limits.asNameMax`. */
export function asNameOf(name: string): string {
  return name
    .replace(/\p{Cc}+/gu, " ")
    .trim()
    .slice(0, limits.asNameMax);
}
