/**
 * The visits of a process, in memory that its HTTP threads share: nothing of them is stored. A visit is a token's or, where no token comes back, an
 * address's (IPv6: a /64's) with one user agent. A page that was answered with a new token counts for the address's visit until that token comes back,
 * by a request or by a report of the SDK, then for the token's. A visit ends after 30 minutes without a request. Bounded: the visit that was seen
 * longest ago makes room.
 */
import { randomFillSync } from "node:crypto";
import { noVisitEvidence, type VisitFacts, type VisitSender } from "../contract/evidence/visit-facts.js";
import { halfSipHash, hashText, pushHash64 } from "../contract/values/hashes.js";
import { mappedV4, parseV4, parseV6 } from "../net/address-text.js";
import { InstalledPages, installedPagesBytes, segmentOf } from "./installed-pages.js";
import { RecentTable, type TableRow, type TableSize, tableBytes } from "./recent-table.js";
import { clock, shardsFor } from "./shard-lock.js";
import {
  addPage,
  dropPage,
  reported,
  type Settled,
  type SilentRun,
  silentPages,
  silentRuns,
  V,
  visitPages,
  visitWords,
  walk,
} from "./visit-row.js";

/** A request to look up, and to count. */
export interface VisitQuestion extends VisitSender {
  /** The token that was brought, if it is of use; null otherwise. */
  readonly token: string | null;
  /** The token that is given with the answer; null for none. */
  readonly given: string | null;
  readonly isNavigation: boolean;
  readonly method: string | undefined;
  /** Normalised, without its query. */
  readonly path: string | undefined;
  /** As sent, with its query. */
  readonly target: string | undefined;
  /** When the stored session last reported, ms since the epoch; 0 for never. */
  readonly lastReportMs: number;
  /** Asked before, and counted then. */
  readonly isAskedAgain: boolean;
}

/** What `newVisits` may make smaller, for tests: shards, and rows of each; powers of two. */
interface VisitsSize {
  readonly shards: number;
  readonly visits: number;
  readonly given: number;
}

/**
 * For a service of so many HTTP threads: 131,072 visits, and as many tokens that did not come back yet: 29 MB, of which the system gives only the pages
 * that are written to.
 */
export function visitsSize(threads: number): VisitsSize {
  const shards = shardsFor(threads);
  const rows = 2 ** 17 / shards;
  return { shards, visits: rows, given: rows };
}

const idleMs = 30 * 60_000;
/** A clock that was set back by more than this makes what is later than now old. */
const skewMs = 1000;

/** Words at the start: the hash's key, the size, and when a report was last not taken. */
const headWords = 8;
const missedAt = 5;
/** Words of a token that was given: when, to which visit, for a page below which segment of which project. */
const givenWords = 5;

function sizesOf({ shards, visits, given }: VisitsSize): { readonly visits: TableSize; readonly given: TableSize } {
  return {
    visits: { shards, rows: visits, width: visitWords, parts: visitPages },
    given: { shards, rows: given, width: givenWords },
  };
}

/** Memory of visits, empty, with a hash key of its own; untouched pages cost nothing. */
export function newVisits(size = visitsSize(1)): SharedArrayBuffer {
  const tables = sizesOf(size);
  const bytes = 4 * headWords + tableBytes(tables.visits) + tableBytes(tables.given) + installedPagesBytes;
  const memory = new SharedArrayBuffer(bytes);
  const key = randomFillSync(new Int32Array(2));
  new Int32Array(memory).set([key[0]!, key[1]!, size.shards, size.visits, size.given]);
  return memory;
}

/** A page that was given a token which came back now. */
interface ClaimedPage {
  readonly at: number;
  readonly segment: number;
  readonly projectId: number;
}

/** One thread's way to the visits. What the memory can't be had for in time is not counted. */
export class Visits {
  readonly #head: Int32Array;
  readonly #key: readonly [number, number];
  readonly #visits: RecentTable;
  readonly #given: RecentTable;
  readonly #installed: InstalledPages;
  readonly #groups = new Uint16Array(8);
  readonly #words: number[] = [];

  readonly #seesAll: boolean;

  /** `memory` is of `newVisits`; threads that are given the same count together. `seesAll`: no other node may have seen a page of a visit. */
  constructor(memory: SharedArrayBuffer, seesAll = true) {
    this.#seesAll = seesAll;
    this.#head = new Int32Array(memory, 0, headWords);
    const [key0, key1, shards, visits, given] = this.#head;
    this.#key = [key0!, key1!];
    const tables = sizesOf({ shards: shards!, visits: visits!, given: given! });
    let at = 4 * headWords;
    this.#visits = new RecentTable(memory, at, tables.visits);
    at += tableBytes(tables.visits);
    this.#given = new RecentTable(memory, at, tables.given);
    at += tableBytes(tables.given);
    this.#installed = new InstalledPages(memory, at);
  }

