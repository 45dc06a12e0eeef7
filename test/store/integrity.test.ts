/** The integrity check finds what was damaged on purpose, each fault in its table, and nothing in a sound store. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { Accounts } from "../../src/control-plane/accounts/accounts.js";
import { createFirstAccount } from "../../src/control-plane/accounts/first-account.js";
import { Projects } from "../../src/control-plane/accounts/projects.js";
import { checkStore } from "../../src/control-plane/upkeep/store-check.js";
import { newFeatures, packedBytes, packFeatures } from "../../src/engines/session-features.js";
import { backupStore } from "../../src/store/backup.js";
import { packCrossSessionCount } from "../../src/store/cross-session-count.js";
import {
  crossSessionKey,
  hourOf,
  idempotencyDay,
  idempotencyKey,
  monthOf,
  seenIdsKey,
  sessionKey,
} from "../../src/store/keys.js";
import { openStore } from "../../src/store/open-store.js";
import { encodeSession } from "../../src/store/session-record.js";
import type { Store } from "../../src/store/store.js";
import { storeFile, storeFileFault } from "../../src/store/store-file.js";

const nowMs = Date.UTC(2026, 10, 21, 12);
const token = Buffer.alloc(21, 7);
const key = sessionKey(1, token);
const contactKey = idempotencyKey(idempotencyDay(nowMs), 1, Buffer.alloc(32, 9));

function session(events: number, features = packed()): Buffer {
  return encodeSession({
    state: {
      scored: true,
      engineScores: { heuristics: null, js_detection: null, behavioral: 60 },
      score: 60,
      detectionIds: [],
      verifiedBot: null,
      firstSeenMs: nowMs,
      lastSeenMs: nowMs,
      loggedInAtMs: 0,
      clearance: null,
      eventCount: events,
      last: { path: "/", host: "", userAgent: "", ip: "192.0.2.1" },
    },
    seenIds: Buffer.alloc(8),
    features,
  });
}

function packed(): Buffer {
  const features = newFeatures();
  const bytes = Buffer.alloc(packedBytes(features));
  return bytes.subarray(0, packFeatures(features, bytes, 0));
}

/** A store with one of everything, in a folder of its own. */
async function soundStore(t: Test): Promise<Store> {
  const store = openStore(join(t.testdir(), "store"));
  t.teardown(() => store.close());
  const now = () => nowMs;
  const projects = new Projects(store, now);
  await createFirstAccount(new Accounts(store, now), projects);
  await projects.enableScoring(1);
  store.root.transactionSync(() => {
    store.sessions.putSync(key, session(5));
    store.repeats.putSync(seenIdsKey(key, 0), Buffer.alloc(16));
    store.idempotency.putSync(contactKey, token);
    store.crossSessionCounts.putSync(crossSessionKey(hourOf(nowMs), 1, 1, [1, 2]), packCrossSessionCount(300));
    store.traffic.putSync([1, hourOf(nowMs)], { events: 5, sessions: 1, verdicts: {}, actions: {} });
    store.usage.putSync([1, monthOf(nowMs)], 5);
  });
  return store;
}

t.test("a sound store has no faults", async (t) => {
  const report = checkStore(await soundStore(t));
  t.same([report.faultCount, report.faults], [0, []]);
  t.match(report.rows, { accounts: 1, keys: 2, rules: 2, sessions: 1, repeats: 1 });
});

