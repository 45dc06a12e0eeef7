/**
 * Visitors of several nodes on one cluster, and a ledger of what they were told. They behave as the SDK does: a batch that is not taken is
 * sent again, to another node, until it is; a fifth of them goes to two nodes at once, as a retry does whose first try was only slow.
 */
import { setTimeout as delay } from "node:timers/promises";
import { seededRandom } from "../../scripts/live/randomness.js";
import { ClusterClient } from "../../src/cluster/cluster-client.js";
import { parseStoreUrl, type StoreUrl } from "../../src/cluster/store-url.js";
import { indexRow, sessionRow, shardCount, shardOfSession, shardSlots } from "../../src/cluster-store/keys.js";
import { decodeSessionToken } from "../../src/contract/sessions/session-token.js";
import { sessionKey } from "../../src/store/keys.js";
import { decodeSession } from "../../src/store/session-record.js";
import { batch } from "../support/batches.js";
import type { VerdictdNode } from "../support/cluster-nodes.js";
import type { Reply } from "../support/keep-alive-client.js";
import type { Owner } from "../support/owner.js";
import type { RedisCluster } from "../support/redis-cluster.js";

interface LoadOptions {
  readonly nodes: readonly VerdictdNode[];
  readonly owner: Owner;
  readonly visitors: number;
  readonly seed: number;
  /** Of the batches, how many go to two nodes at once: 0 to 1. */
  readonly doubled?: number;
  /** A visitor's pause after a batch that was taken, ms. */
  readonly pauseMs?: number;
}

/** What became of the batches so far. */
export interface LoadCounts {
  /** Answered with 202, each batch once. */
  batches: number;
  events: number;
  /** Tries that were answered with 503, by other statuses, and those without an answer. */
  refused: number;
  otherwise: number;
  unanswered: number;
  /** The longest that a batch was on its way until it was taken, all tries included, ms. */
  longestMs: number;
  /** Answers that are wrong: another session than the one before, or more or fewer events than were sent. */
  readonly wrong: string[];
}

export const newCounts = (): LoadCounts => ({
  batches: 0,
  events: 0,
  refused: 0,
  otherwise: 0,
  unanswered: 0,
  longestMs: 0,
  wrong: [],
});

/** Between two tries of one batch. */
const againMs = 100;
/** A node that has not answered by then does not. */
const answerMs = 30_000;
/** When a cluster that is whole again must have taken what waited for it. */
const takenMs = 120_000;
/** Now and then a batch is so large that the ids of a session spill out of its record. */
const largeBatch = 100;

