/**
 * One visit as words of shared memory, and what is read of them. Of the pages since the last report the latest are kept one by one; where there are more
 * of them than room, old ones are put together so that a report takes them away no later than it should.
 */
import { fnv1a, fnvBasis } from "../contract/values/hashes.js";
import type { TableRow } from "./recent-table.js";

/**
 * Of a page: when, how many, below which segment (0: various), and twice the number of those that are put together from various segments below which the
 * SDK is installed, plus 1 once it was counted as not followed by a report.
 */
const pageWords = 4;
const countedBit = 1;

/** Where a row has what; times are of `clock`. */
export const V = {
  project: 0,
  /** Of its navigations; valid while there are any. */
  first: 1,
  /** Of any request or report. */
  last: 2,
  pages: 3,
  posts: 4,
  /** 1 once a page was loaded other than by a POST. */
  loaded: 5,
  /** Tokens that were given to it and did not come back. */
  given: 6,
  /** Of the last report; 0 for none. */
  report: 7,
  /** The address of its last page without its last number, that number, and how many pages it rose by one each. */
  walkForm: 8,
  walkNumber: 9,
  walkRun: 10,
  /** How many entries of pages there are, each a part of the row. */
  entries: 11,
} as const;
/** Words of a visit without its pages. */
export const visitWords = 12;
/** The parts of a row: most visits have no page that waits for a report, or one. */
export const visitPages = { count: 8, width: pageWords } as const;

const silentMs = 5000;

/** Segments of pages of visits that reported, one for each page. */
export interface Settled {
  readonly followed: readonly number[];
  readonly unfollowed: readonly number[];
}

/** Silent pages below one segment of the path; 0: below various ones, where the SDK is installed. */
export interface SilentRun {
  readonly segment: number;
  readonly pages: number;
}

/**
 * Counts a navigation; `segment` 0: no token was given or brought, so that nothing can report. Returns what is now known of earlier ones. `isInstalled`:
 * whether the SDK is, below a segment; asked where pages have to be put together.
 */
export function addPage(
  row: TableRow,
  time: number,
  segment: number,
  isInstalled: (segment: number) => boolean,
): Settled | null {
  const { words, at } = row;
  const settled = words[at + V.report] === 0 ? null : settleOld(row, time);
  if (words[at + V.pages] === 0) words[at + V.first] = time;
  words[at + V.pages]!++;
  if (segment === 0) return settled;
  const count = words[at + V.entries]!;
  if (count === visitPages.count && !mergeOldest(row, time, isInstalled)) {
    // All are of the last seconds: the entry is as young as its latest page.
    const last = row.part(count - 1);
    if (words[last + 2] !== segment) {
      words[last + 3] =
        (words[last + 3]! & countedBit) | (2 * (installed(words, last, isInstalled) + (isInstalled(segment) ? 1 : 0)));
      words[last + 2] = 0;
    }
    words[last] = time;
    words[last + 1]!++;
    return settled;
  }
  const entry = row.part(words[at + V.entries]!);
  words[entry] = time;
  words[entry + 1] = 1;
  words[entry + 2] = segment;
  words[entry + 3] = 0;
  words[at + V.entries]!++;
  return settled;
}

/** Pages that are older than 5 s and not reported. */
export function silentPages(row: TableRow, now: number): number {
  const { words, at } = row;
  let pages = 0;
  for (let index = 0; index < words[at + V.entries]!; index++) {
    const entry = row.part(index);
    if (((now - words[entry]!) | 0) > silentMs) pages += words[entry + 1]!;
  }
  return pages;
}

/** The same by segments; of those that are put together from various ones, those where the SDK is installed. */
export function silentRuns(row: TableRow, now: number): readonly SilentRun[] {
  const { words, at } = row;
  const runs: SilentRun[] = [];
  for (let index = 0; index < words[at + V.entries]!; index++) {
    const entry = row.part(index);
    if (((now - words[entry]!) | 0) <= silentMs) continue;
    const segment = words[entry + 2]!;
    const pages = words[entry + 1]!;
    runs.push({ segment, pages: segment === 0 ? Math.min(pages, words[entry + 3]! >> 1) : pages });
  }
  return runs;
}

/** A report at `time`: pages until then are silent no more. The latest of them was followed, and those of the 5 s before. */
export function reported(row: TableRow, time: number): Settled | null {
  const { words, at } = row;
  const before = words[at + V.report]!;
  if (before !== 0 && ((time - before) | 0) <= 0) return null;
  words[at + V.report] = time;
  const until = countUntil(row, time);
  if (until === 0) return null;
  const followed: number[] = [];
  const unfollowed: number[] = [];
  for (let index = 0; index < until; index++) {
    const entry = row.part(index);
    const segment = words[entry + 2]!;
    if ((words[entry + 3]! & countedBit) !== 0 || segment === 0) continue;
    const isNear = index === until - 1 || ((time - words[entry]!) | 0) <= silentMs;
    for (let page = words[entry + 1]!; page > 0; page--) (isNear ? followed : unfollowed).push(segment);
  }
  remove(row, 0, until);
  return { followed, unfollowed };
}