const damages: Record<string, [(store: Store) => unknown, { table: string; key?: string; fault: RegExp }]> = {
  "a slug that is gone": [
    (s) => s.slugs.removeSync("default"),
    { table: "accounts", key: "1", fault: /slug "default"/ },
  ],
  "a count of sessions that is wrong": [
    (s) => s.meta.putSync("sessions:1", 3),
    { table: "meta", key: "sessions:1", fault: /says 3 sessions, there are 1/ },
  ],
  "a slug of nobody": [(s) => s.slugs.putSync("ghost", 9), { table: "slugs", key: "ghost", fault: /accounts 9/ }],
  "an e-mail that is gone": [(s) => s.emails.removeSync("owner@localhost"), { table: "users", fault: /e-mail/ }],
  "an e-mail of nobody": [(s) => s.emails.putSync("a@b", 9), { table: "emails", fault: /users 9/ }],
  "a user that is gone": [(s) => s.users.removeSync(1), { table: "memberships", key: "1/1", fault: /users 1, which/ }],
  "a token's hash that is gone": [
    (s) => s.tokenHashes.removeSync(s.tokens.get(1)!.hash),
    { table: "tokens", key: "1", fault: /hash/ },
  ],
  "a hash of no token": [(s) => s.tokenHashes.putSync("00", 9), { table: "token_hashes", fault: /tokens 9/ }],
  "a private key that is gone": [
    (s) => s.keys.removeSync(s.projects.get(1)!.privateKeyHash!),
    { table: "projects", key: "1", fault: /key of it/ },
  ],
  "an old site key that still leads to the project": [
    (s) => s.keys.putSync("00", { projectId: 1, kind: "site" }),
    { table: "keys", key: "00", fault: /not the site key/ },
  ],
  "a project that is gone": [(s) => s.projects.removeSync(1), { table: "rules", key: "1/1", fault: /projects 1/ }],
  "an expression that does not compile": [
    (s) => s.rules.putSync([1, 1], { ...s.rules.get([1, 1])!, expressionSource: "score <" }),
    { table: "rules", key: "1/1", fault: /compile/ },
  ],
  "an account without a plan": [
    (s) => s.accounts.putSync(1, { ...s.accounts.get(1)!, plan: undefined } as never),
    { table: "accounts", fault: /^plan must be a string/ },
  ],
  "bytes that are no record": [
    (s) =>
      s.root.openDB<Buffer, number>({ name: "users", encoding: "binary" }).putSync(1, Buffer.from([0xdf, 0xff, 0xff])),
    { table: "users", key: "1", fault: /can't be read|must be/ },
  ],
  "a session cut short": [
    (s) => s.sessions.putSync(key, session(5).subarray(0, 50)),
    { table: "sessions", fault: /decoded/ },
  ],
  "features cut short": [
    (s) => s.sessions.putSync(key, session(5, packed().subarray(0, 5))),
    { table: "sessions", fault: /unpacked/ },
  ],
  "request ids of no session": [(s) => s.sessions.removeSync(key), { table: "repeats", fault: /no session/ }],
  "an Idempotency-Key that leads to no token": [
    (s) => s.idempotency.putSync(contactKey, token.subarray(1)),
    { table: "idempotency", key: contactKey.toString("hex"), fault: /length/ },
  ],
  "a cross-session count without a count": [
    (s) => s.crossSessionCounts.putSync(crossSessionKey(hourOf(nowMs), 2, 1, [1, 2]), Buffer.alloc(3)),
    { table: "sightings", fault: /length/ },
  ],
  "more events in sessions than were counted": [
    (s) => s.sessions.putSync(key, session(6)),
    { table: "traffic", key: "1", fault: /hold 6 events, 5/ },
  ],
  "a month that counted less than its hours": [
    (s) => s.usage.putSync([1, monthOf(nowMs)], 4),
    { table: "usage", key: "1/2026-11", fault: /5 events, the account only 4/ },
  ],
  "an agent under another's address": [
    (s) =>
      s.signedAgents.putSync(["agent", "https://a.example"], { url: "https://b.example", name: "B", category: "seo" }),
    { table: "signed_agents", fault: /holds https:\/\/b.example/ },
  ],
  "a key that is none": [
    (s) => s.signedAgents.putSync(["keys", "https://a.example"], { keys: [{ kty: "OKP" }], source: "fetched", at: "" }),
    { table: "signed_agents", fault: /a key is broken/ },
  ],
  "a list of agents with a bad one": [
    (s) => s.signedAgents.putSync("list", { version: "1", agents: [{}] }),
    { table: "signed_agents", fault: /agents\[0\]/ },
  ],
  "a catalogue with a bad entry": [
    (s) => s.verifiedBots.putSync("catalogue", { version: "1", entries: [{}] }),
    { table: "verified_bots", fault: /entries\[0\]/ },
  ],
  "a list of declared bots with a bad entry": [
    (s) => s.declaredBots.putSync("catalogue", { version: "1", entries: [{}] }),
    { table: "declared_bots", fault: /entries\[0\]/ },
  ],
  "a list of marks of agents with a bad entry": [
    (s) => s.agentMarks.putSync("catalogue", { version: "1", entries: [{}] }),
    { table: "agent_marks", fault: /entries\[0\]/ },
  ],
  "retired marks of agents with a bad one": [
    (s) => s.agentMarks.putSync("retired", [{ name: "x" }]),
    { table: "agent_marks", fault: /\[0\]\.category/ },
  ],
  "a list of addresses whose ranges are cut short": [
    (s) =>
      s.ipLists.putSync("tor", {
        count: 1,
        importedAt: "2026-11-22T00:00:00Z",
        v4: Buffer.alloc(4),
        v6: Buffer.alloc(0),
        asns: Buffer.alloc(0),
      }),
    { table: "ip_lists", key: "tor", fault: /another length/ },
  ],
};

for (const [name, [damage, expected]] of Object.entries(damages)) {
  t.test(`${name} is found`, async (t) => {
    const store = await soundStore(t);
    store.root.transactionSync(() => void damage(store));
    const { faults, faultCount } = checkStore(store);
    t.equal(faultCount, faults.length);
    const found = faults.some(
      (each) =>
        each.table === expected.table &&
        expected.fault.test(each.fault) &&
        (expected.key === undefined || each.key === expected.key),
    );
    t.ok(found, JSON.stringify(faults));
  });
}

t.test("a backup holds what was stored when it began, and no half-made one is left", async (t) => {
  const store = await soundStore(t);
  const target = join(t.testdir({}), "copy");
  await backupStore(store, target);
  store.sessions.removeSync(key);
  t.equal(storeFileFault(target), null);
  const copy = openStore(target);
  t.teardown(() => copy.close());
  t.ok(copy.sessions.doesExist(key));
  t.equal(checkStore(copy).faultCount, 0);
  await t.rejects(backupStore(store, target), { name: "StoreError" }, "a folder that is not empty");
});

t.test("a file that LMDB would die of is refused, and a folder without one is not", async (t) => {
  const store = await soundStore(t);
  const dir = t.testdir({
    none: {},
    foreign: { "verdictd.mdb": "no store".repeat(9000) },
    short: {},
    empty: { "verdictd.mdb": "" },
  });
  await backupStore(store, join(dir, "whole"));
  const bytes = readFileSync(storeFile(join(dir, "whole")));
  writeFileSync(storeFile(join(dir, "short")), bytes.subarray(0, 8192));
  t.equal(storeFileFault(join(dir, "whole")), null);
  t.equal(storeFileFault(join(dir, "none")), null);
  t.match(storeFileFault(join(dir, "foreign")), /no store of verdictd/);
  t.equal(storeFileFault(join(dir, "empty")), null, "an empty file is a store to be made");
  t.match(storeFileFault(join(dir, "short")), /cut short/);
});
