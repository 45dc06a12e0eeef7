/** The logs of sessions, blocks, marks and changes: order, pages, cursors, and what a row says. */
import { createHash } from "node:crypto";
import t from "tap";
import { eraseSession } from "../../src/control-plane/erasure/erase-session.js";
import { Rules } from "../../src/control-plane/rules/rules.js";
import { Blocks, sessionSubject } from "../../src/recording/blocks.js";
import { sweep } from "../../src/store/expiry.js";
import { automatedBatch, batch } from "../support/batches.js";
import { ruleBlock } from "../support/rule-block.js";
import { storeSession } from "../support/stored-session.js";
import { isOnCluster } from "../support/test-store.js";
import { good, type Service, startService, type Tenant, toolHeaders } from "./service.js";

/** One server for all tests but those that want flags of their own; each has tenants of its own. */
const service = await startService(t);

const tokensOf = (rows: { session_token: string }[]) => rows.map((row) => row.session_token);

/** A block of a session of its own. */
async function block(projectId: number, index: number) {
  const token = await storeSession(service.server.store, projectId, Date.now(), index);
  return { ...ruleBlock(projectId, token, { path: null }), reason: "Because.", detectionIds: [100101] };
}

/** As the server records it. */
const record = (blocks: Blocks, one: Awaited<ReturnType<typeof block>>): boolean =>
  blocks.record(one, sessionSubject(one.sessionToken));

t.test("a walk of pages shows every session once, the latest first, while others arrive", async (t) => {
  const one = await service.tenant("one");
  const two = await service.tenant("two");
  const path = `/v1/projects/${one.project.id}/sessions`;
  const before: string[] = [];
  for (let index = 0; index < 12; index++) before.push(await service.ingest(one, batch(`before${index}`)));
  await service.ingest(two, batch("foreign"));

  for (const limit of [1, 5, 6, 12, 100]) {
    const rows = await service.walk(path, one.token, limit, async () => {
      await service.ingest(two, batch(`foreign-${limit}`));
    });
    t.same(tokensOf(rows), before.toReversed(), `${limit} a page`);
  }
  let arrived = 0;
  const rows = await service.walk(path, one.token, 5, async () => {
    await service.ingest(one, batch(`during${arrived++}`));
  });
  t.ok(arrived >= 3, "sessions arrived between the pages");
  t.same(tokensOf(rows), before.toReversed(), "which moved nothing");
  const times = rows.map((row) => row.first_seen_at);
  t.same(times, times.toSorted().toReversed(), "in the order of first contact");
  t.same((await service.walk(path, one.token, 100)).length, before.length + arrived, "a new walk shows them too");
});

t.test("a walk of pages shows every block once, the latest first, while others are recorded", async (t) => {
  const one = await service.tenant("one");
  const two = await service.tenant("two");
  const blocks = new Blocks(service.server.store, Date.now);
  const tokens: string[] = [];
  for (let index = 0; index < 7; index++) {
    const own = await block(one.project.id, index);
    tokens.push(own.sessionToken);
    record(blocks, own);
    record(blocks, await block(two.project.id, 100 + index));
    if (index % 3 === 0) await blocks.flush();
  }
  await blocks.flush();
  const path = `/v1/projects/${one.project.id}/blocks`;
  const rows = await service.walk(path, one.token, 3, async () => {
    record(blocks, await block(one.project.id, 50));
    await blocks.flush();
  });
  t.same(
    rows.map((row) => row.id),
    [7, 6, 5, 4, 3, 2, 1],
  );
  t.same(tokensOf(rows), tokens.toReversed());
});

