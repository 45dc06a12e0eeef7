/**
 * Where the scoring thread's time goes: visits as recorded, each batch through the same functions one after another, every stage timed, then
 * the same batches committed in groups. Says what is left of a batch when each part is left out.
 */
import { randomFillSync } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Credentials } from "../../src/auth/credentials.js";
import { batchHeaders, headerFactsOf, type RequestFacts, requestFactsOf } from "../../src/contract/header-facts.js";
import { defaultPlans } from "../../src/contract/plans.js";
import { newScoredState } from "../../src/contract/session.js";
import { encodeSessionToken, mintSessionToken } from "../../src/contract/session-token.js";
import { unidentified } from "../../src/contract/visitor.js";
import { Accounts } from "../../src/control-plane/accounts.js";
import { createFirstAccount } from "../../src/control-plane/first-account.js";
import { Projects } from "../../src/control-plane/projects.js";
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
  for (const group of [128, 32]) {
    const whole = await wholeTime(group);
    rows.push([`all of it, committed in groups of ${group}`, whole]);
    rows.push([`of that look-ups, indexes, counters, LMDB and its commit`, whole - sum]);
  }
  return rows;
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

/** Processor time of a batch with its transaction, on a store of its own. Visitors take turns, so that a group is of as many sessions as batches. */
async function wholeTime(group: number): Promise<number> {
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
    const projects = new Projects(store, Date.now);
    const made = await createFirstAccount(new Accounts(store, Date.now), projects);
    if (made instanceof Refusal) throw new Error(made.message);
    const enabled = await projects.enableScoring(made.projectId);
    if (enabled instanceof Refusal) throw new Error(enabled.message);
    const siteKey = enabled.siteKey;
    let used = 0;
    let batches = 0;
    const visits = readVisits();
    for (const [number, visit] of [visits[0]!, ...visits].entries()) {
      const templates = templatesOf(visit, siteKey);
      const tokens: (string | null)[] = new Array(visitorsOfVisit).fill(null);
      for (const template of templates) {
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
          const { user, system } = process.cpuUsage(before);
          outcomes.forEach((outcome, index) => {
            tokens[from + index] = tokenOf(outcome);
          });
          // The first visit warms up, and is measured when it comes again.
          if (number === 0) continue;
          used += user + system;
          batches += requests.length;
        }
      }
    }
    return used / batches;
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function tokenOf(outcome: IngestOutcome): string {
  if ("session_token" in outcome) return outcome.session_token;
  throw new Error(`a recorded batch was not taken: ${JSON.stringify(outcome)}`);
}
