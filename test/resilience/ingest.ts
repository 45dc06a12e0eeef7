/** The ingest write path in the test's own process, with the clock in the test's hand: what a scoring thread runs, on a real store. */

import type { Test } from "tap";
import { defaultPlans, type Plans } from "../../src/contract/configuration/plans.js";
import type { IpStorage } from "../../src/contract/configuration/scoring-worker.js";
import { noHeaders } from "../../src/contract/evidence/header-facts.js";
import { unidentified } from "../../src/contract/evidence/visitor.js";
import type { IngestOutcome } from "../../src/ingest/commit-batches.js";
import type { IngestRequest } from "../../src/ingest/frame.js";
import { commitToLmdb } from "../../src/ingest/lmdb-commit.js";
import { openStore } from "../../src/store/open-store.js";
import type { Store } from "../../src/store/store.js";
import { lmdbThread } from "../support/lmdb-thread.js";
import { type Owner, ownerOf } from "../support/owner.js";

export const noFacts = {
  ...noHeaders,
  nowMs: 0,
  ip: "203.0.113.9",
  userAgent: "Mozilla/5.0",
  acceptLanguage: "en",
  accept: "*/*",
  acceptEncoding: "gzip",
  contentType: "application/json",
} as const;

interface Sent {
  readonly body: unknown;
  readonly key?: string;
  readonly nowMs: number;
  readonly ip?: string;
}

interface Ingest {
  readonly store: Store;
  readonly owner: Owner;
  /** Commits these batches in one transaction; their outcomes. */
  take(...sent: readonly Sent[]): readonly IngestOutcome[];
}

export async function openIngest(
  t: Test,
  plans: Plans = defaultPlans,
  ipStorage: IpStorage = "full",
  sessionsMax = 1e9,
): Promise<Ingest> {
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  const owner = await ownerOf(store);
  const thread = lmdbThread(store, { plans, ipStorage, sessionsMax });
  const request = ({ body, key, nowMs, ip = noFacts.ip }: Sent): IngestRequest => ({
    siteKey: owner.siteKey,
    idempotencyKey: key ?? null,
    identity: unidentified,
    identifies: "",
    score: true,
    facts: { ...noFacts, nowMs, ip },
    body: Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body)),
  });
  return { store, owner, take: (...sent) => commitToLmdb(thread, sent.map(request)) };
}
