/** Runs the same operations on a store and on the model, and compares all that can be read. Both stores pass it, by what threads use of them. */
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import type { Test } from "tap";
import { noHeaders } from "../../src/contract/evidence/header-facts.js";
import { unidentified } from "../../src/contract/evidence/visitor.js";
import type { SessionMark } from "../../src/contract/sessions/marks.js";
import { Projects } from "../../src/control-plane/accounts/projects.js";
import { eraseSession } from "../../src/control-plane/erasure/erase-session.js";
import { Refusal } from "../../src/errors.js";
import type { IngestOutcome, Recorded } from "../../src/ingest/commit-batches.js";
import type { IngestRequest } from "../../src/ingest/frame.js";
import { blockTallyKey, hourOf, sessionKey, sessionRange } from "../../src/store/keys.js";
import { decodeSession, encodeSession } from "../../src/store/session-record.js";
import type { Store } from "../../src/store/store.js";
import { tableNames, tables } from "../../src/store/tables.js";
import type { Owner } from "../support/owner.js";
import { ruleBlock } from "../support/rule-block.js";
import { bytesOf, type Expected, idsOf, Model, type ModelSession, recordsMax, tenantNumbers } from "./model.js";
import {
  elsewhere,
  everyOperation,
  marksMax,
  type Operation,
  operations,
  type PlannedBatch,
  sweptTimelines,
  tenantCount,
  timelinesMax,
} from "./operations.js";

/** A store with two scoring threads, as the suite drives it. */
export interface Ledger {
  /** As HTTP threads have it. */
  readonly store: Store;
  commit(thread: 0 | 1, requests: readonly IngestRequest[]): Promise<readonly IngestOutcome[]>;
  /** Removes sessions that were last seen before this; returns how many. */
  sweep(projectIds: readonly number[], sessionMs: number, nowMs: number): Promise<number>;
  /** Once all that is counted behind the answers is written. */
  settle(): Promise<void>;
  count(projectId: number): Promise<number>;
  /** Rows of all projects by the name of their table, as `check` counts them. */
  rows(): Promise<Readonly<Record<string, number>>>;
  /** The same store, opened anew. */
  restart(): Promise<Ledger>;
}

/** The present of all runs: noon, so that no run goes over midnight. */
const noonMs = Math.floor(Date.now() / 86_400_000) * 86_400_000 + 43_200_000;

const minuteMs = 60_000;

/** `runs` random runs on the store that `open` gives; a failure prints the seed and the operations. */
export async function holdToModel(
  t: Test,
  { runs, owner, open }: { runs: number; owner: Owner; open: () => Promise<Ledger> },
): Promise<void> {
  const seed = Number(process.env["LEDGER_SEED"] ?? Date.now() % 0x7fff_ffff);
  t.comment(`LEDGER_SEED=${seed}`);
  let ledger = await open();
  let checks = 0;
  const runOf = async (steps: readonly Operation[]): Promise<number> => {
    const run = new Run(ledger, await tenantsOf(ledger.store, owner));
    for (const step of steps) await run.step(step);
    const checked = await run.check();
    ledger = run.ledger;
    return checked;
  };
  await runOf(everyOperation);
  const rows = await ledger.rows();
  const unwritten = tableNames.filter((name) => tables[name].onCluster === "rows" && !(rows[tables[name].name]! > 0));
  t.same(unwritten, Object.keys(elsewhere), "the operations of the suite write every table");
  await runOf(sweptTimelines);
  const property = fc.asyncProperty(operations, async (steps) => {
    checks += await runOf(steps);
  });
  const { failed, errorInstance, counterexample } = await fc.check(property, {
    seed,
    numRuns: runs,
    endOnFailure: true,
  });
  const found = failed
    ? `${String((errorInstance as Error)?.stack)} with LEDGER_SEED=${seed} after ${JSON.stringify(counterexample)}`
    : "";
  t.equal(found, "", `${runs} runs are as the model says`);
  t.ok(checks > runs, `${checks} sessions were compared`);
}

/** Projects of their own for each run. */
async function tenantsOf(store: Store, owner: Owner): Promise<Owner[]> {
  const projects = new Projects(store, Date.now);
  const made: Owner[] = [];
  while (made.length < tenantCount) {
    const project = done(await projects.create(owner.accountId, `tenant ${made.length}`));
    const { siteKey } = done(await projects.enableScoring(project.id));
    made.push({ ...owner, projectId: project.id, siteKey });
  }
  return made;
}

function done<T>(result: T | Refusal): T {
  if (result instanceof Refusal) throw new Error(result.message);
  return result;
}

