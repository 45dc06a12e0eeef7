/**
 * Reads the file of an operator's list: an address, a range or an autonomous system (`AS13335`) a line, `#` before a comment. One bad line
 * refuses the file: half a list would let in, or keep out, whom nobody meant.
 */
import type { IpListRecord } from "../contract/configuration/ip-lists.js";
import { limits } from "../limits.js";
import { type Cidr, groupsOf, isCidrFault, parseCidr } from "../net/cidr.js";
import { wordsOfGroups } from "../net/words.js";
import { bytesOfWords } from "./ip-list-index.js";

/** Why a file is no list; the line is counted from 1, 0 where it is the whole. */
interface IpListFault {
  readonly line: number;
  readonly reason: string;
}

/** Tells a fault from a list. */
export function isIpListFault(value: object): value is IpListFault {
  return "reason" in value;
}

/** The list in the form of the store. `areAsNumbers`: a line that is a bare number is an autonomous system, too. */
export function parseIpList(text: string, areAsNumbers = false): Omit<IpListRecord, "importedAt"> | IpListFault {
  const ranges = new Map<string, Cidr>();
  const asns = new Set<number>();
  let line = 0;
  for (const written of text.replace(/^\uFEFF/, "").split(/\r\n|\n|\r/)) {
    line++;
    const entry = written.split("#", 1)[0]!.trim();
    if (entry === "") continue;
    const asn = asnOf(entry, areAsNumbers);
    if (asn === null) {
      const cidr = parseCidr(entry, true);
      if (isCidrFault(cidr)) return { line, reason: `${shown(entry)} ${cidr.reason}` };
      ranges.set(cidr.text, cidr);
    } else if (asn === 0) return { line, reason: `${shown(entry)} is not an AS number from 1 to 4294967295` };
    else asns.add(asn);
    if (ranges.size + asns.size > limits.ipListEntriesMax) {
      return { line, reason: `is beyond the ${limits.ipListEntriesMax} entries that a list may have` };
    }
  }
  if (ranges.size + asns.size === 0) return { line: 0, reason: "holds no address" };
  const all = [...ranges.values()];
  const [v4, v6] = [4, 6].map((family) => joined(all.filter((cidr) => cidr.family === family)));
  return {
    count: ranges.size + asns.size,
    v4: bytesOfWords(v4!.flat().map(Number)),
    v6: bytesOfWords(v6!.flat().flatMap(wordsOf)),
    asns: bytesOfWords([...asns].sort((a, b) => a - b)),
  };
}

/** The number of `AS13335`, 0 for one that is out of range, null for what is not written like one. */
function asnOf(entry: string, areAsNumbers: boolean): number | null {
  const digits = /^AS(\d+)$/i.exec(entry)?.[1] ?? (areAsNumbers ? /^\d+$/.exec(entry)?.[0] : undefined);
  if (digits === undefined) return null;
  const asn = Number(digits);
  return asn >= 1 && asn <= 0xffff_ffff ? asn : 0;
}

/** Sorted, and those that touch or overlap made one. */
function joined(ranges: readonly Cidr[]): [first: bigint, last: bigint][] {
  const sorted = [...ranges].sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0));
  const apart: [bigint, bigint][] = [];
  for (const { first, last } of sorted) {
    const before = apart.at(-1);
    if (before === undefined || first > before[1] + 1n) apart.push([first, last]);
    else if (last > before[1]) before[1] = last;
  }
  return apart;
}

function wordsOf(address: bigint): number[] {
  const words = new Uint32Array(4);
  wordsOfGroups(groupsOf(address), words);
  return [...words];
}

function shown(entry: string): string {
  return JSON.stringify(entry.length > 60 ? `${entry.slice(0, 60)}…` : entry);
}