  /** Counts the request, and returns its visit; undefined without token and address, and if the memory could not be had in time. */
  look(question: VisitQuestion, nowMs: number): VisitFacts | undefined {
    const { projectId, token, given, isAskedAgain } = question;
    const now = clock(nowMs);
    const own = token === null ? this.#hashOfAddress(question) : this.#hashOfToken(token);
    if (own === null) return undefined;
    const [hash0, hash1] = own;
    const claimed = token === null || this.#visits.has(hash0, hash1, now) ? null : this.#claim(hash0, hash1, now);
    const segment = question.isNavigation || given !== null ? segmentOf(question.path) : 0;
    const after: { runs: readonly SilentRun[]; settled: Settled | null } = { runs: noRuns, settled: null };
    const isInstalled = (below: number): boolean => this.#installed.isInstalled(projectId, below, nowMs);
    const facts = this.#visits.use(hash0, hash1, now, (row): VisitFacts => {
      const { words, at } = row;
      if (!row.isNew && isOver((now - words[at + V.last]!) | 0)) words.fill(0, at, at + visitWords);
      words[at + V.project] = projectId;
      words[at + V.last] = now;
      if (claimed !== null) addClaimed(row, claimed);
      after.settled = this.#takeReports(row, question.lastReportMs, nowMs);
      const unkept = token === null ? words[at + V.given]! : 0;
      const isPost = isPosting(question.method);
      const hadPage = words[at + V.loaded] === 1;
      if (!isAskedAgain) {
        if (question.isNavigation) {
          after.settled = join(
            after.settled,
            addPage(row, now, token !== null || given !== null ? segment : 0, isInstalled),
          );
          if (!isPost) words[at + V.loaded] = 1;
          walk(row, question.target);
        }
        if (isPost) words[at + V.posts]!++;
        if (given !== null) words[at + V.given]!++;
      }
      const silent = silentPages(row, now);
      if (silent >= silentMin) after.runs = silentRuns(row, now);
      const pages = words[at + V.pages]!;
      return {
        pages,
        silentPages: silent,
        seconds: pages === 0 ? undefined : Math.max(0, Math.floor(((now - words[at + V.first]!) | 0) / 1000)),
        posts: words[at + V.posts]!,
        cookieKept: token !== null ? true : unkept > 0 ? false : undefined,
        evidence: {
          silentPages: silent >= silentMin ? silentMin : undefined,
          unkeptTokens: unkept >= unkeptMin ? unkeptMin : undefined,
          isPagelessPost: this.#seesAll && isPost && token === null && !hadPage ? true : undefined,
          walkedPages: question.isNavigation && words[at + V.walkRun]! >= walkedMin ? walkedMin : undefined,
          isInstalled: undefined,
        },
      };
    });
    if (facts === undefined) return undefined;
    if (after.settled !== null) this.#countSettled(projectId, after.settled, nowMs);
    if (given !== null && !isAskedAgain) this.#give(given, [now, hash0, hash1, segment, projectId], now);
    return this.#whereInstalled(facts, question, after.runs, nowMs);
  }

  /**
   * A report of the SDK was taken under this token, at `nowMs`. Where no request brought that token, as where cookies are refused, it is one of the visit
   * of `sender`, by address and user agent.
   */
  report(token: string, nowMs: number, sender: VisitSender | null = null): void {
    const now = clock(nowMs);
    const [hash0, hash1] = this.#hashOfToken(token);
    const claimed = this.#visits.has(hash0, hash1, now) ? null : this.#claim(hash0, hash1, now);
    const mark = (row: TableRow) => {
      const { words, at } = row;
      if (claimed !== null) addClaimed(row, claimed);
      words[at + V.last] = now;
      return { projectId: words[at + V.project]!, settled: reported(row, now) };
    };
    const known = (visit: readonly [number, number] | null) =>
      visit === null ? undefined : this.#visits.useKnown(...visit, now, mark);
    const marked =
      claimed === null
        ? (known([hash0, hash1]) ?? known(sender === null ? null : this.#hashOfAddress(sender)))
        : this.#visits.use(hash0, hash1, now, mark);
    if (marked !== undefined && marked.settled !== null) this.#countSettled(marked.projectId, marked.settled, nowMs);
  }

  /** A report was not taken (shed, no room, not stored): whoever sent it is not told, so no page until now is silent. */
  missed(nowMs: number): void {
    Atomics.store(this.#head, missedAt, clock(nowMs));
  }

  /** Reports that are known of elsewhere: of the stored session, and those that nobody could take. */
  #takeReports(row: TableRow, lastReportMs: number, nowMs: number): Settled | null {
    const settled = lastReportMs > 0 && nowMs - lastReportMs < idleMs ? reported(row, clock(lastReportMs)) : null;
    const missed = Atomics.load(this.#head, missedAt);
    if (missed !== 0) dropPage(row, missed, true);
    return settled;
  }

  /** Takes the page of a token that came back from the visit that it was given to. Null if there is none, as for all later requests. */
  #claim(hash0: number, hash1: number, now: number): ClaimedPage | null {
    let owner0 = 0;
    let owner1 = 0;
    const claimed = this.#given.take(hash0, hash1, now, ({ words, at }): ClaimedPage => {
      owner0 = words[at + 1]!;
      owner1 = words[at + 2]!;
      return { at: words[at]!, segment: words[at + 3]!, projectId: words[at + 4]! };
    });
    if (claimed === undefined) return null;
    this.#visits.useKnown(owner0, owner1, now, (row) => {
      const { words, at } = row;
      words[at + V.given] = Math.max(0, words[at + V.given]! - 1);
      words[at + V.pages] = Math.max(0, words[at + V.pages]! - 1);
      dropPage(row, claimed.at, false);
      if (words[at + V.pages] === 0) words[at + V.loaded] = 0;
    });
    return claimed;
  }

  #give(token: string, row: readonly number[], now: number): void {
    const [hash0, hash1] = this.#hashOfToken(token);
    this.#given.use(hash0, hash1, now, ({ words, at }) => {
      for (let index = 0; index < givenWords; index++) words[at + index] = row[index]!;
    });
  }

  #countSettled(projectId: number, { followed, unfollowed }: Settled, nowMs: number): void {
    for (const segment of followed) this.#installed.count(projectId, segment, 1, true, nowMs);
    for (const segment of unfollowed) this.#installed.count(projectId, segment, 1, false, nowMs);
  }

  /** Leaves out what says nothing where the SDK is not installed. */
  #whereInstalled(
    facts: VisitFacts,
    { projectId, path, method }: VisitQuestion,
    runs: readonly SilentRun[],
    nowMs: number,
  ): VisitFacts {
    const { silentPages: silent, unkeptTokens, isPagelessPost, walkedPages } = facts.evidence;
    const isOdd = isPosting(method) || walkedPages !== undefined || (path !== undefined && /\.m?js$/.test(path));
    if (silent === undefined && unkeptTokens === undefined && !isOdd) return facts;
    let counted = 0;
    for (const { segment, pages } of runs) {
      if (segment === 0 || this.#installed.isInstalled(projectId, segment, nowMs)) counted += pages;
    }
    const isHere =
      (unkeptTokens !== undefined || isOdd) && this.#installed.isInstalled(projectId, segmentOf(path), nowMs);
    return {
      ...facts,
      evidence: {
        ...noVisitEvidence,
        walkedPages,
        silentPages: counted >= silentMin ? silentMin : undefined,
        ...(isHere && { unkeptTokens, isPagelessPost, isInstalled: true }),
      },
    };
  }

  #hashOfToken(token: string): readonly [number, number] {
    const words = this.#words;
    words.length = 0;
    pushHash64(token, words);
    const [one, other] = halfSipHash(this.#key, words[0]!, words[1]!, token.length, 1);
    return [one, other];
  }

  #hashOfAddress({ projectId, address, userAgent }: VisitSender): readonly [number, number] | null {
    if (address === "") return null;
    let word = parseV4(address);
    let lower = 0;
    if (word < 0) {
      const groups = this.#groups;
      if (!parseV6(address, groups)) return null;
      word = mappedV4(groups);
      if (word < 0) {
        word = (groups[0]! << 16) | groups[1]!;
        lower = (groups[2]! << 16) | groups[3]! | 0;
        const [one, other] = halfSipHash(this.#key, ~projectId, word, lower, hashText(userAgent) | 0);
        return [one, other];
      }
    }
    const [one, other] = halfSipHash(this.#key, projectId, word, lower, hashText(userAgent) | 0);
    return [one, other];
  }
}

/** Fewer are no evidence, and more are no other: see the detections. A score is known again by this, while the visit goes on. */
const silentMin = 4;
const unkeptMin = 3;
const walkedMin = 8;
const noRuns: readonly SilentRun[] = [];

function isOver(quietMs: number): boolean {
  return quietMs >= idleMs || quietMs <= -skewMs;
}

function isPosting(method: string | undefined): boolean {
  return method !== undefined && method !== "GET" && method !== "HEAD" && method !== "OPTIONS";
}

function addClaimed(row: TableRow, { at: time, segment, projectId }: ClaimedPage): void {
  const { words, at } = row;
  words[at + V.project] = projectId;
  words[at + V.loaded] = 1;
  addPage(row, time, segment, () => false);
}

function join(one: Settled | null, other: Settled | null): Settled | null {
  if (one === null || other === null) return one ?? other;
  return { followed: [...one.followed, ...other.followed], unfollowed: [...one.unfollowed, ...other.unfollowed] };
}
