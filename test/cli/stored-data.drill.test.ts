/** What commands tell and erase of the data a running server stores: session show and delete, stats, check, backup. */

import { join } from "node:path";
import t from "tap";
import { decodeSessionToken } from "../../src/contract/sessions/session-token.js";
import { openStore } from "../../src/store/open-store.js";
import type { Store } from "../../src/store/store.js";
import { tables } from "../../src/store/tables.js";
import { command, type FirstKeys, json, serve } from "../support/process.js";
import { askUntil } from "../support/server.js";
import { ingest, threads } from "./ingest.js";

t.test("commands see what a running server stores", async (t) => {
  const dir = join(t.testdir(), "store");
  const first = await json<FirstKeys>(dir, "init");
  const serving = await serve(t, dir, { flags: ["--verdict-ttl", "0", ...threads] });
  const scoring = `/v1/projects/${first.project_id}/scoring`;
  const { json: keys } = await serving.ask("POST", scoring, { token: first.account_token });

  await t.test("a session is shown whole and erased whole", async (t) => {
    const rule = { name: "all", expression: "score < 99", action: "block" };
    const rules = `/v1/projects/${first.project_id}/rules`;
    const { json: made } = await serving.ask("POST", rules, { token: first.account_token, body: rule });
    const other = await ingest(serving, keys.site_key, 3);
    let token: string | null = null;
    // More request ids than a record holds: they spill into rows of their own.
    for (let batch = 0; batch < 3; batch++) token = await ingest(serving, keys.site_key, 100, token);
    const erased = token!;
    const read = (session: string) =>
      serving.ask("GET", `/v1/sessions/${session}/verdict`, { token: keys.private_key });
    t.match(await read(erased), { json: { action: "block" } });
    await serving.ask("POST", `/v1/sessions/${erased}/logged-in`, { token: keys.private_key });
    // A block is stored a tenth of a second after the verdict that made it.
    const { json: blocks } = await askUntil(
      () => serving.ask("GET", `/v1/projects/${first.project_id}/blocks`, { token: first.account_token }),
      ({ json }) => json?.data?.length === 1,
    );
    const shown = await json<Record<string, unknown> & { features: Record<string, unknown>; blocks: object[] }>(
      dir,
      "session",
      "show",
      erased,
    );
    t.same(Object.keys(shown), sessionKeys);
    t.match(shown, {
      session_token: erased,
      project_id: first.project_id,
      scored: true,
      engines: { heuristics: Number, behavioral: Number },
      event_count: 300,
      request_ids: 300,
      idempotency_keys: 1,
      ip: "127.0.0.1",
      features: { batches: 3, events: 300, presenceEvents: 300 },
    });
    t.ok(Date.parse(String(shown["logged_in_at"])) > 0);
    t.match(shown.blocks, [{ id: 1, source: "rule", rule_id: made["id"] }]);
    t.same(shown.blocks, blocks?.data, "all of a block, as the API shows it");

    const timeline = `/v1/projects/${first.project_id}/sessions/${erased}/trail`;
    const answered = await askUntil(
      () => serving.ask("GET", timeline, { token: first.account_token }),
      ({ json }) => json?.noted === 300,
    );
    t.equal(answered.json.noted, 300);
    await serving.ask("PUT", `/v1/projects/${first.project_id}/sessions/${erased}/mark`, {
      token: first.account_token,
      body: { as: "bot" },
    });
    t.match(await json(dir, "session", "show", erased), { mark: { as: "bot" } });
    const open = openStore(dir);
    t.teardown(() => open.close());
    t.ok(traces(open, erased).length >= 4, "record, repeats, block and idempotency row name the session");
    t.same(await json(dir, "session", "delete", erased), {
      session_token: erased,
      project_id: first.project_id,
      erased: { sessions: 1, repeats: 1, blocks: 1, marks: 1, idempotency: 1, trails: 1 },
    });
    t.same(traces(open, erased), [], "no row names it any more");
    t.match(await read(erased), { status: 200, json: { verdict: "not_computed", action: "allow" } });
    t.equal((await command(["session", "show", erased, "--data-dir", dir])).code, 1);
    t.match(await json(dir, "session", "show", other), { event_count: 3 }, "another session is untouched");
    t.not(await ingest(serving, keys.site_key, 1, erased), erased, "its client is a new visitor");
  });

  await t.test("stats, check and a backup while it serves", async (t) => {
    const copy = join(t.testdir(), "copy");
    // The server stores timelines in the background, so that rows may still be added meanwhile; none goes.
    const before = await rowsOf(dir);
    const [stats, check, backup] = await Promise.all([
      json(dir, "stats"),
      json<{ ok: boolean; rows: Record<string, number> }>(dir, "check"),
      json(dir, "backup", copy),
    ]);
    const after = await rowsOf(dir);
    t.same(Object.keys(stats), statsKeys);
    t.match(stats, { accounts: 1, users: 1, tokens: 1, projects: 1, rules: 3, sessions: 2, events_this_month: 304 });
    t.match(check, { ok: true, fault_count: 0, faults: [] });
    t.same(Object.keys(check), ["ok", "rows", "fault_count", "faults"]);
    t.same(Object.keys(check.rows), lmdbNames);
    t.same(Object.keys(backup), ["directory", "bytes"]);
    const copied = await rowsOf(copy);
    t.same(without(before, copied), [], "the copy has every row");
    t.same(without(copied, after), [], "the copy has no row that the store has not");
    t.equal(await checkedRows(copy), copied.length, "check reads every row");
    const again = await serve(t, copy, { flags: threads });
    t.equal(
      (await again.ask("GET", "/v1/account", { token: first.account_token })).status,
      200,
      "the copy can be served",
    );
  });
});