t.test("a page is 50 rows by default, and its bounds and cursors are checked", async (t) => {
  const one = await service.tenant("one");
  const blocks = new Blocks(service.server.store, Date.now);
  for (let index = 0; index < 51; index++) record(blocks, await block(one.project.id, index));
  await blocks.flush();
  for (let index = 0; index < 2; index++) await service.ingest(one, batch(`session${index}`));
  const ask = (log: string, query: string) =>
    service.ask("GET", `/v1/projects/${one.project.id}/${log}${query}`, { as: one.token });
  const page = (await ask("blocks", "")).json;
  t.equal(page.data.length, 50);
  const cursors: Record<string, string> = {
    blocks: page.meta.next_cursor,
    sessions: (await ask("sessions", "?limit=1")).json.meta.next_cursor,
  };
  for (const log of ["sessions", "blocks"]) {
    for (const limit of ["1", "100"]) t.equal((await ask(log, `?limit=${limit}`)).status, 200, `${log} ${limit}`);
    for (const limit of ["0", "101", "-1", "1.5", "", "x", "1e1", "%201"]) {
      const refused = await ask(log, `?limit=${limit}`);
      t.equal(refused.status, 422, `${log} limit "${limit}"`);
      t.equal(refused.json.code, "INVALID_PAYLOAD");
      t.match(refused.json.message, /limit/);
    }
    const own = cursors[log]!;
    const other = cursors[log === "blocks" ? "sessions" : "blocks"]!;
    t.equal((await ask(log, `?cursor=${own}`)).status, 200);
    for (const cursor of ["", "x", "0", own.slice(1), `${own}A`, `${own}=`, other, "%00", "null"]) {
      const refused = await ask(log, `?cursor=${cursor}`);
      t.equal(refused.status, 422, `${log} cursor "${cursor}"`);
      t.match(refused.json.message, /cursor/);
    }
  }
});

t.test("a cursor of another account, or one that was tampered with, shows rows of the own project only", async (t) => {
  const [one, two] = [await service.tenant("one"), await service.tenant("two")];
  const blocks = new Blocks(service.server.store, Date.now);
  for (const { project } of [one, two])
    for (let index = 0; index < 3; index++) record(blocks, await block(project.id, index));
  await blocks.flush();
  for (const tenant of [one, two]) {
    for (let index = 0; index < 3; index++) await service.ingest(tenant, batch(`cross${tenant.project.id}${index}`));
  }
  const sessions = await service.walk(`/v1/projects/${one.project.id}/sessions`, one.token, 100);
  const own = new Set(sessions.map(({ session_token }) => session_token));
  const page = async (tenant: typeof one, log: string, query: string) =>
    (await service.ask("GET", `/v1/projects/${tenant.project.id}/${log}?${query}`, { as: tenant.token })).json;
  for (const log of ["sessions", "blocks"]) {
    const foreign: string = (await page(two, log, "limit=1")).meta.next_cursor;
    const bytes = Buffer.from(foreign, "base64url");
    const cursors = [foreign];
    for (let at = 1; at < bytes.length; at++) {
      for (const value of [0x00, 0xff]) {
        const changed = Buffer.from(bytes);
        changed[at] = value;
        cursors.push(changed.toString("base64url"));
      }
    }
    for (const cursor of cursors) {
      const { data = [] } = await page(one, log, `limit=100&cursor=${cursor}`);
      const foreignRows = (data as { session_token: string }[]).filter(({ session_token }) => !own.has(session_token));
      if (log === "sessions") t.same(foreignRows, [], cursor);
      else t.ok(data.length <= 3, `${cursor}: ${data.length} blocks, the own ones at most`);
    }
    const reading = await service.ask("GET", `/v1/projects/${two.project.id}/${log}?cursor=${foreign}`, {
      as: one.token,
    });
    t.same([reading.status, reading.json.code], [403, undefined]);
  }
});

t.test("a session's row and detail say what its verdict says, and follow the threshold", async (t) => {
  const service = await startService(t, { "verdict-ttl": "0" });
  const one = await service.tenant("one");
  const bot = await service.ingest(one, batch("tool", 3), toolHeaders);
  const person = await service.ingest(one, batch("person", 2));
  for (const threshold of [30, 99, 1]) {
    await service.ask("PUT", `/v1/projects/${one.project.id}/scoring/settings`, {
      as: one.token,
      body: { likely_bot_threshold: threshold },
    });
    const rows = await service.walk(`/v1/projects/${one.project.id}/sessions`, one.token, 50);
    for (const [token, count] of [
      [bot, 3],
      [person, 2],
    ] as const) {
      const { json: verdict } = await service.ask("GET", `/v1/sessions/${token}/verdict`, { as: one.privateKey });
      const row = rows.find((each) => each.session_token === token);
      const said = { verdict: row.verdict, score: row.score, detection_ids: row.detection_ids };
      t.same(
        said,
        { verdict: verdict.verdict, score: verdict.score, detection_ids: verdict.detection_ids },
        `T = ${threshold}`,
      );
      t.equal(row.event_count, count);
      const { json: detail } = await detailOf(service, one, token);
      const { agent, ...same } = row;
      for (const [name, value] of Object.entries(same)) t.same(detail[name], value, `the detail has the row's ${name}`);
      t.match(detail.agent, agent, "the detail has the row's agent, with its evidence");
    }
  }
});

