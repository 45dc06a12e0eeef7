/**
 * Queries of stored sessions by a rule's expression: the matched ones, the most frequent values, and how they lie in time. A bounded scan in
 * the order in which they began; of a time with more sessions an even sample is counted. Reads only.
 */

import type { KnownAgent } from "../../contract/bots/agents.js";
import type { Project } from "../../contract/configuration/entities.js";
import type { NetworkFact } from "../../contract/evidence/network-fact.js";
import type { SessionDimension } from "../../contract/sessions/session-query.js";
import { hourMs } from "../../contract/values/durations.js";
import { type Action, type Band, bands } from "../../contract/verdicts/verdict.js";
import { type Refusal, refuse } from "../../errors.js";
import { limits } from "../../limits.js";
import { type CompiledRule, compileRule } from "../../rules/compile-rule.js";
import { isRuleFault } from "../../rules/fault.js";
import { unavailableFields } from "../../rules/fields.js";
import type { RuleInput } from "../../rules/input.js";
import { printExpression } from "../../rules/print.js";
import type { Slices } from "../../runtime/long-work.js";
import { hourOf } from "../../store/keys.js";
import type { Store } from "../../store/store.js";
import { tryLock } from "../../store/thread-lock.js";
import { bandOfSession } from "../../verdict/bands.js";
import type { UnwordedVerdict } from "../../verdict/verdict-text.js";
import {
  isBeyond,
  type LoggedSession,
  type LogPosition,
  latestSessions,
  positionAt,
  readPosition,
  sampleOfSessions,
  sessionAt,
  writePosition,
} from "../sessions/session-log.js";
import { asksRules, type SearchServices, SessionSearch } from "../sessions/session-search.js";
import type { BacktestMeter } from "./backtest.js";
import { zeros } from "./rule-backtest.js";
import { type CountedSession, dimensionRows } from "./session-dimensions.js";
import { Stats } from "./stats.js";

/** When sessions began: from, and until, exclusive; ms. */
export interface TimeSpan {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** The parameters of one page; only the first page has counts. */
export interface SessionQuery extends TimeSpan {
  /** "": every session. */
  readonly expressionSource: string;
  readonly groupBy: readonly SessionDimension[];
  /** Values of each group. */
  readonly top: number;
  readonly limit: number;
  /** `null` asks for the first page, with counts. */
  readonly cursor: string | null;
}

/** A matched session and the effect of the current rules on it. */
export interface QueriedSession extends LoggedSession {
  readonly action: Action;
  readonly ruleId: number | null;
  /** Null for a session without a score. */
  readonly unworded: UnwordedVerdict | null;
  /** Null for a session that no rule is asked about. */
  readonly network: NetworkFact | null;
  /** Null: none is known. */
  readonly agent: KnownAgent | null;
}

/** Matched sessions by one dimension; a session with several values counts for each. */
interface Group {
  readonly by: SessionDimension;
  /** The most frequent first. */
  readonly values: readonly GroupValue[];
  readonly furtherValues: number;
  readonly without: number;
}

/** One value of a dimension, and how many matched sessions have it. */
interface GroupValue {
  readonly value: string;
  readonly sessions: number;
  /** The same by band. */
  readonly verdicts: Readonly<Record<Band, number>>;
  readonly condition: string | null;
}

/** What only the first page has. */
interface QueryCounts {
  /** Null: hourly counts of sampled hours are gone. */
  readonly total: number | null;
  readonly groups: readonly Group[];
  readonly barMs: number;
  readonly bars: readonly { readonly startMs: number; readonly verdicts: Readonly<Record<Band, number>> }[];
}

/** One page; with `isSample` every count is one of the sample, not of the whole time. */
export interface QueriedSessions {
  readonly rows: readonly QueriedSession[];
  readonly nextCursor: string | null;
  readonly scanned: number;
  readonly matched: number;
  readonly isSample: boolean;
  readonly counts: QueryCounts | null;
  readonly unavailableFields: readonly string[];
}

/** What a query reads, and where it counts. */
export interface SessionQueryServices extends SearchServices {
  readonly store: Store;
  readonly meter: BacktestMeter;
}

/**
 * Returns the requested page, or null if the client has left meanwhile. Refuses `invalidPayload` with the position of an error in the expression or for
 * an invalid cursor, and `conflict` while another query of the account runs.
 */
export async function querySessions(
  services: SessionQueryServices,
  project: Project,
  query: SessionQuery,
  slices: Slices,
  nowMs: number,
): Promise<QueriedSessions | Refusal | null> {
  const source = query.expressionSource.trim();
  const compiled = source === "" ? null : compileRule(query.expressionSource, "search");
  if (compiled !== null && isRuleFault(compiled)) return refuse("invalidPayload", `expression: ${compiled.message}`);
  const after = query.cursor === null ? positionAt(query.untilMs) : readPosition(query.cursor);
  if (after === null) return refuse("invalidPayload", "cursor is not valid for this list");
  const unlock = tryLock(services.store, `query:${project.accountId}`);
  if (unlock === null) {
    services.meter.ended("refused");
    return refuse("conflict", "another query of the account is running: try again when it has ended");
  }
  try {
    const scan = new Scan(services, project, query, compiled, nowMs);
    const found = query.cursor === null ? await scan.first(after, slices) : await scan.page(after, slices);
    services.meter.ended(found === null ? "aborted" : "done");
    return found === null
      ? null
      : { ...found, unavailableFields: compiled === null ? [] : unavailableFields(compiled.ast) };
  } finally {
    unlock();
  }
}

type Found = Omit<QueriedSessions, "unavailableFields">;

/** One running query. */
class Scan {
  readonly #services: SessionQueryServices;
  readonly #project: Project;
  readonly #query: SessionQuery;
  /** `null` if every session matches. */
  readonly #matches: ((input: RuleInput) => boolean) | null;
  readonly #search: SessionSearch;
  /** Whether the expression compares what the rules decide. */
  readonly #asksRules: boolean;

