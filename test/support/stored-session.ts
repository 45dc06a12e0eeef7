/** Sessions and counts put straight into a store, as batches long ago would have left them: for tests of what reads or refers to them. */
import { keySlot } from "../../src/cluster/slots.js";
import { versionBytes } from "../../src/cluster-store/ingest/cluster-unit-of-work.js";
import { indexRow, marksRow, partCount, sessionRow, shardOfSession, usageRow } from "../../src/cluster-store/keys.js";
import type { SessionMark } from "../../src/contract/sessions/marks.js";
import { newScoredState, type ScoredState } from "../../src/contract/sessions/session.js";
import { decodeSessionToken, encodeSessionToken, mintSessionToken } from "../../src/contract/sessions/session-token.js";
import { monthOf, sessionKey, tokenAt } from "../../src/store/keys.js";
import { encodeSession } from "../../src/store/session-record.js";
import type { Store } from "../../src/store/store.js";
import { clusterBehind } from "./test-store.js";

const noBytes = Buffer.alloc(0);
/** Of rows that are put into a cluster. */
const livesMs = String(86_400_000);

/** The rows of a session that began at `firstSeenMs`, with what else of its verdict is said. */
function sessionOf(projectId: number, token: string, firstSeenMs: number, more: Partial<ScoredState>) {
  const state = { ...newScoredState(firstSeenMs), eventCount: 1, ...more };
  return {
    key: sessionKey(projectId, decodeSessionToken(token)!),
    record: encodeSession({ state, seenIds: noBytes, features: noBytes }),
  };
}

/** The token of the session that is stored for this time and number. */
export function storedToken(firstSeenMs: number, number: number): string {
  return encodeSessionToken(mintSessionToken(firstSeenMs, (into) => into.fill(number).fill(number >> 8, 0, 1)));
}

/**
 * Stores a session that began at `firstSeenMs` in the store of one host; its token. Tokens of one time differ by `number`, 0 to 65,535. The
 * token's time may be `aheadMs` later, as under load.
 */
export function putSession(
  store: Store,
  projectId: number,
  firstSeenMs: number,
  number = 0,
  lastSeenMs = firstSeenMs,
  aheadMs = 0,
): string {
  const token = storedToken(firstSeenMs + aheadMs, number);
  const { key, record } = sessionOf(projectId, token, firstSeenMs, { lastSeenMs });
  store.sessions.putSync(key, record);
  return token;
}

/** Stores a session in whatever the tests run on, in its project's index too; its token. `more`: what else of its verdict is said. */
export async function storeSession(
  store: Store,
  projectId: number,
  firstSeenMs: number,
  number: number,
  more: Partial<ScoredState> = {},
): Promise<string> {
  const token = storedToken(firstSeenMs, number);
  const { key, record } = sessionOf(projectId, token, firstSeenMs, more);
  const cluster = await clusterBehind(store);
  if (cluster === null) {
    await store.sessions.put(key, record);
    return token;
  }
  const row = sessionRow(key);
  const node = await cluster.masterOf(keySlot(row));
  await node.ask("SET", row, Buffer.concat([Buffer.alloc(versionBytes, 1), record]), "PX", livesMs);
  await node.ask("ZADD", indexRow(shardOfSession(key), projectId), "0", key.subarray(tokenAt));
  return token;
}

/** The same for a session with a score, of this user agent. */
export function storeScoredSession(
  store: Store,
  projectId: number,
  firstSeenMs: number,
  number: number,
  userAgent: string,
): Promise<string> {
  const { last } = newScoredState(firstSeenMs);
  return storeSession(store, projectId, firstSeenMs, number, { scored: true, score: 50, last: { ...last, userAgent } });
}

/** Sets the events of an account in the month of this time. */
export async function storeUsage(store: Store, accountId: number, atMs: number, events: number): Promise<void> {
  const cluster = await clusterBehind(store);
  const month = monthOf(atMs);
  if (cluster === null) {
    await store.usage.put([accountId, month], events);
    return;
  }
  for (let part = 0; part < partCount; part++) {
    const row = usageRow(accountId, part, month);
    await (await cluster.masterOf(keySlot(row))).ask("SET", row, String(part === 0 ? events : 0), "PX", livesMs);
  }
}

/** Marks so many sessions of a project that need not be there; `remove` takes the marks away again. */
export async function storeMarks(store: Store, projectId: number, count: number): Promise<{ remove(): Promise<void> }> {
  const markedAt = new Date().toISOString();
  const tokens = Array.from({ length: count }, (_, index) => `${index}`);
  const markOf = (sessionToken: string): SessionMark => ({
    projectId,
    sessionToken,
    as: "bot",
    markedAt,
    userId: 1,
    band: "definite",
    score: 1,
    detectionIds: [],
  });
  const cluster = await clusterBehind(store);
  if (cluster === null) {
    const { root, marks } = store;
    await root.transaction(() => {
      for (const token of tokens) marks.putSync([projectId, token], markOf(token));
    });
    const remove = async (): Promise<void> => {
      await root.transaction(() => {
        for (const token of tokens) marks.removeSync([projectId, token]);
      });
    };
    return { remove };
  }
  const row = marksRow(projectId);
  const node = await cluster.masterOf(keySlot(row));
  const fields = tokens.flatMap((token) => [token, `${Date.parse(markedAt)} ${JSON.stringify(markOf(token))}`]);
  await node.ask("HSET", row, ...fields);
  return { remove: async () => void (await node.ask("HDEL", row, ...tokens)) };
}
