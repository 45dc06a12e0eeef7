/**
 * Kills a server under ingest again and again and holds the store against a ledger of what clients were told. Visitors behave as the
 * SDK does: a batch without an answer is sent again, with the same key and ids, until it has one.
 */
import type { Test } from "tap";
import { seededRandom } from "../../scripts/live/randomness.js";
import { Sessions } from "../../src/control-plane/sessions/sessions.js";
import { checkStore } from "../../src/control-plane/upkeep/store-check.js";
import { openStore } from "../../src/store/open-store.js";
import { batch } from "../support/batches.js";
import { Client } from "../support/keep-alive-client.js";
import { makeOwner, type Owner } from "../support/owner.js";
import { serve } from "../support/process.js";

export interface CrashRun {
  readonly kills: number;
  readonly visitors: number;
  readonly seed: number;
  /** A kill comes after at most this many further answers. */
  readonly answersMax: number;
  readonly flags: readonly string[];
}

interface CrashFigures {
  acknowledged: number;
  events: number;
  sessions: number;
  /** Batches cut off by a kill whose retry showed that they had been committed. */
  committedUnheard: number;
  /** Batches cut off by a kill that had not been committed. */
  cutOff: number;
}

/** What clients were told, and a promise for when they were told so much. */
class Ledger {
  readonly figures: CrashFigures = { acknowledged: 0, events: 0, sessions: 0, committedUnheard: 0, cutOff: 0 };
  #until = 0;
  #reached: () => void = () => {};

  add(events: number): void {
    this.figures.acknowledged++;
    this.figures.events += events;
    if (this.figures.acknowledged >= this.#until) this.#reached();
  }

  reach(acknowledged: number): Promise<void> {
    this.#until = acknowledged;
    if (acknowledged <= this.figures.acknowledged) return Promise.resolve();
    return new Promise((resolve) => {
      this.#reached = resolve;
    });
  }
}

interface SentBatch {
  readonly name: string;
  readonly count: number;
  readonly body: object;
  cut: boolean;
}

/** One visitor: its session, what was acknowledged of it, and the batch that has no answer yet. */
class Visitor {
  readonly #id: string;
  readonly #random: () => number;
  #batches = 0;
  token: string | null = null;
  acknowledged = 0;
  pending: SentBatch | null = null;
  readonly sessions = new Map<string, number>();

  constructor(id: string, random: () => number) {
    this.#id = id;
    this.#random = random;
  }

  /** Sends batches until the connection fails. */
  async run(client: Client, siteKey: string, ledger: Ledger, t: Test): Promise<void> {
    for (;;) if (!(await this.step(client, siteKey, ledger, t))) return;
  }

  /** Sends the pending batch, or a new one; false when no answer came. */
  async step(client: Client, siteKey: string, ledger: Ledger, t: Test): Promise<boolean> {
    this.pending ??= this.#next();
    const { name, count, body } = this.pending;
    let reply: Awaited<ReturnType<Client["send"]>>;
    try {
      reply = await client.send(siteKey, body, name);
    } catch {
      this.pending.cut = true;
      return false;
    }
    if (reply.status !== 202) {
      t.fail(`${name} was answered ${reply.status}`);
      return false;
    }
    const { session_token, accepted, duplicates } = reply.json;
    if (accepted + duplicates !== count || (accepted !== 0 && duplicates !== 0)) t.fail(`${name} was taken in part`);
    if (duplicates > 0 && !this.pending.cut) t.fail(`${name} was sent once and taken for a repeat`);
    if (this.token !== null && session_token !== this.token) t.fail(`${name} was put into another session`);
    if (this.pending.cut) ledger.figures[duplicates > 0 ? "committedUnheard" : "cutOff"]++;
    this.sessions.set(session_token, (this.sessions.get(session_token) ?? 0) + count);
    ledger.add(count);
    // Now and then a new visitor, so that first contacts are cut off as well.
    this.token = this.#random() < 0.3 ? null : session_token;
    this.pending = null;
    return true;
  }

