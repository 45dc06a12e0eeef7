/** Says whether an address is on an operator's list: binary search over the sorted ranges as they are stored. Pure. */
import type { IpListRecord } from "../contract/configuration/ip-lists.js";
import type { ParsedAddress } from "../net/parsed-address.js";
import { compareWords, lastNotAboveV4, lastNotAboveV6 } from "../net/words.js";

/** One list, ready to be asked. `asn` is the address's own, undefined where it is not known. */
export interface IpListIndex {
  readonly name: string;
  /** Whether the list holds autonomous systems, so that `asn` has to be looked up. */
  readonly hasAsns: boolean;
  has(address: ParsedAddress, asn: number | undefined): boolean;
}

/** `record` is a sound one, whose bytes are copied. */
export function createIpListIndex(name: string, record: IpListRecord): IpListIndex {
  const [v4First, v4Last] = columnsOf(wordsOfBytes(record.v4), 1);
  const [v6First, v6Last] = columnsOf(wordsOfBytes(record.v6), 4);
  const asns = wordsOfBytes(record.asns);
  return {
    name,
    hasAsns: asns.length > 0,
    has: ({ v4, v6 }, asn) => {
      if (asn !== undefined && asns[lastNotAboveV4(asns, asn)] === asn) return true;
      if (v4 >= 0) {
        const index = lastNotAboveV4(v4First, v4);
        return index >= 0 && v4 <= v4Last[index]!;
      }
      const index = lastNotAboveV6(v6First, v6);
      return index >= 0 && compareWords(v6, 0, v6Last, index << 2, 4) <= 0;
    },
  };
}

/** Why a stored value is no list, or null. */
export function ipListRecordFault(value: unknown): string | null {
  if (typeof value !== "object" || value === null) return "is no list of addresses";
  const { count, importedAt, v4, v6, asns } = value as Partial<IpListRecord>;
  if (!Number.isSafeInteger(count) || (count as number) < 0) return "count is not a count";
  if (typeof importedAt !== "string" || Number.isNaN(Date.parse(importedAt))) return "importedAt is no time";
  const isOf = (bytes: unknown, unit: number) => bytes instanceof Uint8Array && bytes.length % unit === 0;
  return isOf(v4, 8) && isOf(v6, 32) && isOf(asns, 4) ? null : "its ranges have another length";
}

/** Words as the bytes of a record, little-endian. */
export function bytesOfWords(words: readonly number[]): Uint8Array {
  const bytes = Buffer.alloc(4 * words.length);
  for (const [index, word] of words.entries()) bytes.writeUInt32LE(word, 4 * index);
  return bytes;
}

function wordsOfBytes(bytes: Uint8Array): Uint32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const words = new Uint32Array(bytes.length >>> 2);
  for (let index = 0; index < words.length; index++) words[index] = view.getUint32(4 * index, true);
  return words;
}

/** First and last addresses of ranges in columns of their own. */
function columnsOf(pairs: Uint32Array, width: number): [Uint32Array, Uint32Array] {
  const count = pairs.length / (2 * width);
  const [first, last] = [new Uint32Array(count * width), new Uint32Array(count * width)];
  for (let index = 0; index < count; index++) {
    const at = 2 * width * index;
    for (let word = 0; word < width; word++) {
      first[width * index + word] = pairs[at + word]!;
      last[width * index + word] = pairs[at + width + word]!;
    }
  }
  return [first, last];
}