export class ClusterLoad {
  /** Acknowledged events by session, of all time. */
  readonly ledger = new Map<string, number>();
  /** Starts anew with each incident. */
  counts = newCounts();
  readonly #options: LoadOptions;
  readonly #random: () => number;
  #isOver = false;
  readonly #visitors: Visitor[];
  #running: Promise<unknown> = Promise.resolve();

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#random = seededRandom(options.seed);
    this.#visitors = Array.from({ length: options.visitors }, (_, index) => new Visitor(`c${options.seed}v${index}x`));
  }

  start(): void {
    this.#isOver = false;
    this.#running = Promise.all(this.#visitors.map((visitor) => this.#run(visitor)));
  }

  /** Once every batch on its way now has been taken: every shard is served. */
  async caughtUp(): Promise<void> {
    await this.#within(Promise.all(this.#visitors.map(({ step }) => step)));
  }

  /** Once so many further batches were taken. */
  async taken(batches: number): Promise<void> {
    let isLate = false;
    const until = this.counts.batches + batches;
    const reached = async (): Promise<void> => {
      while (this.counts.batches < until && !isLate) await delay(10);
    };
    await this.#within(reached()).finally(() => {
      isLate = true;
    });
  }

  /** Sends what is on its way to its end, and nothing more. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#within(this.#running);
  }

  /** Throws when batches are not taken any more, and says what they are told. */
  async #within(work: Promise<unknown>): Promise<void> {
    const late = delay(takenMs, "late" as const, { ref: false });
    if ((await Promise.race([work, late])) !== "late") return;
    this.#isOver = true;
    throw new Error(`batches are not taken: after ${takenMs} ms ${JSON.stringify(this.counts)}`);
  }

  /** A session that was acknowledged. */
  anyToken(): string {
    const tokens = [...this.ledger.keys()];
    return tokens[Math.floor(Math.random() * tokens.length)] ?? "";
  }

  async #run(visitor: Visitor): Promise<void> {
    while (!this.#isOver) {
      visitor.step = this.#step(visitor);
      await visitor.step;
      await delay(this.#options.pauseMs ?? 0);
    }
  }

  async #step(visitor: Visitor): Promise<void> {
    const name = `${visitor.name}${visitor.batches++}b`;
    const count = this.#random() < 0.02 ? largeBatch : 1 + Math.floor(this.#random() * 5);
    const { token } = visitor;
    const body = batch(name, count, token);
    const fromMs = performance.now();
    let at = Math.floor(this.#random() * this.#options.nodes.length);
    let isDoubled = this.#random() < (this.#options.doubled ?? 0.2);
    for (;;) {
      const to = isDoubled ? [at, at + 1] : [at];
      const answers = await Promise.all(to.map((index) => this.#send(index, body, name)));
      const taken = answers.filter((answer) => answer?.status === 202);
      if (taken.length > 0) {
        this.counts.longestMs = Math.max(this.counts.longestMs, performance.now() - fromMs);
        this.#acknowledge(visitor, name, count, taken as Reply[]);
        return;
      }
      // Given up: see `#within`.
      if (this.#isOver && performance.now() - fromMs > takenMs) return;
      isDoubled = false;
      at++;
      await delay(againMs * (0.5 + Math.random()));
    }
  }

  /** Undefined: no answer came. */
  async #send(index: number, body: object, key: string): Promise<Reply | undefined> {
    const { nodes, owner } = this.#options;
    try {
      const node = nodes[index % nodes.length]!;
      const reply = await Promise.race([
        node.client.send(owner.siteKey, body, key),
        delay(answerMs, "late" as const, { ref: false }),
      ]);
      if (reply === "late") {
        this.counts.wrong.push(`${key} was not answered in ${answerMs} ms by port ${node.port}`);
        return undefined;
      }
      if (reply.status === 503) this.counts.refused++;
      else if (reply.status !== 202) {
        this.counts.otherwise++;
        this.counts.wrong.push(`${key} was answered ${reply.status} ${JSON.stringify(reply.json)}`);
      }
      return reply;
    } catch {
      this.counts.unanswered++;
      return undefined;
    }
  }

  #acknowledge(visitor: Visitor, name: string, count: number, taken: readonly Reply[]): void {
    const { wrong } = this.counts;
    let accepted = 0;
    for (const { json } of taken) {
      accepted += json.accepted;
      if (json.accepted + json.duplicates !== count) wrong.push(`${name} was taken in part: ${JSON.stringify(json)}`);
    }
    if (accepted > count) wrong.push(`${name} was taken twice`);
    const tokens = new Set(taken.map(({ json }) => json.session_token as string));
    if (visitor.token !== null) tokens.add(visitor.token);
    if (tokens.size > 1) wrong.push(`${name} is in several sessions: ${[...tokens].join(", ")}`);
    const [token = ""] = tokens;
    this.ledger.set(token, (this.ledger.get(token) ?? 0) + count);
    this.counts.batches++;
    this.counts.events += count;
    // Sessions of two to some thirty batches.
    visitor.token = this.#random() < visitor.ends ? null : token;
    if (visitor.token === null) visitor.ends = 0.03 + this.#random() * 0.4;
  }
}

class Visitor {
  token: string | null = null;
  batches = 0;
  /** How likely a batch is the last one of its session. */
  ends = 0.2;
  /** The batch on its way. */
  step: Promise<void> = Promise.resolve();

  constructor(readonly name: string) {}
}

/** What is in the cluster beside what was acknowledged. */
export interface Audit {
  readonly found: number;
  /** Acknowledged events that are not there. */
  readonly lost: number;
  /** Events that are there once more than they were sent. */
  readonly doubled: number;
  /** Sessions that nobody was told of. */
  readonly unknown: number;
}

/** Holds the cluster against the ledger, when nothing is on its way. Read from the masters. */
export async function audit(cluster: RedisCluster, owner: Owner, ledger: ReadonlyMap<string, number>): Promise<Audit> {
  const client = new ClusterClient({ url: parseStoreUrl(cluster.url) as StoreUrl });
  const options = { deadlineMs: 30_000, isIdempotent: true };
  try {
    const keys = [...ledger.keys()].map((token) => sessionKey(owner.projectId, decodeSessionToken(token)!));
    const rows = await client.pipeline(
      keys.map((key) => ({ command: ["GET", sessionRow(key)], slot: shardSlots[shardOfSession(key)]! })),
      options,
    );
    let [found, lost, doubled] = [0, 0, 0];
    for (const [index, told] of [...ledger.values()].entries()) {
      const row = rows[index];
      if (row instanceof Error) throw row;
      const stored = row instanceof Buffer ? (decodeSession(Buffer.from(row.subarray(8)))?.state.eventCount ?? 0) : 0;
      found += Math.min(stored, told);
      lost += Math.max(0, told - stored);
      doubled += Math.max(0, stored - told);
    }
    const sizes = await client.pipeline(
      Array.from({ length: shardCount }, (_, shard) => ({
        command: ["ZCARD", indexRow(shard, owner.projectId)],
        slot: shardSlots[shard]!,
      })),
      options,
    );
    const indexed = sizes.reduce<number>((sum, size) => sum + Number(size), 0);
    return { found, lost, doubled, unknown: indexed - ledger.size };
  } finally {
    client.close();
  }
}