class Run {
  ledger: Ledger;
  readonly #tenants: readonly Owner[];
  readonly #model = new Model();
  #changes = 0;

  constructor(ledger: Ledger, tenants: readonly Owner[]) {
    this.ledger = ledger;
    this.#tenants = tenants;
  }

  async step(step: Operation): Promise<void> {
    const { store } = this.ledger;
    const model = this.#model;
    if (step.do === "commit") return this.#commit(step.batches, step.beside);
    if (step.do === "restart") {
      await this.ledger.settle();
      this.ledger = await this.ledger.restart();
      return;
    }
    if (step.do === "sweep") {
      const expected = model.sweep(noonMs - step.minutes * minuteMs);
      const swept = await this.ledger.sweep(this.#projectIds(), step.minutes * minuteMs, noonMs);
      return same(swept, expected, "swept sessions");
    }
    if (step.do === "count") {
      const hour = hourOf(noonMs) - step.hoursAgo;
      const { verdicts } = step;
      const traffic = { events: 0, sessions: 0, verdicts: { human: verdicts }, actions: { allow: verdicts } };
      await store.counts.add([{ projectId: this.#owner(step.tenant).projectId, hour, traffic }]);
      model.hour(step.tenant, hour).verdicts += verdicts;
      return;
    }
    if (step.do === "judge") {
      const rows = step.rows.map(({ hoursAgo, writer, row }) => ({ hour: hourOf(noonMs) - hoursAgo, writer, row }));
      const { projectId } = this.#owner(step.tenant);
      const written = rows.map(({ hour, writer, row }) => {
        const bytes = row === "" ? null : Buffer.from(row);
        return { projectId, kind: "path" as const, hour, writer: writerOf(writer), bytes };
      });
      await store.recorded.judged.write(written);
      for (const { hour, writer, row } of rows) model.judge(step.tenant, hour, writer, row);
      return;
    }
    if (step.do === "timeline") return this.#addEntries(step.sessions);
    const session = model.named(step.session);
    if (session === undefined) return;
    if (step.do === "change") return this.#change(session, step.nonce);
    if (step.do === "block") return this.#block(session, step.blocks);
    const isOwn = step.do === "unmark" || step.isOwn;
    const tenant = isOwn ? session.tenant : (session.tenant + 1) % tenantCount;
    const { projectId } = this.#owner(tenant);
    if (step.do === "mark")
      return same(
        await store.recorded.marks.put(markOf(projectId, session), marksMax),
        model.mark(session, isOwn),
        "mark",
      );
    if (step.do === "unmark")
      return same(await store.recorded.marks.remove(projectId, session.token), model.unmark(session), "unmark");
    const erased = await eraseSession(store, session.token, projectId);
    same(erased === null ? null : erased.sessions, model.erase(session, isOwn) ? 1 : null, "erased");
  }

  /** Compares all that can be read of every session by every tenant, and of every tenant; returns how many sessions. */
  async check(): Promise<number> {
    await this.ledger.settle();
    const { sessions } = this.#model;
    for (const session of sessions) for (const tenant of tenantNumbers) await this.#checkSession(session, tenant);
    for (const tenant of tenantNumbers) await this.#checkTenant(tenant);
    return sessions.length;
  }

  async #checkSession(session: ModelSession, tenant: number): Promise<void> {
    const { rows, recorded } = this.ledger.store;
    const { projectId } = this.#owner(tenant);
    const key = sessionKey(projectId, bytesOf(session));
    await rows.load([key], "certain");
    const record = rows.record(key);
    const state = record === undefined ? null : decodeSession(record)!.state;
    const isOwn = tenant === session.tenant;
    const what = `session ${this.#model.sessions.indexOf(session)} as tenant ${tenant} has it`;
    const timeline = await recorded.timelines.read(key);
    const blocks = await recorded.blocks.ofSession(projectId, session.token);
    same(
      {
        record: state && { events: state.eventCount, lastSeenMs: state.lastSeenMs, path: state.last.path },
        isMarked: (await recorded.marks.find(projectId, session.token)) !== null,
        entries: timeline?.moments.length ?? 0,
        blocks: blocks.map(({ count = 1 }) => count),
      },
      {
        record:
          isOwn && session.isStored
            ? { events: session.ids.size, lastSeenMs: session.lastSeenMs, path: session.path }
            : null,
        isMarked: isOwn && session.isMarked,
        entries: isOwn ? session.entries : 0,
        blocks: isOwn ? session.blocks : [],
      },
      what,
    );
  }

  async #checkTenant(tenant: number): Promise<void> {
    const { rows, recorded, counts } = this.ledger.store;
    const { projectId } = this.#owner(tenant);
    const stored = this.#model.stored(tenant).map((session) => sessionKey(projectId, bytesOf(session)).toString("hex"));
    const found = await rows.keys({ ...sessionRange(projectId), limit: 1000 });
    same(
      found.map((key) => key.toString("hex")),
      stored.sort(),
      `keys of tenant ${tenant}`,
    );
    same(await this.ledger.count(projectId), stored.length, `sessions of tenant ${tenant}`);
    const marked = this.#model.sessions.filter((session) => session.tenant === tenant && session.isMarked);
    same((await recorded.marks.tokens(projectId)).sort(), marked.map(({ token }) => token).sort(), "marks");
    const hour = hourOf(noonMs);
    const judged = await recorded.judged.read(projectId, "path", hour - 2, hour + 1);
    for (let each = 0; each < 4; each++) {
      const [at, writer] = [hour - Math.floor(each / 2), each % 2];
      const row = judged.find((found) => found.hour === at && found.writer.equals(writerOf(writer)));
      const expected = this.#model.judged.get(`${tenant}/${at}/${writer}`);
      same(row?.bytes.toString(), expected, `judged by ${writer} in hour ${at - hour} of tenant ${tenant}`);
    }
    const read = new Map(await counts.read(projectId, hour - 5, hour + 1));
    for (let each = hour - 5; each <= hour; each++) {
      const { events = 0, sessions = 0, verdicts = {} } = read.get(each) ?? {};
      const expected = this.#model.hours.get(`${tenant}/${each}`) ?? { events: 0, sessions: 0, verdicts: 0 };
      same({ events, sessions, verdicts: verdicts["human"] ?? 0 }, expected, `hour ${each - hour} of tenant ${tenant}`);
    }
  }

  async #commit(first: readonly PlannedBatch[], second: readonly PlannedBatch[]): Promise<void> {
    const known = this.#model.sessions.length;
    const named = ({ session }: PlannedBatch): ModelSession | undefined =>
      session === null || known === 0 ? undefined : this.#model.sessions[session % known];
    // A batch whose session has gone is looked for by its key in a second round, so that others of the key's session may come before it.
    const isFoundLate = (batch: PlannedBatch): boolean => {
      const session = named(batch);
      return batch.key !== null && session !== undefined && !(session.isStored && session.tenant === batch.tenant);
    };
    // Where it is open which batch takes an event, all of the group come at one time: the hour that counts it is not.
    const isOrderOpen = second.length > 0 || first.some(isFoundLate);
    const minutesAgo = isOrderOpen ? { minutesAgo: first[0]!.minutesAgo } : {};
    const [batches, beside] = [first, second].map((group) => group.map((batch) => ({ ...batch, ...minutesAgo }))) as [
      PlannedBatch[],
      PlannedBatch[],
    ];
    const requests = (planned: readonly PlannedBatch[]) => planned.map((batch) => this.#request(batch, named(batch)));
    const both = await Promise.all([
      this.ledger.commit(0, requests(batches)),
      beside.length === 0 ? [] : this.ledger.commit(1, requests(beside)),
    ]);
    const outcomes = both.flat().map(recordedOutcome);
    const planned = [...batches, ...beside];
    const expected = planned.map((batch) => this.#model.commit(batch, named(batch), msOf(batch)));
    for (const [index, { session }] of expected.entries())
      if (session.token === "") session.token = outcomes[index]!.session_token;
    same(
      outcomes.map(({ session_token }) => session_token),
      expected.map(({ session }) => session.token),
      "sessions of batches",
    );
    const counted = (of: readonly { accepted: number; duplicates: number }[]) =>
      of.map((each) => [each.accepted, each.duplicates]);
    // Whichever was first, together they take each event once.
    if (isOrderOpen) same(bySession(expected, outcomes), bySession(expected, expected), "events by session");
    else same(counted(outcomes), counted(expected), "events of batches");
  }

  #request(batch: PlannedBatch, named: ModelSession | undefined): IngestRequest {
    const events = idsOf(batch).map((request_id) => ({
      request_id,
      type: "page",
      received_at: new Date(msOf(batch)).toISOString(),
      payload: { visible_ms: 400 },
    }));
    const key = batch.key === null ? null : `contact-${batch.key}-of-a-run`;
    return requestAt(this.#owner(batch.tenant), { session_token: named?.token ?? null, events }, key, msOf(batch));
  }

  async #change(session: ModelSession, nonce: number): Promise<void> {
    const path = `/changed-${++this.#changes}`;
    const number = nonce * 1000 + this.#model.sessions.indexOf(session);
    const mark = {
      nonce: `${this.#owner(0).projectId}${String(number).padStart(8, "0")}`.padStart(32, "0"),
      expiresAtMs: Math.max(noonMs, Date.now()) + 60 * minuteMs,
    };
    const key = sessionKey(this.#owner(session.tenant).projectId, bytesOf(session));
    const change = (record: Buffer): Buffer => {
      const decoded = decodeSession(Buffer.from(record))!;
      return encodeSession({ ...decoded, state: { ...decoded.state, last: { ...decoded.state.last, path } } });
    };
    same(await this.ledger.store.rows.change(key, change, mark), this.#model.change(session, nonce, path), "change");
  }

  async #addEntries(numbers: readonly number[]): Promise<void> {
    const sessions = numbers.flatMap((number) => this.#model.named(number) ?? []);
    if (sessions.length === 0) return;
    const pieces = sessions.map((session) => {
      const { projectId } = this.#owner(session.tenant);
      return {
        projectId,
        key: sessionKey(projectId, bytesOf(session)),
        fold: (before: { moments: readonly object[] } | null) => ({
          startedAtMs: noonMs,
          noted: (before?.moments.length ?? 0) + 1,
          points: [],
          moments: [...((before?.moments ?? []) as never[]), { at: 0, type: "page" as const, count: 1 }],
        }),
      };
    });
    await this.ledger.store.recorded.timelines.fold(pieces, timelinesMax);
    this.#model.addEntries(sessions);
  }

  async #block(session: ModelSession, count: number): Promise<void> {
    const { projectId } = this.#owner(session.tenant);
    const key = blockTallyKey(Math.floor(noonMs / minuteMs), projectId, ++this.#changes, session.token);
    const tally = { key, projectId, sessionToken: session.token, recordsMax, lastId: 0 };
    const block = ruleBlock(projectId, session.token, { atMs: noonMs });
    const blocks = Array.from({ length: count }, () => ({ block, tally }));
    const write = { projectId, blocks, changes: [{ tally, further: 0, references: [] }] };
    const [written] = await this.ledger.store.recorded.blocks.write([write], noonMs);
    if (written === undefined || written instanceof Error) throw written ?? new Error("nothing was written");
    same(written[0]!.stored, this.#model.block(session, count), "stored blocks");
  }

  #owner(tenant: number): Owner {
    return this.#tenants[tenant]!;
  }

  #projectIds(): number[] {
    return this.#tenants.map(({ projectId }) => projectId);
  }
}

const writerOf = (writer: number): Buffer => Buffer.from(`writer${writer}`.padEnd(10));

const msOf = ({ minutesAgo }: PlannedBatch): number => noonMs - minutesAgo * minuteMs;

function requestAt(owner: Owner, body: object, idempotencyKey: string | null, nowMs: number): IngestRequest {
  return {
    siteKey: owner.siteKey,
    idempotencyKey,
    identity: unidentified,
    identifies: "",
    score: true,
    facts: { ...noHeaders, userAgent: "Mozilla/5.0", nowMs, ip: "198.51.100.7" },
    body: Buffer.from(JSON.stringify(body)),
  };
}

function recordedOutcome(outcome: IngestOutcome): Recorded {
  if (!("accepted" in outcome)) throw new Error(`refused: ${JSON.stringify(outcome)}`);
  return outcome;
}

function bySession(expected: readonly Expected[], counted: readonly { accepted: number; duplicates: number }[]) {
  const sums = new Map<string, [number, number]>();
  for (const [index, { session }] of expected.entries()) {
    const [accepted, duplicates] = sums.get(session.token) ?? [0, 0];
    sums.set(session.token, [accepted + counted[index]!.accepted, duplicates + counted[index]!.duplicates]);
  }
  return [...sums];
}

function markOf(projectId: number, { token }: ModelSession): SessionMark {
  const verdict = { band: "likely_human" as const, score: 90, detectionIds: [] };
  return { projectId, sessionToken: token, as: "bot", markedAt: new Date(noonMs).toISOString(), userId: 1, ...verdict };
}

/** Throws where the store is not as the model says. */
function same(found: unknown, expected: unknown, what: string): void {
  if (!isDeepStrictEqual(found, expected))
    throw new Error(`${what}: found ${JSON.stringify(found)}, expected ${JSON.stringify(expected)}`);
}
