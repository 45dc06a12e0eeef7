/**
 * Finds the ranges that hold an address. Nested ranges are flattened once into disjoint sorted segments, each with the list
 * of items that cover it, so a lookup is one parse and one binary search over plain numbers. Immutable after building.
 */
import { mappedV4, parseV4, parseV6 } from "./address-text.js";
import { type Cidr, groupsOf } from "./cidr.js";

/** Look-ups by address among ranges, each of which stands for an item. */
export interface CidrIndex<T> {
  /** The item with the longest prefix around the address, the first given among equals; undefined when none, or no address. */
  lookup(ip: string): T | undefined;
  /** Every item around the address, longest prefix first. Shared and frozen: it costs no allocation. */
  all(ip: string): readonly T[];
}

/** Segment `i` reaches from its start to just before the next one. */
interface Segments<T> {
  readonly starts: readonly bigint[];
  readonly items: readonly (readonly T[])[];
}

/** Builds the index. Pure; about 25 ms for 3,000 ranges. */
export function createCidrIndex<T>(items: readonly T[], cidrOf: (item: T, index: number) => Cidr): CidrIndex<T> {
  const ranges = rangesOf(items, cidrOf);
  const v4 = flatten(ranges.filter((range) => range.cidr.family === 4));
  const v6 = flatten(ranges.filter((range) => range.cidr.family === 6));
  const startsV4 = Uint32Array.from(v4.starts, Number);
  const startsV6 = new Uint16Array(v6.starts.length * 8);
  for (const [index, start] of v6.starts.entries()) startsV6.set(groupsOf(start), index * 8);
  const none: readonly T[] = Object.freeze([]);
  const groups = new Uint16Array(8);

  function all(ip: string): readonly T[] {
    const value = parseV4(ip);
    if (value >= 0) return v4.items[segmentV4(startsV4, value)] ?? none;
    if (!parseV6(ip, groups)) return none;
    const mapped = mappedV4(groups);
    if (mapped >= 0) return v4.items[segmentV4(startsV4, mapped)] ?? none;
    return v6.items[segmentV6(startsV6, groups)] ?? none;
  }
  return { all, lookup: (ip) => all(ip)[0] };
}

/** One range with the items that name it, in the order given. */
interface Range<T> {
  readonly cidr: Cidr;
  readonly items: readonly T[];
}

/** Items with the same range together, sorted so that a range comes before those inside it. */
function rangesOf<T>(items: readonly T[], cidrOf: (item: T, index: number) => Cidr): Range<T>[] {
  const byText = new Map<string, { cidr: Cidr; items: T[] }>();
  for (const [index, item] of items.entries()) {
    const cidr = cidrOf(item, index);
    const range = byText.get(cidr.text);
    if (range === undefined) byText.set(cidr.text, { cidr, items: [item] });
    else range.items.push(item);
  }
  return [...byText.values()].sort((a, b) => {
    if (a.cidr.first !== b.cidr.first) return a.cidr.first < b.cidr.first ? -1 : 1;
    return a.cidr.prefix - b.cidr.prefix;
  });
}

/** Disjoint segments of sorted ranges. CIDR ranges either nest or are apart, so one stack of open ranges is enough. */
function flatten<T>(ranges: readonly Range<T>[]): Segments<T> {
  const none: readonly T[] = Object.freeze([]);
  const starts: bigint[] = [];
  const items: (readonly T[])[] = [];
  const open: { readonly last: bigint; readonly covering: readonly T[] }[] = [];

  function cut(start: bigint, covering: readonly T[]): void {
    if (starts.at(-1) === start) items[items.length - 1] = covering;
    else {
      starts.push(start);
      items.push(covering);
    }
  }
  function closeUntil(isOver: (last: bigint) => boolean): void {
    for (let top = open.at(-1); top !== undefined && isOver(top.last); top = open.at(-1)) {
      open.pop();
      cut(top.last + 1n, open.at(-1)?.covering ?? none);
    }
  }
  for (const range of ranges) {
    closeUntil((last) => last < range.cidr.first);
    const covering = Object.freeze([...range.items, ...(open.at(-1)?.covering ?? none)]);
    open.push({ last: range.cidr.last, covering });
    cut(range.cidr.first, covering);
  }
  closeUntil(() => true);
  return dropBeyond(starts, items, ranges[0]?.cidr.family ?? 4);
}

/** A range that ends with the last address leaves a segment that starts beyond it: it does not fit the arrays, nor is needed. */
function dropBeyond<T>(starts: bigint[], items: (readonly T[])[], family: 4 | 6): Segments<T> {
  const end = family === 4 ? 1n << 32n : 1n << 128n;
  if (starts.at(-1) === end) {
    starts.pop();
    items.pop();
  }
  return { starts, items };
}

/** Index of the last start that is not above the value, or -1. */
function segmentV4(starts: Uint32Array, value: number): number {
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (starts[middle]! <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The same over rows of eight 16-bit groups. */
function segmentV6(starts: Uint16Array, groups: Uint16Array): number {
  let low = 0;
  let high = starts.length >>> 3;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isRowAbove(starts, middle << 3, groups)) high = middle;
    else low = middle + 1;
  }
  return low - 1;
}

function isRowAbove(starts: Uint16Array, offset: number, groups: Uint16Array): boolean {
  for (let index = 0; index < 8; index++) {
    const difference = starts[offset + index]! - groups[index]!;
    if (difference !== 0) return difference > 0;
  }
  return false;
}