t.test("a session's detail names each detection with its contribution and evidence", async (t) => {
  const one = await service.tenant("one");
  const events = [
    { ...(batch("detail") as { events: object[] }).events[0]!, payload: { path: "/cart", host: "shop.example" } },
  ];
  const token = await service.ingest(one, { session_token: null, events }, toolHeaders);
  const { json: detail } = await detailOf(service, one, token);
  t.same(
    detail.detections.map((each: { id: number }) => each.id),
    detail.detection_ids,
    "the breakdown is of the verdict's detections, in its order",
  );
  const { json: catalogue } = await service.ask("GET", "/v1/detections");
  for (const { id, slug, engine, contribution, evidence } of detail.detections) {
    const known = catalogue.data.find((each: { id: number }) => each.id === id);
    t.match(known, { slug, engine });
    t.equal(contribution > 0, known.state === "scoring", `${slug} adds just when it scores`);
    t.ok(Object.keys(evidence).length > 0, `${slug} shows what it read`);
  }
  const agent = detail.detections.find((each: { slug: string }) => each.slug === "tool-user-agent");
  t.match(agent.evidence, { tool_agent: 2 });
  t.match(detail, { path: "/cart", ip: "127.0.0.1", user_agent: toolHeaders["user-agent"], logged_in_at: null });
  t.same(Object.keys(detail.engines).sort(), ["behavioral", "heuristics", "js_detection"]);
  t.equal(detail.engines.heuristics, detail.score);

  const asserted = await service.ask("POST", `/v1/sessions/${token}/logged-in`, { as: one.privateKey });
  t.equal((await detailOf(service, one, token)).json.logged_in_at, asserted.json.asserted_at);
});

t.test(
  "a session that is unknown, malformed or another project's is 404 without code, byte for byte alike",
  async (t) => {
    const one = await service.tenant("one");
    const two = await service.tenant("two");
    const foreign = await service.ingest(two, automatedBatch("foreign"));
    const answers = await Promise.all(
      [foreign, "sess_nobody", "nobody", "%ff"].map((token) => detailOf(service, one, token)),
    );
    for (const { status, json } of answers) {
      t.equal(status, 404);
      t.same(json, answers[0]!.json);
      t.notOk("code" in json);
    }
  },
);

function detailOf(service: Service, { project, token: as }: Tenant, token: string) {
  return service.ask("GET", `/v1/projects/${project.id}/sessions/${token}`, { as });
}

