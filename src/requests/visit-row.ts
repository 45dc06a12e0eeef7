/**
 * One visit as words of shared memory, and what is read of them. Of the pages since the last report the latest are kept one by one; where there are more
 * of them than room, old ones are put together so that a report takes them away no later than it should.
 */
import { fnv1a, fnvBasis } from "../contract/hashes.js";

const pagesMax = 8;
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
  /** How many entries of pages follow. */
  entries: 11,
} as const;
const entriesAt = 12;
/** Words of a visit. */
export const visitWords = entriesAt + pagesMax * pageWords;
/** Those of them before its pages: nothing is read of pages beyond `entries`. */
export const visitHeadWords = entriesAt;

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
  words: Int32Array,
  at: number,
  time: number,
  segment: number,
  isInstalled: (segment: number) => boolean,
): Settled | null {
  const settled = words[at + V.report] === 0 ? null : settleOld(words, at, time);
  if (words[at + V.pages] === 0) words[at + V.first] = time;
  words[at + V.pages]!++;
  if (segment === 0) return settled;
  const count = words[at + V.entries]!;
  const last = at + entriesAt + (count - 1) * pageWords;
  if (count === pagesMax && !mergeOldest(words, at, time, isInstalled)) {
    // All are of the last seconds: the entry is as young as its latest page.
    if (words[last + 2] !== segment) {
      words[last + 3] =
        (words[last + 3]! & countedBit) | (2 * (installed(words, last, isInstalled) + (isInstalled(segment) ? 1 : 0)));
      words[last + 2] = 0;
    }
    words[last] = time;
    words[last + 1]!++;
    return settled;
  }
  const entry = at + entriesAt + words[at + V.entries]! * pageWords;
  words[entry] = time;
  words[entry + 1] = 1;
  words[entry + 2] = segment;
  words[entry + 3] = 0;
  words[at + V.entries]!++;
  return settled;
}

/** Pages that are older than 5 s and not reported. */
export function silentPages(words: Int32Array, at: number, now: number): number {
  const end = at + entriesAt + words[at + V.entries]! * pageWords;
  let pages = 0;
  for (let entry = at + entriesAt; entry < end; entry += pageWords) {
    if (((now - words[entry]!) | 0) > silentMs) pages += words[entry + 1]!;
  }
  return pages;
}

/** The same by segments; of those that are put together from various ones, those where the SDK is installed. */
export function silentRuns(words: Int32Array, at: number, now: number): readonly SilentRun[] {
  const end = at + entriesAt + words[at + V.entries]! * pageWords;
  const runs: SilentRun[] = [];
  for (let entry = at + entriesAt; entry < end; entry += pageWords) {
    if (((now - words[entry]!) | 0) <= silentMs) continue;
    const segment = words[entry + 2]!;
    const pages = words[entry + 1]!;
    runs.push({ segment, pages: segment === 0 ? Math.min(pages, words[entry + 3]! >> 1) : pages });
  }
  return runs;
}

/** A report at `time`: pages until then are silent no more. The latest of them was followed, and those of the 5 s before. */
export function reported(words: Int32Array, at: number, time: number): Settled | null {
  const before = words[at + V.report]!;
  if (before !== 0 && ((time - before) | 0) <= 0) return null;
  words[at + V.report] = time;
  const start = at + entriesAt;
  const count = words[at + V.entries]!;
  let until = 0;
  while (until < count && ((words[start + until * pageWords]! - time) | 0) <= 0) until++;
  if (until === 0) return null;
  const followed: number[] = [];
  const unfollowed: number[] = [];
  for (let index = 0; index < until; index++) {
    const entry = start + index * pageWords;
    const segment = words[entry + 2]!;
    if ((words[entry + 3]! & countedBit) !== 0 || segment === 0) continue;
    const isNear = index === until - 1 || ((time - words[entry]!) | 0) <= silentMs;
    for (let page = words[entry + 1]!; page > 0; page--) (isNear ? followed : unfollowed).push(segment);
  }
  shift(words, at, until);
  return { followed, unfollowed };
}

/** Takes out the page of that time, or with `andBefore` all until then. */
export function dropPage(words: Int32Array, at: number, time: number, andBefore: boolean): void {
  const start = at + entriesAt;
  const count = words[at + V.entries]!;
  let until = 0;
  while (until < count && ((words[start + until * pageWords]! - time) | 0) < (andBefore ? 1 : 0)) until++;
  if (andBefore) {
    if (until > 0) shift(words, at, until);
    return;
  }
  // Put together with others, it is in the entry before, or in a later one.
  const index = Math.min(until, count - 1);
  if (index < 0) return;
  const isExact = words[start + index * pageWords] === time;
  const entry = start + (isExact || index === 0 ? index : index - 1) * pageWords;
  words[entry + 1]!--;
  if (words[entry + 1]! > 0) return;
  words.copyWithin(entry, entry + pageWords, start + count * pageWords);
  words[at + V.entries]!--;
}

/** Follows pages whose addresses differ by a number that rises by one. */
export function walk(words: Int32Array, at: number, target: string | undefined): void {
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
function settleOld(words: Int32Array, at: number, now: number): Settled | null {
  const end = at + entriesAt + words[at + V.entries]! * pageWords;
  const unfollowed: number[] = [];
  for (let entry = at + entriesAt; entry < end; entry += pageWords) {
    if ((words[entry + 3]! & countedBit) !== 0 || ((now - words[entry]!) | 0) <= silentMs) continue;
    words[entry + 3]! |= countedBit;
    if (words[entry + 2] === 0) continue;
    for (let page = words[entry + 1]!; page > 0; page--) unfollowed.push(words[entry + 2]!);
  }
  return unfollowed.length === 0 ? null : { followed: [], unfollowed };
}

/** Puts the two oldest together, if both are silent, as old as the first: a report of in between takes away both. */
function mergeOldest(words: Int32Array, at: number, now: number, isInstalled: (segment: number) => boolean): boolean {
  const first = at + entriesAt;
  const second = first + pageWords;
  if (((now - words[second]!) | 0) <= silentMs) return false;
  if (words[second + 2] !== words[first + 2] || words[second + 2] === 0) {
    const both = installed(words, first, isInstalled) + installed(words, second, isInstalled);
    words[second + 3] = (words[second + 3]! & countedBit) | (2 * both);
    words[second + 2] = 0;
  }
  words[second] = words[first]!;
  words[second + 1]! += words[first + 1]!;
  shift(words, at, 1);
  return true;
}

/** How many pages of an entry are below segments where the SDK is installed. */
function installed(words: Int32Array, entry: number, isInstalled: (segment: number) => boolean): number {
  const segment = words[entry + 2]!;
  if (segment === 0) return words[entry + 3]! >> 1;
  return isInstalled(segment) ? words[entry + 1]! : 0;
}

function shift(words: Int32Array, at: number, entries: number): void {
  const start = at + entriesAt;
  const count = words[at + V.entries]!;
  words.copyWithin(start, start + entries * pageWords, start + count * pageWords);
  words[at + V.entries] = count - entries;
}