const sessionKeys = [
  "session_token",
  "project_id",
  "scored",
  "score",
  "engines",
  "detection_ids",
  "verified_bot",
  "event_count",
  "first_seen_at",
  "last_seen_at",
  "logged_in_at",
  "path",
  "host",
  "ip",
  "user_agent",
  "request_ids",
  "idempotency_keys",
  "record_bytes",
  "features",
  "trail",
  "mark",
  "blocks",
];

const statsKeys = [
  "accounts",
  "users",
  "tokens",
  "projects",
  "rules",
  "sessions",
  "blocks",
  "month",
  "events_this_month",
  "store_bytes",
  "schema_version",
];

/** Table and key of every row. */
async function rowsOf(dir: string): Promise<string[]> {
  const store = openStore(dir);
  try {
    return rawRows(store).map(({ table, key }) => `${table} ${key.toString("hex")}`);
  } finally {
    await store.close();
  }
}

/** Those of `rows` that are not in `others`. */
function without(rows: readonly string[], others: readonly string[]): string[] {
  const found = new Set(others);
  return rows.filter((row) => !found.has(row));
}

/** How many rows `check` counts. */
async function checkedRows(dir: string): Promise<number> {
  const { rows } = await json<{ rows: Record<string, number> }>(dir, "check");
  return Object.values(rows).reduce((sum, count) => sum + count, 0);
}

interface RawRow {
  readonly table: string;
  readonly key: Buffer;
  readonly value: Buffer;
}

const lmdbNames = Object.values(tables).map(({ name }) => name);

/** Every row of the store as bytes. */
function rawRows(store: Store): RawRow[] {
  return lmdbNames.flatMap((table) => {
    const raw = store.root.openDB<Buffer, Buffer>({ name: table, encoding: "binary", keyEncoding: "binary" });
    return [...raw.getRange({})].map(({ key, value }) => ({ table, key, value }));
  });
}

/** Names of the tables whose rows hold the token, as text or as bytes, in key or value; once a row. */
function traces(store: Store, token: string): string[] {
  const bytes = decodeSessionToken(token)!;
  const text = Buffer.from(token);
  return rawRows(store)
    .filter(({ key, value }) => {
      const row = Buffer.concat([key, value]);
      return row.includes(bytes) || row.includes(text);
    })
    .map(({ table }) => table);
}
