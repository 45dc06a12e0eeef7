/** What the run of a batch reads was declared before: a store that fetches rows ahead has them all. */

import t from "tap";
import { Credentials } from "../../src/auth/credentials.js";
import { unidentified } from "../../src/contract/evidence/visitor.js";
import { declareReads, SiteKeyHolders, type UnreadBatch } from "../../src/ingest/batch-reads.js";
import { commitBatches } from "../../src/ingest/commit-batches.js";
import type { IngestRequest } from "../../src/ingest/frame.js";
import { LmdbUnitOfWork } from "../../src/ingest/lmdb-unit-of-work.js";
import { issueTicket } from "../../src/ingest/start-ticket.js";
import { openStore } from "../../src/store/open-store.js";
import { wobblyPath } from "../engines/sessions.js";
import { noFacts } from "../resilience/ingest.js";
import { batch, event } from "../support/batches.js";
import { lmdbThread } from "../support/lmdb-thread.js";
import { ownerOf } from "../support/owner.js";

const noon = Date.UTC(2026, 10, 21, 12);

/** Names the rows that are read through it. */
class NotingUnit extends LmdbUnitOfWork {
  readonly read = new Set<string>();

  override session(key: Buffer): Buffer | undefined {
    this.read.add(`session ${key.toString("hex")}`);
    return super.session(key);
  }

  override idempotent(key: Buffer): Buffer | undefined {
    this.read.add(`idempotent ${key.toString("hex")}`);
    return super.idempotent(key);
  }

  override countAcross(...counted: Parameters<LmdbUnitOfWork["countAcross"]>): number {
    this.read.add(`count ${counted.flat().join(" ")}`);
    return super.countAcross(...counted);
  }
}

t.test("the rows that a run reads are those that were declared", async (t) => {
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  const owner = await ownerOf(store);
  const { context } = lmdbThread(store);
  const project = store.projects.get(owner.projectId)!;

  const request = (body: object, more: Partial<IngestRequest> = {}): IngestRequest => ({
    siteKey: owner.siteKey,
    idempotencyKey: null,
    identity: unidentified,
    identifies: "",
    score: true,
    facts: { ...noFacts, nowMs: noon },
    body: Buffer.from(JSON.stringify(body)),
    ...more,
  });
  const declaredOf = (unread: UnreadBatch, isCopier: boolean): Set<string> => {
    const declared = new Set<string>();
    const reads = {
      session: (key: Buffer) => void declared.add(`session ${key.toString("hex")}`),
      idempotent: (key: Buffer) => void declared.add(`idempotent ${key.toString("hex")}`),
      countAcross: (...counted: Parameters<LmdbUnitOfWork["countAcross"]>) => {
        declared.add(`count ${counted.flat().join(" ")}`);
        return 0;
      },
      paths: () => {},
    };
    declareReads(reads, new SiteKeyHolders(new Credentials(store)), unread, () => isCopier);
    return declared;
  };
  /** Holds the run to what was declared, except for `further` rows; returns the token of its session and whether the batch was parsed for it. */
  const hold = (said: string, sent: IngestRequest, further = 0, isCopier = false) => {
    const unread: UnreadBatch = { request: sent, body: null };
    const declared = declaredOf(unread, isCopier);
    const unit = new NotingUnit(store);
    const [outcome] = store.root.transactionSync(() => {
      const { outcomes } = commitBatches(unit, context, [sent]);
      unit.save();
      return outcomes;
    });
    const beyond = [...unit.read].filter((row) => !declared.has(row));
    t.equal(beyond.length, further, `${said}: ${beyond.join(", ") || "nothing else"}`);
    const token = outcome !== undefined && "session_token" in outcome ? outcome.session_token : "";
    return { token, isParsed: unread.body !== null, declared, read: unit.read };
  };

  const env = { ...event("environ0", { webdriver: false }), type: "env" };
  const path = (id: string, seed: number) => ({
    ...event(id, { t: 10, pointer_type: "mouse", points: wobblyPath(120, seed), count: 130 }),
    type: "mouse",
  });
  const first = hold("a first contact", request({ session_token: null, events: [env, path("first-path", 1)] }));
  t.same(first.declared, first.read, "and nothing is declared for nothing");
  hold("with a key in its header", request(batch("headed00"), { idempotencyKey: "one" }));
  hold("the same again", request(batch("headed00"), { idempotencyKey: "one" }), 1);
  hold("with a key in its body", request({ ...batch("beacon00"), idempotency_key: "two" }));
  const later = hold("a later batch", request(batch("later000", 2, first.token)));
  t.notOk(later.isParsed, "its first bytes tell");
  t.same(later.declared, later.read);
  const ticket = { start_ticket: issueTicket(project, noFacts.ip, noon) };
  hold("a ticket", request({ session_token: first.token, events: [event("ticketed", ticket)] }));
  hold("a ticket of others", request({ session_token: first.token, events: [event("ticket-2", ticket)] }));
  const other = hold("another visitor", request(batch("another0")));
  const copied = { session_token: other.token, events: [path("copied-1", 1)] };
  hold("a copy, of whom nobody knew", request(copied), 2);
  hold("a copy of a known copier", request({ ...copied, events: [path("copied-2", 1)] }), 0, true);
  const answered = { projectId: owner.projectId, identifies: first.token };
  hold("DNS's answer", request({}, answered));
  for (const [said, sent] of [
    ["no body", request([])],
    ["another's key", request(batch("unknown0"), { siteKey: "pk_nobody" })],
    ["a long key", request(batch("longkey0"), { idempotencyKey: "k".repeat(300) })],
  ] as const)
    t.same(hold(said, sent).declared, new Set(), "nothing is declared for who is refused");
});
