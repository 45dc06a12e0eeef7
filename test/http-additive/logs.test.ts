/** The logs of sessions and blocks: order, pages, cursors, and what a row says. */
import t from "tap";
import type { Block } from "../../src/contract/entities.js";
import { Blocks } from "../../src/control-plane/blocks.js";
import { automatedBatch, batch } from "../support/batches.js";
import { putSession } from "../support/stored-session.js";
import { type Service, startService, type Tenant, toolHeaders } from "./service.js";

/** One server for all tests but those that want flags of their own; each has tenants of its own. */
const service = await startService(t);

const tokensOf = (rows: { session_token: string }[]) => rows.map((row) => row.session_token);

/** A block of a session of its own. */
function block(projectId: number, index: number): Omit<Block, "id"> {
  return {
    projectId,
    sessionToken: putSession(service.server.store, projectId, Date.now(), index),
    verdict: "definite",
    score: 1,
    reason: "Because.",
    detectionIds: [100101],
    source: "rule",
    ruleId: 1,
    path: null,
    createdAt: new Date().toISOString(),
  };
}

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
  const blocks = new Blocks(service.server.store);
  const tokens: string[] = [];
  for (let index = 0; index < 7; index++) {
    const own = block(one.project.id, index);
    tokens.push(own.sessionToken);
    blocks.record(own);
    blocks.record(block(two.project.id, 100 + index));
    if (index % 3 === 0) await blocks.flush();
  }
  await blocks.flush();
  const path = `/v1/projects/${one.project.id}/blocks`;
  const rows = await service.walk(path, one.token, 3, async () => {
    blocks.record(block(one.project.id, 50));
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
  const blocks = new Blocks(service.server.store);
  for (let index = 0; index < 51; index++) blocks.record(block(one.project.id, index));
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
      for (const [name, value] of Object.entries(row)) t.same(detail[name], value, `the detail has the row's ${name}`);
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
