/**
 * Where the scoring thread's time goes: visits as recorded, each batch through the same functions one after another, every stage timed, then
 * the same batches committed in groups. Says what is left of a batch when each part is left out.
 */
import { randomFillSync } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PerformanceObserver } from "node:perf_hooks";
import { setTimeout } from "node:timers/promises";
import { Credentials } from "../../src/auth/credentials.js";
import { defaultPlans } from "../../src/contract/configuration/plans.js";
import {
  batchHeaders,
  headerFactsOf,
  type RequestFacts,
  requestFactsOf,
} from "../../src/contract/evidence/header-facts.js";
import { unidentified } from "../../src/contract/evidence/visitor.js";
import { newScoredState } from "../../src/contract/sessions/session.js";
import { encodeSessionToken, mintSessionToken } from "../../src/contract/sessions/session-token.js";
import { Accounts } from "../../src/control-plane/accounts/accounts.js";
import { createFirstAccount } from "../../src/control-plane/accounts/first-account.js";
import { Projects } from "../../src/control-plane/accounts/projects.js";
import { foldBatch } from "../../src/engines/fold-batch.js";
import { cornerHashes } from "../../src/engines/path-corners.js";
import { shingleHashes } from "../../src/engines/path-shingles.js";
import { turnHashes } from "../../src/engines/path-turns.js";
import { scoreSession } from "../../src/engines/score-session.js";
import { newFeatures, packedBytesMax, packFeatures, unpackFeatures } from "../../src/engines/session-features.js";
import { Refusal } from "../../src/errors.js";
import type { IngestOutcome } from "../../src/ingest/commit-batches.js";
import { batchOf, idHashesOf, readBody } from "../../src/ingest/decode-batch.js";
import type { IngestRequest } from "../../src/ingest/frame.js";
import { commitToLmdb, type LmdbCommit } from "../../src/ingest/lmdb-commit.js";
import { LmdbUnitOfWork } from "../../src/ingest/lmdb-unit-of-work.js";
import type { PathReuseIndex } from "../../src/ingest/path-reuse-index.js";
import { TokenMint } from "../../src/ingest/token-mint.js";
import { GroupWriter } from "../../src/store/group-writer.js";
import { openStore } from "../../src/store/open-store.js";
import { decodeSession, encodeSession } from "../../src/store/session-record.js";
import { newWriteCounts, WriteMarker } from "../../src/store/write-watch.js";
import { alone } from "../../test/engines/sessions.js";
import { jitter, siteKeyPlaceholder, UniqueIds } from "../load/batches.js";
import { median } from "../measure.js";
import {
  type BatchTemplate,
  batchTemplate,
  bodyOfNow,
  readVisits,
  sentHeaders,
  type Visit,
} from "../traffic/visits.js";
import type { TimedRow } from "./timed.js";

/** Visitors of each recorded visit, all of whom are under way at once. */
const visitorsOfVisit = 128;
/** Visitors whose batches are run before anything is timed. */
const warmUp = 16;

const eventIds = new UniqueIds(Math.random, "event");
const keys = new UniqueIds();

function templatesOf({ batches }: Visit, siteKey: string): BatchTemplate[] {
  return batches.map(({ body }) => batchTemplate(bodyOfNow(body, siteKey)));
}

function filled({ bytes, tokenAt, idsAt, jitterAt }: BatchTemplate, token: string | null): Buffer {
  const body = Buffer.from(bytes);
  for (const at of idsAt) eventIds.write(body, at);
  jitter(body, jitterAt);
  if (token !== null && tokenAt !== -1) body.write(token, tokenAt);
  return body;
}

function factsOf(visit: Visit, visitor: number): RequestFacts {
  const byName = new Map(sentHeaders(visit).map(([name, value]) => [name.toLowerCase(), value]));
  const facts = headerFactsOf((position) => byName.get(batchHeaders[position]!.name) ?? "");
  return requestFactsOf(facts, Date.now(), `10.${visitor >> 8}.${visitor & 255}.7`);
}