  constructor(
    services: SessionQueryServices,
    project: Project,
    query: SessionQuery,
    compiled: CompiledRule | null,
    nowMs: number,
  ) {
    this.#services = services;
    this.#project = project;
    this.#query = query;
    this.#matches = compiled?.matches ?? null;
    this.#asksRules = compiled !== null && asksRules(compiled.ast);
    this.#search = new SessionSearch(services, project, nowMs);
  }

  /** Rows and counts. */
  async first(start: LogPosition, slices: Slices): Promise<Found | null> {
    const { groupBy } = this.#query;
    const groupsByRules = groupBy.includes("action") || groupBy.includes("rule");
    const scanMax = this.#search.scanMax(this.#asksRules || groupsByRules);
    const hourly = await this.#sessionsByHour(slices);
    if (hourly === null) return null;
    const known = [...hourly.values()].reduce((sum, count) => sum + count, 0);
    // The counts are of whole hours: a little more may fit.
    if (known <= 1.25 * scanMax) {
      const tally = new Tally(this.#query);
      const page = await this.#walk(start, scanMax, Number.POSITIVE_INFINITY, slices, tally);
      if (page === null) return null;
      if (page.isWhole) return { ...page, isSample: false, counts: tally.counts(page.scanned) };
    }
    return this.#sampled(start, scanMax, hourly, known, slices);
  }

  /** The rows after a cursor. Short of `limit` where matches are rare: the scan is as bounded as that of the first page. */
  async page(start: LogPosition, slices: Slices): Promise<Found | null> {
    const { limit } = this.#query;
    const page = await this.#walk(start, this.#search.scanMax(this.#asksRules), limit, slices, null);
    return page === null ? null : { ...page, isSample: false, counts: null };
  }

  async #sampled(
    start: LogPosition,
    scanMax: number,
    hourly: ReadonlyMap<number, number>,
    known: number,
    slices: Slices,
  ): Promise<Found | null> {
    const { fromMs, untilMs, limit } = this.#query;
    const { store } = this.#services;
    const page = await this.#walk(start, this.#search.scanMax(this.#asksRules), limit, slices, null);
    if (page === null) return null;
    const tally = new Tally(this.#query);
    let scanned = 0;
    // Where the counts are too low to be all, hours count the same.
    const hasCounts = known > scanMax;
    const hours = Array.from(
      { length: hourOf(untilMs - 1) - hourOf(fromMs) + 1 },
      (_, index) => hourOf(fromMs) + index,
    );
    for (const hour of hours.reverse()) {
      const share = hasCounts ? (hourly.get(hour) ?? 0) / known : 1 / hours.length;
      const count = Math.round(scanMax * share);
      if (count === 0) continue;
      const from = Math.max(fromMs, hour * hourMs);
      const until = Math.min(untilMs, (hour + 1) * hourMs);
      const positions = await sampleOfSessions(store, this.#project.id, from, until, count, slices, false);
      if (positions === null) return null;
      for (const position of positions) {
        if (slices.isOver && !(await slices.next())) return null;
        const session = sessionAt(store, this.#project.id, position);
        if (session === null || !this.#isWithin(session.beganMs)) continue;
        scanned++;
        const counted = this.#match(session);
        if (counted !== null) tally.add(counted, session.beganMs);
      }
    }
    const counts = tally.counts(hasCounts ? Math.round(known) : null);
    return { ...page, scanned, matched: tally.matched, isSample: true, counts };
  }

  /**
   * Goes back from `start`, over `scanMax` sessions at most and until one match more than fits a page is found, but for `matchedMax`. `isWhole`:
   * everything that was asked for has been scanned.
   */
  async #walk(start: LogPosition, scanMax: number, matchedMax: number, slices: Slices, tally: Tally | null) {
    const { store } = this.#services;
    const { fromMs, limit } = this.#query;
    const rows: QueriedSession[] = [];
    /** Where the next page goes on. */
    let last: LogPosition | null = null;
    let scanned = 0;
    let matched = 0;
    let after = start;
    const ended = (isWhole: boolean, next: LogPosition | null) => ({
      rows,
      scanned,
      matched,
      isWhole,
      nextCursor: next === null ? null : writePosition(next),
    });
    for (;;) {
      const positions = await latestSessions(store, this.#project.id, limits.ruleTestLookup, after, slices);
      if (positions === null) return null;
      for (const position of positions) {
        if (slices.isOver && !(await slices.next())) return null;
        if (isBeyond(position, fromMs)) return ended(true, matched > rows.length ? last : null);
        if (!this.#isWithin(position.beganMs)) continue;
        if (scanned >= scanMax) return ended(false, rows.length < limit ? after : last);
        const session = sessionAt(store, this.#project.id, position);
        if (session === null) continue;
        scanned++;
        const counted = this.#match(session);
        if (counted !== null) {
          if (matched >= matchedMax) return ended(false, last);
          matched++;
          tally?.add(counted, session.beganMs);
          if (rows.length < limit) {
            rows.push(this.#row(session));
            last = position;
          }
        }
        after = position;
      }
      if (positions.length < limits.ruleTestLookup) return ended(true, matched > rows.length ? last : null);
      after = positions.at(-1)!;
    }
  }

  #isWithin(beganMs: number): boolean {
    return beganMs >= this.#query.fromMs && beganMs < this.#query.untilMs;
  }

  /** Null for a session that the expression does not hold for, or that no rule is asked about. */
  #match({ state }: LoggedSession): CountedSession | null {
    this.#services.meter.evaluated();
    const session = this.#search.of(state);
    const { input } = session;
    if (this.#matches !== null && (input === null || !this.#matches(input))) return null;
    const band =
      state.verifiedBot === null ? bandOfSession(state, this.#project.likelyBotThreshold) : ("verified" as const);
    return { ...session, state, band };
  }

  #row({ token, beganMs, state }: LoggedSession): QueriedSession {
    const { outcome, input, agent } = this.#search.of(state);
    const { action, ruleId, unworded } = outcome();
    const network = input?.network ?? null;
    return { token, beganMs, state, action, ruleId, unworded, network, agent: agent() ?? null };
  }

  /**
   * Returns the sessions of each hour, by their first report, as ingest counts them; a partial hour counts in proportion. Only for the size of the scan and
   * of the sample: a session whose token was issued before may have begun in an earlier hour.
   */
  async #sessionsByHour(slices: Slices): Promise<Map<number, number> | null> {
    const { fromMs, untilMs } = this.#query;
    const buckets = await new Stats(this.#services.store).read(this.#project.id, fromMs, untilMs, "hour", slices);
    if (buckets === null) return null;
    const hourly = new Map<number, number>();
    for (const { startMs, sessions } of buckets) {
      const share = (Math.min(untilMs, startMs + hourMs) - Math.max(fromMs, startMs)) / hourMs;
      if (sessions > 0) hourly.set(hourOf(startMs), sessions * share);
    }
    return hourly;
  }
}

/** Possible lengths of a bar, as on clocks and calendars. */
const barMsChoices = [1, 5, 15, 30, 60, 180, 360, 720, 1440, 7 * 1440].map((minutes) => minutes * 60_000);

/** Counts matched sessions by value and over time. */
class Tally {
  matched = 0;
  readonly #query: SessionQuery;
  readonly #groups: { readonly by: SessionDimension; readonly sessions: BandCounter; without: number }[];
  readonly #barMs: number;
  readonly #bars: { startMs: number; verdicts: Record<Band, number> }[];

  constructor(query: SessionQuery) {
    this.#query = query;
    this.#groups = [...new Set(query.groupBy)].map((by) => ({ by, sessions: new BandCounter(), without: 0 }));
    const { fromMs, untilMs } = query;
    const fits = (barMs: number): boolean => Math.ceil(untilMs / barMs) - Math.floor(fromMs / barMs) <= barsMax;
    const barsMax = limits.sessionQueryBarsMax;
    this.#barMs = barMsChoices.find(fits) ?? barMsChoices.at(-1)!;
    const firstMs = Math.floor(fromMs / this.#barMs) * this.#barMs;
    const bars = Math.ceil((untilMs - firstMs) / this.#barMs);
    this.#bars = Array.from({ length: bars }, (_, index) => ({
      startMs: firstMs + index * this.#barMs,
      verdicts: zeros(bands),
    }));
  }

  add(session: CountedSession, beganMs: number): void {
    this.matched++;
    const index = Math.floor((beganMs - this.#bars[0]!.startMs) / this.#barMs);
    this.#bars[index]!.verdicts[session.band]++;
    for (const group of this.#groups) {
      const found = dimensionRows[group.by].valuesOf(session);
      const values = typeof found === "string" ? (found === "" ? [] : [found]) : found;
      if (values.length === 0) group.without++;
      for (const value of values) group.sessions.add(value, session.band);
    }
  }

  counts(total: number | null): QueryCounts {
    const groups = this.#groups.map(({ by, sessions, without }): Group => {
      const ordered = sessions.totals().sort(([one, ones], [other, others]) => others - ones || (one < other ? -1 : 1));
      const values = ordered.slice(0, this.#query.top).map(([value, count]) => {
        const condition = dimensionRows[by].condition(value);
        const text = condition === null ? null : printExpression(condition);
        return { value, sessions: count, verdicts: sessions.of(value), condition: text };
      });
      return { by, values, furtherValues: ordered.length - values.length, without };
    });
    return { total, groups, barMs: this.#barMs, bars: this.#bars };
  }
}

/** Counts by value and band. A value costs its entry in the map and four bytes a band: a query may meet a hundred thousand addresses. */
class BandCounter {
  readonly #places = new Map<string, number>();
  #counts = new Uint32Array(64 * bands.length);

  add(value: string, band: Band): void {
    let place = this.#places.get(value);
    if (place === undefined) {
      place = this.#places.size * bands.length;
      this.#places.set(value, place);
      if (place >= this.#counts.length) {
        const larger = new Uint32Array(2 * this.#counts.length);
        larger.set(this.#counts);
        this.#counts = larger;
      }
    }
    this.#counts[place + bands.indexOf(band)]!++;
  }

  /** Each value with how often it was counted. */
  totals(): [value: string, count: number][] {
    return [...this.#places].map(([value, place]) => {
      let count = 0;
      for (let index = 0; index < bands.length; index++) count += this.#counts[place + index]!;
      return [value, count];
    });
  }

  of(value: string): Record<Band, number> {
    const place = this.#places.get(value);
    const counts = zeros(bands);
    if (place !== undefined)
      bands.forEach((band, index) => {
        counts[band] = this.#counts[place + index]!;
      });
    return counts;
  }
}