  #next(): SentBatch {
    const name = `${this.#id}-${this.#batches++}-batch`;
    const count = 1 + Math.floor(this.#random() * 8);
    return { name, count, body: batch(name, count, this.token), cut: false };
  }
}

/** Runs it; asserts on `t`. */
export async function crashRun(
  t: Test,
  { kills, visitors: count, seed, answersMax, flags }: CrashRun,
): Promise<CrashFigures> {
  const dataDir = t.testdir();
  const owner = await makeOwner(dataDir);
  const random = seededRandom(seed);
  const ledger = new Ledger();
  const { figures } = ledger;
  const visitors = Array.from({ length: count }, (_, index) => new Visitor(`v${seed}x${index}`, random));
  for (let kill = 0; kill < kills; kill++) {
    const server = await serve(t, dataDir, { flags });
    const client = new Client(server.port, count);
    const loads = visitors.map((each) => each.run(client, owner.siteKey, ledger, t));
    // The moment is what is random: at once, or after up to a few hundred answers, whose order and timing nobody rules.
    await Promise.race([...loads, ledger.reach(ledger.figures.acknowledged + Math.floor(random() ** 2 * answersMax))]);
    await server.end("SIGKILL");
    await Promise.all(loads);
    client.close();
    const found = await compare(t, dataDir, owner, visitors, `after kill ${kill + 1}`);
    if (!found) break;
  }
  const server = await serve(t, dataDir, { flags });
  const client = new Client(server.port, count);
  for (const each of visitors) {
    if (each.pending !== null)
      t.ok(await each.step(client, owner.siteKey, ledger, t), "a cut batch is taken after all");
  }
  client.close();
  t.equal(await server.end("SIGTERM"), 0, "the last server stops in order");
  await compare(t, dataDir, owner, visitors, "at the end");
  figures.sessions = new Set(visitors.flatMap((each) => [...each.sessions.keys()])).size;
  return figures;
}

/** Holds the store against the ledger: exact where everything has its answer, and otherwise off by the cut batches alone. */
async function compare(
  t: Test,
  dataDir: string,
  owner: Owner,
  visitors: readonly Visitor[],
  when: string,
): Promise<boolean> {
  const store = openStore(dataDir);
  try {
    const sessions = new Sessions(store);
    const wrong: string[] = [];
    let known = 0;
    let acknowledged = 0;
    for (const { sessions: ledger, pending, token: current } of visitors) {
      for (const [token, events] of ledger) {
        const found = sessions.scoredState(owner.projectId, token)?.eventCount ?? 0;
        const cut = pending !== null && token === current ? pending.count : 0;
        if (found !== events && found !== events + cut) wrong.push(`${token}: ${found}, told ${events}, cut ${cut}`);
        known++;
        acknowledged += events;
      }
    }
    t.same(wrong, [], `${when}, every session holds what was acknowledged, once`);
    const stored = { sessions: 0, events: 0 };
    const counted = { sessions: 0, events: 0 };
    let usage = 0;
    for (const { value } of store.sessions.getRange({})) {
      stored.sessions++;
      stored.events += value.readUInt32LE(32);
    }
    for (const { value } of store.traffic.getRange({})) {
      counted.sessions += value.sessions;
      counted.events += value.events;
    }
    for (const { value } of store.usage.getRange({ start: [owner.accountId, ""], end: [owner.accountId + 1, ""] })) {
      usage += value;
    }
    t.same(counted, stored, `${when}, the hourly counts agree with the sessions`);
    t.equal(usage, stored.events, `${when}, the quota's count agrees with the sessions`);
    const cuts = visitors.flatMap(({ pending }) => pending ?? []);
    const unheard = cuts.reduce((sum, each) => sum + each.count, 0);
    t.ok(
      stored.events >= acknowledged && stored.events <= acknowledged + unheard,
      `${when}, no event came from nowhere`,
    );
    t.ok(stored.sessions >= known && stored.sessions <= known + cuts.length, `${when}, no session came from nowhere`);
    const { faultCount, faults } = checkStore(store);
    t.same([faultCount, faults], [0, []], `${when}, the integrity check is clean`);
    return wrong.length === 0 && faultCount === 0;
  } finally {
    await store.close();
  }
}