/** Microseconds a batch: each stage, the whole in groups of 128 and of 32, and what of the whole is in none of the stages. */
export async function recordedBench(): Promise<TimedRow[]> {
  const stages = stageTimes();
  const rows: TimedRow[] = [...stages].map(([what, us]) => [`a recorded batch: ${what}`, us]);
  const sum = [...stages.values()].reduce((all, us) => all + us, 0);
  // Once for the compiler.
  await wholeTime(128, null);
  for (const group of [128, 32]) {
    const { whole, collected } = await wholeTime(group, null);
    rows.push([`all of it, committed in groups of ${group}`, whole]);
    rows.push(["of that garbage collection", collected]);
    const parts = new StoreTimes();
    for (let round = 0; round < storeRounds; round++) await wholeTime(group, parts);
    const ofStore = parts.means();
    for (const [what, us] of ofStore) rows.push([`of that ${what}`, us]);
    const known = ofStore.reduce((all, [, us]) => all + us, sum + collected);
    rows.push([
      "of that none of these: keys, tokens, answers, and memory that the stages alone find in the cache",
      whole - known,
    ]);
  }
  return rows;
}

/** What the methods of the unit of work and its transaction are for, as the rows say it. */
const storeParts = {
  session: "reading the session's row",
  putSession: "writing the session's row",
  seenIds: "seen ids and idempotency keys",
  putSeenIds: "seen ids and idempotency keys",
  idempotent: "seen ids and idempotency keys",
  putIdempotent: "seen ids and idempotency keys",
  countAcross: "cross-session counts",
  save: "sums, and the log of path reuse",
} as const satisfies Partial<Record<keyof LmdbUnitOfWork, string>>;
const pathPart = "looking up its paths among those of other sessions";
const pathMethods = ["record", "recordOwners"] as const satisfies readonly (keyof PathReuseIndex)[];
/** Times that everything is committed with the store's parts timed. */
const storeRounds = 5;
const transactionPart = "beginning and committing the transaction";

/**
 * Time inside of the store, by what it is for. Of the same batch of a visit in many groups the median counts, so that what else the machine does
 * is not in it, nor what comes only now and then, such as taking the log of path reuse into its buckets.
 */
class StoreTimes {
  readonly #byBatch = new Map<string, Map<string, number>[]>();
  #us = new Map<string, number>();