/** Takes out the page of that time, or with `andBefore` all until then. */
export function dropPage(row: TableRow, time: number, andBefore: boolean): void {
  if (andBefore) {
    remove(row, 0, countUntil(row, time));
    return;
  }
  const { words, at } = row;
  // Put together with others, it is in the entry before, or in a later one.
  const index = Math.min(countUntil(row, time - 1), words[at + V.entries]! - 1);
  if (index < 0) return;
  const isExact = words[row.part(index)] === time;
  const dropped = isExact || index === 0 ? index : index - 1;
  const entry = row.part(dropped);
  words[entry + 1]!--;
  if (words[entry + 1] === 0) remove(row, dropped, 1);
}

/** How many entries are of that time or before. */
function countUntil(row: TableRow, time: number): number {
  const { words, at } = row;
  const count = words[at + V.entries]!;
  let until = 0;
  while (until < count && ((words[row.part(until)]! - time) | 0) <= 0) until++;
  return until;
}

/** Follows pages whose addresses differ by a number that rises by one. */
export function walk({ words, at }: TableRow, target: string | undefined): void {
  const { form, number } = numbered(target ?? "");
  if (form !== 0 && form === words[at + V.walkForm] && number === words[at + V.walkNumber]! + 1)
    words[at + V.walkRun]!++;
  else words[at + V.walkRun] = 0;
  words[at + V.walkForm] = form;
  words[at + V.walkNumber] = number;
}

/** The hash of an address without its last number of up to six digits, and that number; 0 if there is none. */
function numbered(target: string): { readonly form: number; readonly number: number } {
  let end = target.length;
  while (end > 0 && !isDigit(target.charCodeAt(end - 1))) end--;
  let start = end;
  while (start > 0 && isDigit(target.charCodeAt(start - 1))) start--;
  if (end === 0 || end - start > 6) return { form: 0, number: 0 };
  let form = fnvBasis;
  for (let index = 0; index < start; index++) form = fnv1a(form, target.charCodeAt(index));
  form = fnv1a(form, 0);
  for (let index = end; index < target.length; index++) form = fnv1a(form, target.charCodeAt(index));
  return { form: form || 1, number: Number(target.slice(start, end)) };
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** Of a visit that reports: pages with a later one, older than 5 s, were not followed by a report. */
function settleOld(row: TableRow, now: number): Settled | null {
  const { words, at } = row;
  const unfollowed: number[] = [];
  for (let index = 0; index < words[at + V.entries]!; index++) {
    const entry = row.part(index);
    if ((words[entry + 3]! & countedBit) !== 0 || ((now - words[entry]!) | 0) <= silentMs) continue;
    words[entry + 3]! |= countedBit;
    if (words[entry + 2] === 0) continue;
    for (let page = words[entry + 1]!; page > 0; page--) unfollowed.push(words[entry + 2]!);
  }
  return unfollowed.length === 0 ? null : { followed: [], unfollowed };
}

/** Puts the two oldest together, if both are silent, as old as the first: a report of in between takes away both. */
function mergeOldest(row: TableRow, now: number, isInstalled: (segment: number) => boolean): boolean {
  const { words } = row;
  const first = row.part(0);
  const second = row.part(1);
  if (((now - words[second]!) | 0) <= silentMs) return false;
  if (words[second + 2] !== words[first + 2] || words[second + 2] === 0) {
    const both = installed(words, first, isInstalled) + installed(words, second, isInstalled);
    words[second + 3] = (words[second + 3]! & countedBit) | (2 * both);
    words[second + 2] = 0;
  }
  words[second] = words[first]!;
  words[second + 1]! += words[first + 1]!;
  remove(row, 0, 1);
  return true;
}

/** How many pages of an entry are below segments where the SDK is installed. */
function installed(words: Int32Array, entry: number, isInstalled: (segment: number) => boolean): number {
  const segment = words[entry + 2]!;
  if (segment === 0) return words[entry + 3]! >> 1;
  return isInstalled(segment) ? words[entry + 1]! : 0;
}

/** Takes out so many entries from `from` on. */
function remove(row: TableRow, from: number, entries: number): void {
  const { words, at } = row;
  const count = words[at + V.entries]!;
  for (let index = from + entries; entries > 0 && index < count; index++) {
    const entry = row.part(index);
    words.copyWithin(row.part(index - entries), entry, entry + pageWords);
  }
  words[at + V.entries] = count - entries;
}