t.test(
  "the reference that a block page shows finds its block: computed, cached, by a proxy, without a session",
  async (t) => {
    const one = await service.tenant("references");
    const at = `/v1/projects/${one.project.id}`;
    const as = one.privateKey;
    const rule = { name: "bots", expression: "score < 30", action: "block" };
    await service.ask("POST", `${at}/rules`, { as: one.token, body: rule });
    await service.ask("PUT", `${at}/request-scoring`, { as: one.token, body: { enabled: true } });
    const session = await service.ingest(one, automatedBatch("referred"));
    const other = await service.ingest(one, automatedBatch("another"));
    const person = await service.ingest(one, batch("a-person"));
    const idOf = async (method: string, path: string, rest: object = {}) => {
      const { headers } = await service.ask(method, path, { as, ...rest });
      return headers.get("x-request-id")!;
    };
    const read = (token: string) => idOf("GET", `/v1/sessions/${token}/verdict`);
    const computed = await read(session);
    const cached = [await read(session), await read(session)];
    const elsewhere = await read(other);
    const allowed = await read(person);
    const request = { headers: [["user-agent", "curl/8"]], ip: "192.0.2.9" };
    const judged = await idOf("POST", "/v1/verdict", { body: { request } });
    const page = await service.ask("GET", "/v1/forward-auth", {
      as,
      headers: { accept: "text/html", "x-forwarded-uri": "/", "user-agent": "curl/8", "x-forwarded-for": "192.0.2.10" },
    });
    t.equal(page.status, 403);
    const find = async (reference: string) =>
      (await service.ask("GET", `${at}/blocks?reference=${reference}`, { as: one.token })).json;
    const block = (await find(computed)).data[0];
    t.match(block, { session_token: session, count: 1 });
    t.same(block.references, [computed, ...cached]);
    for (const reference of cached) t.same((await find(reference)).data, [block], "a cached answer's, too");
    t.match((await find(elsewhere)).data, [{ session_token: other }]);
    t.match((await find(judged)).data, [{ session_token: null, ip: "192.0.2.9", references: [judged] }]);
    t.match((await find(page.headers.get("x-request-id")!)).data, [{ session_token: null }]);
    const ask = { name: "ask", expression: 'path == "/asked"', action: "challenge", sort_order: -1 };
    await service.ask("POST", `${at}/rules`, { as: one.token, body: ask });
    const asked = await service.ask("GET", "/v1/forward-auth", {
      as,
      headers: {
        accept: "text/html",
        "x-forwarded-uri": "/asked",
        "user-agent": "curl/8",
        "x-forwarded-for": "192.0.2.11",
      },
    });
    const shown = asked.headers.get("x-request-id")!;
    t.match((await find(shown)).data, [{ session_token: null, action: "challenge", references: [shown] }]);
    const listed = (await service.ask("GET", `${at}/blocks`, { as: one.token })).json.data as {
      references: string[];
    }[];
    t.notOk(
      listed.some(({ references }) => references.includes(shown)),
      "a challenge is in no list of blocks",
    );
    for (const unknown of [allowed, "000000000000-0", ""]) {
      t.same(await find(unknown), { data: [], meta: { next_cursor: null } }, `"${unknown}" is nobody's`);
    }
    const two = await service.tenant("strangers");
    const foreign = await service.ask("GET", `/v1/projects/${two.project.id}/blocks?reference=${computed}`, {
      as: two.token,
    });
    t.same(foreign.json.data, [], "another project's blocks stay its own");
  },
);

t.test("marks of sessions are kept, counted by band and detection, walked, and gone with their session", async (t) => {
  const one = await service.tenant("marks");
  const at = `/v1/projects/${one.project.id}`;
  const as = one.token;
  const bot = await service.ingest(one, automatedBatch("marked-0"));
  const others = [];
  for (let index = 1; index < 6; index++) others.push(await service.ingest(one, batch(`marked-${index}`)));
  const mark = (token: string, what: string) =>
    service.ask("PUT", `${at}/sessions/${token}/mark`, { as, body: { as: what } });
  t.match(await mark(bot, "bot"), { status: 200, json: { as: "bot", verdict: "definite", user_id: one.user.id } });
  const { json: changed } = await mark(bot, "person");
  t.equal((await service.ask("GET", `${at}/sessions/${bot}`, { as })).json.mark.as, "person");
  await mark(others[0]!, "bot");
  for (const token of others.slice(1)) await mark(token, "person");
  const { totals } = (await service.ask("GET", `${at}/marks`, { as })).json;
  t.match(totals, { persons: 5, false_positives: 1, bots: 1, missed_bots: 1 });
  t.ok(changed.detection_ids.length > 0);
  t.same(
    totals.by_detection.map(({ id }: { id: number }) => id).sort(),
    [...changed.detection_ids].sort(),
    "by the detections that had fired",
  );
  const rows = await service.walk(`${at}/marks`, as, 2);
  t.same(tokensOf(rows), [...others.toReversed(), bot]);
  t.equal((await mark("sess_nobody", "bot")).status, 404);
  for (const body of [{}, { as: "cat" }, "{"]) {
    t.equal((await service.ask("PUT", `${at}/sessions/${bot}/mark`, { as, body })).status, 422);
  }
  const two = await service.tenant("markless");
  const foreign = `/v1/projects/${two.project.id}/sessions/${bot}/mark`;
  t.equal((await service.ask("PUT", foreign, { as: two.token, body: { as: "bot" } })).status, 404);
  const gone = `${at}/sessions/${others[0]}/mark`;
  t.equal((await service.ask("DELETE", gone, { as })).status, 204);
  t.equal((await service.ask("DELETE", gone, { as })).status, 404);
  const { store } = service.server;
  t.match(await eraseSession(store, bot), { marks: 1 });
  t.equal((await service.ask("GET", `${at}/marks`, { as })).json.totals.persons, 4);
  // In a cluster they expire by themselves, see `test/cluster-store/recorded/cluster-recorded-rows.test.ts`.
  if (isOnCluster) return;
  const dayMs = 24 * 3_600_000;
  const retention = { sessionMs: 400 * dayMs, sessionsMax: 1e6, blockMs: 30 * dayMs, trafficMs: 400 * dayMs };
  t.equal((await sweep(store, retention, Date.now() + 29 * dayMs)).marks, 0);
  t.equal((await sweep(store, retention, Date.now() + 31 * dayMs)).marks, 4, "as long as blocks");
  t.same((await service.ask("GET", `${at}/marks`, { as })).json.data, []);
});