  /** Has the methods of these say how long they take. */
  watch(unit: LmdbUnitOfWork, writer: GroupWriter): void {
    const timed = (holder: object, method: string, what: string): void => {
      const own = Reflect.get(holder, method).bind(holder);
      Reflect.set(holder, method, (...args: unknown[]) => this.#timed(what, () => own(...args)));
    };
    for (const [method, what] of Object.entries(storeParts)) timed(unit, method, what);
    for (const method of pathMethods) timed(unit.paths, method, pathPart);
    const write = writer.write.bind(writer);
    writer.write = <T>(work: () => T): T => {
      const start = process.cpuUsage();
      let inside = 0;
      const result = write(() => {
        const before = process.cpuUsage();
        const done = work();
        inside = usedSince(before);
        return done;
      });
      this.#add(transactionPart, usedSince(start) - inside);
      return result;
    };
  }

  /** What was timed since the last call was of a group of `count` visitors' copies of a recorded batch. */
  endGroup(batch: string, count: number): void {
    const groups = this.#byBatch.get(batch) ?? [];
    groups.push(new Map([...this.#us].map(([what, us]) => [what, us / count])));
    this.#byBatch.set(batch, groups);
    this.#us = new Map();
  }

  /** Microseconds a batch, over all recorded batches. */
  means(): [what: string, us: number][] {
    const ofBatches = [...this.#byBatch.values()];
    const names = [...new Set<string>(Object.values(storeParts)), pathPart, transactionPart];
    return names.map((what) => {
      const medians = ofBatches.map((groups) => median(groups.map((us) => us.get(what) ?? 0)));
      return [what, medians.reduce((sum, each) => sum + each, 0) / medians.length];
    });
  }

  #timed<T>(what: string, run: () => T): T {
    const start = process.hrtime.bigint();
    const result = run();
    this.#add(what, Number(process.hrtime.bigint() - start) / 1000);
    return result;
  }

  #add(what: string, us: number): void {
    this.#us.set(what, (this.#us.get(what) ?? 0) + us);
  }
}

/** Microseconds of processor time. */
function usedSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/**
 * Every stage by itself, over the visits in their order: what each adds to a session that goes on. Of the same batch of many visitors the median
 * counts, so that what else the machine does is not in it.
 */
function stageTimes(): Map<string, number> {
  const times = new Map<string, number[][]>();
  let first = 0;
  const record = Buffer.alloc(packedBytesMax);
  for (const visit of readVisits()) {
    const templates = templatesOf(visit, siteKeyPlaceholder);
    for (let visitor = 0; visitor < visitorsOfVisit; visitor++) {
      const facts = factsOf(visit, visitor);
      let stored = encodeSession({
        state: newScoredState(facts.nowMs),
        seenIds: Buffer.alloc(0),
        features: Buffer.from(record.subarray(0, packFeatures(newFeatures(), record, 0))),
      });
      const isTimed = visitor >= warmUp;
      let last = 0n;
      const end = (what: string): void => {
        const now = process.hrtime.bigint();
        if (isTimed) {
          const ofStage = times.get(what) ?? [];
          times.set(what, ofStage);
          const ofBatch = ofStage[at] ?? [];
          ofStage[at] = ofBatch;
          ofBatch.push(Number(now - last) / 1000);
        }
        last = process.hrtime.bigint();
      };
      let at = first;
      for (const template of templates) {
        const bytes = filled(template, mintedToken);
        last = process.hrtime.bigint();
        const body = readBody(bytes);
        const sent = batchOf(body);
        if (sent instanceof Refusal) throw new Error(sent.message);
        idHashesOf(body, sent);
        end("reading its body");
        const session = decodeSession(stored)!;
        const features = unpackFeatures(session.features, 0, session.features.length)!;
        end("unpacking the session");
        shingleHashes(features, sent.events);
        turnHashes(features, sent.events);
        cornerHashes(features, sent.events);
        end("hashes of its paths");
        foldBatch(features, sent.events, facts, alone);
        end("folding");
        scoreSession(session.state, features);
        end("engines and detections");
        const packed = record.subarray(0, packFeatures(features, record, 0));
        stored = encodeSession({ state: session.state, seenIds: session.seenIds, features: packed });
        end("packing the session");
        at++;
      }
    }
    first += templates.length;
  }
  const mean = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0) / values.length;
  return new Map([...times].map(([what, ofStage]) => [what, mean(ofStage.map(median))]));
}

const mintedToken = encodeSessionToken(mintSessionToken(Date.now(), randomFillSync));

/**
 * Processor time of a batch with its transaction, on a store of its own, in microseconds. Visitors take turns, so that a group is of as many
 * sessions as batches. `parts` are timed as well where they are asked for, which costs some time itself.
 */
async function wholeTime(group: number, parts: StoreTimes | null): Promise<{ whole: number; collected: number }> {
  let collected = 0;
  const collections = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) collected += 1000 * duration;
  });
  const folder = mkdtempSync(join(tmpdir(), "verdictd-bench-recorded-"));
  const store = openStore(folder);
  try {
    const commit: LmdbCommit = {
      unit: new LmdbUnitOfWork(store),
      writer: new GroupWriter(store, "process", new WriteMarker(newWriteCounts())),
      context: {
        credentials: new Credentials(store),
        plans: defaultPlans,
        ipStorage: "full",
        sessionsMax: 1e9,
        mint: new TokenMint(),
      },
      onFired: () => {},
    };
    parts?.watch(commit.unit, commit.writer);
    const projects = new Projects(store, Date.now);
    const made = await createFirstAccount(new Accounts(store, Date.now), projects);
    if (made instanceof Refusal) throw new Error(made.message);
    const enabled = await projects.enableScoring(made.projectId);
    if (enabled instanceof Refusal) throw new Error(enabled.message);
    const siteKey = enabled.siteKey;
    let used = 0;
    let batches = 0;
    const visits = readVisits();
    collections.observe({ entryTypes: ["gc"] });
    for (const [number, visit] of visits.entries()) {
      const templates = templatesOf(visit, siteKey);
      const tokens: (string | null)[] = new Array(visitorsOfVisit).fill(null);
      for (const [at, template] of templates.entries()) {
        for (let from = 0; from < visitorsOfVisit; from += group) {
          const requests = tokens.slice(from, from + group).map(
            (token, index): IngestRequest => ({
              siteKey,
              idempotencyKey: keys.next(),
              identity: unidentified,
              identifies: "",
              score: true,
              facts: factsOf(visit, from + index),
              body: filled(template, token),
            }),
          );
          const before = process.cpuUsage();
          const outcomes = commitToLmdb(commit, requests);
          const spent = usedSince(before);
          outcomes.forEach((outcome, index) => {
            tokens[from + index] = tokenOf(outcome);
          });
          parts?.endGroup(`${number}/${at}`, requests.length);
          used += spent;
          batches += requests.length;
        }
      }
    }
    // They are told of in later turns of the event loop.
    await setTimeout(20);
    return { whole: used / batches, collected: collected / batches };
  } finally {
    collections.disconnect();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function tokenOf(outcome: IngestOutcome): string {
  if ("session_token" in outcome) return outcome.session_token;
  throw new Error(`a recorded batch was not taken: ${JSON.stringify(outcome)}`);
}