t.test("changes of the configuration are logged: who, what, before and after, and never a secret", async (t) => {
  const one = await service.tenant("audit");
  const at = `/v1/projects/${one.project.id}`;
  const as = one.token;
  const draft = { name: "Audited", expression: "score < 30", action: "block", is_active: false };
  const { id } = (await service.ask("POST", `${at}/rules`, { as, body: draft })).json;
  await service.ask("PATCH", `${at}/rules/${id}`, { as, body: { is_active: true } });
  await service.ask("PATCH", `${at}/rules/${id}`, { as, body: { expression: "score <" } });
  await service.ask("DELETE", `${at}/rules/${id}`, { as });
  await service.ask("PUT", `${at}/scoring/settings`, { as, body: { likely_bot_threshold: 40 } });
  const { key } = (await service.ask("POST", `${at}/scoring/rotate`, { as, body: { type: "private" } })).json;
  const { account_token } = (await service.ask("POST", "/v1/tokens", { as, body: { abilities: ["projects:read"] } }))
    .json;
  good(await new Rules(service.server.store, Date.now).applyAll(one.project.id, []));
  const { data } = (await service.ask("GET", "/v1/audit?limit=100", { as })).json;
  const user = { id: one.user.id, name: "audit" };
  const subject = `rule ${id} "Audited"`;
  t.match(data.slice(0, 9), [
    { action: "rule.removed", user: null },
    { action: "rule.removed", user: null, before: { name: "Block definite bots" }, after: null },
    { action: "token.created", user, project_id: null, before: null, after: { abilities: ["projects:read"] } },
    { action: "key.rotated", user, subject: "private key", before: {}, after: { overlap_hours: 0 } },
    { action: "settings.changed", user, before: { likely_bot_threshold: 30 }, after: { likely_bot_threshold: 40 } },
    { action: "rule.removed", user, subject, before: { is_active: true }, after: null },
    { action: "rule.changed", user, subject, before: { is_active: false }, after: { is_active: true } },
    { action: "rule.created", user, project_id: one.project.id, before: null, after: draft },
    { user: null },
  ]);
  t.same(data[6].before, { is_active: false }, "only what differs, and no refused change");
  const all = JSON.stringify(data);
  for (const secret of [key, account_token, one.token, one.privateKey]) {
    t.notOk(all.includes(secret), "no secret");
    t.notOk(all.includes(createHash("sha256").update(secret).digest("hex")), "nor its hash");
  }
  const member = await service.ask("GET", "/v1/audit?limit=100", { as: account_token });
  t.same(member.json.data, data, "a reading token of an owner sees what the owner does");
  const { accounts } = service.server;
  good(await accounts.setMember(one.account.id, one.user.id, "viewer"));
  const seen = (await service.ask("GET", "/v1/audit?limit=100", { as: account_token })).json.data;
  t.ok(seen.length > 0 && seen.every((row: { project_id: number | null }) => row.project_id !== null), "no tokens");
  good(await accounts.setMember(one.account.id, one.user.id, "owner"));
  const ids: number[] = [];
  const times: string[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const more: string = cursor === "" ? "" : `&cursor=${cursor}`;
    const page = (await service.ask("GET", `/v1/audit?limit=4${more}`, { as })).json;
    ids.push(...page.data.map((row: { id: number }) => row.id));
    times.push(...page.data.map((row: { at: string }) => row.at));
    cursor = page.meta.next_cursor;
  }
  // Each group of changes has a log and numbers of its own, so their order is that of time.
  t.same(times, times.toSorted().toReversed());
  t.equal(new Set(ids).size, data.length + 2);
  t.equal(ids.length, data.length + 2);
  const two = await service.tenant("audit-other");
  const foreign = (await service.ask("GET", "/v1/audit?limit=100", { as: two.token })).json.data;
  t.notOk(JSON.stringify(foreign).includes("Audited"), "another account's changes stay its own");
});
