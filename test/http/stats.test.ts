/** `stats`: what was counted, in whole buckets of UTC without gaps, within bounds. */
import t from "tap";
import { hourOf } from "../../src/store/keys.js";
import { batch } from "../support/batches.js";
import { seenOnce } from "../support/test-store.js";
import { type Service, startService, type Tenant, toolHeaders } from "./service.js";

/** One server for all tests but those that want flags of their own; each has tenants of its own. */
const service = await startService(t);

const hourMs = 3_600_000;

function stats(service: Service, { project, token: as }: Tenant, query = "") {
  return service.ask("GET", `/v1/projects/${project.id}/stats${query}`, { as });
}

interface Row {
  at: string;
  events: number;
  sessions: number;
  verdicts: Record<string, number>;
  actions: Record<string, number>;
}

/** Two hours that hold 5 and 7 events, an hour apart on one day, and a day later one of 11. */
async function someTraffic(service: Service, { project }: Tenant): Promise<void> {
  const { counts } = service.server.store;
  const hour = (at: string, events: number) => ({
    projectId: project.id,
    hour: hourOf(Date.parse(at)),
    traffic: { events, sessions: 1, verdicts: { definite: 2 }, actions: { block: 1, allow: 1 } },
  });
  await counts.add([
    hour("2026-03-10T04:00:00Z", 5),
    hour("2026-03-10T06:00:00Z", 7),
    hour("2026-03-11T23:00:00Z", 11),
  ]);
}

t.test("hits of rules are counted by hour, and batches that follow take nothing away", async (t) => {
  const one = await service.tenant("hits");
  const at = `/v1/projects/${one.project.id}`;
  const made = async (name: string, expression: string, action: string, sort_order: number) =>
    (await service.ask("POST", `${at}/rules`, { as: one.token, body: { name, expression, action, sort_order } })).json
      .id;
  const logged = await made("Log all", "score < 100", "log", 1);
  const blocked = await made("Block bots", "score < 30", "block", 2);
  const unmatched = await made("Nobody", 'path == "/nobody"', "block", 0);
  await service.ask("PUT", `${at}/request-scoring`, { as: one.token, body: { enabled: true } });
  const before = Date.now();
  const bot = await service.ingest(one, batch("bot"), toolHeaders);
  const person = await service.ingest(one, batch("person"));
  for (const session of [bot, person]) {
    await service.ask("GET", `/v1/sessions/${session}/verdict`, { as: one.privateKey });
  }
  const body = { request: { headers: [["user-agent", "curl/8"]], ip: "192.0.2.1" } };
  t.equal((await service.ask("POST", "/v1/verdict", { as: one.privateKey, body })).status, 200);
  const sums = async () => {
    const rows = (await stats(service, one, "?by=rule")).json.data;
    const sum: Record<string, { sessions: number; requests: number; last_at: string }> = {};
    for (const { hits_by_rule } of rows)
      for (const [rule, hits] of Object.entries<{ sessions: number; requests: number; last_at: string }>(
        hits_by_rule,
      )) {
        const { sessions = 0, requests = 0 } = sum[rule] ?? {};
        sum[rule] = { ...hits, sessions: sessions + hits.sessions, requests: requests + hits.requests };
      }
    return {
      sum,
      requests: rows.reduce((all: number, row: { requests: Row }) => all + row.requests.actions["block"]!, 0),
    };
  };
  const { sum, requests } = await sums();
  t.match(sum[logged], { sessions: 2, requests: 1 });
  t.match(sum[blocked], { sessions: 1, requests: 1 });
  t.notOk(unmatched in sum, "a rule that matched nothing is not there");
  t.ok(Date.parse(sum[blocked]!.last_at) >= before && Date.parse(sum[blocked]!.last_at) <= Date.now());
  t.equal(requests, 1);
  await service.ingest(one, batch("later"));
  t.same(await sums(), { sum, requests }, "a batch adds to the row of the hour");
  const { json } = await stats(service, one);
  t.notOk(
    json.data.some((row: object) => "hits_by_rule" in row),
    "only when asked for",
  );
});

t.test("ingest and verdict reads are in the counts of the hour at once", async (t) => {
  const one = await service.tenant("one");
  const from = new Date(Math.floor(Date.now() / hourMs) * hourMs).toISOString();
  const bot = await service.ingest(one, batch("bot", 4), toolHeaders);
  await service.ingest(one, batch("person", 2));
  for (const session of [bot, bot, "sess_nobody"]) {
    await service.ask("GET", `/v1/sessions/${session}/verdict`, { as: one.privateKey });
  }
  const total = (of: (row: Row) => number) => rows.reduce((sum, row) => sum + of(row), 0);
  let rows: Row[] = [];
  await seenOnce(
    async () => {
      rows = (await stats(service, one, `?from=${from}`)).json.data;
      return total(({ events }) => events);
    },
    (events) => events >= 6,
  );
  t.equal(
    total((row) => row.events),
    6,
  );
  t.equal(
    total((row) => row.sessions),
    2,
  );
  t.equal(
    total((row) => row.verdicts["definite"]!),
    2,
  );
  t.equal(
    total((row) => row.verdicts["not_computed"]!),
    1,
  );
  t.equal(
    total((row) => row.actions["allow"]!),
    3,
  );
});

t.test("hours without traffic are there, with zeros", async (t) => {
  const one = await service.tenant("one");
  await someTraffic(service, one);
  const rows: Row[] = (await stats(service, one, "?from=2026-03-10T03:59:59Z&to=2026-03-10T07:00:00Z")).json.data;
  t.same(
    rows.map((row) => [row.at, row.events]),
    [
      ["2026-03-10T03:00:00.000Z", 0],
      ["2026-03-10T04:00:00.000Z", 5],
      ["2026-03-10T05:00:00.000Z", 0],
      ["2026-03-10T06:00:00.000Z", 7],
    ],
  );
  t.same(rows[1]!.actions, { allow: 1, challenge: 0, block: 1, log: 0, delay: 0 });
  t.same(Object.values(rows[0]!.verdicts), [0, 0, 0, 0, 0, 0]);
});

t.test("days add up their hours, by UTC", async (t) => {
  const one = await service.tenant("one");
  await someTraffic(service, one);
  for (const span of ["from=2026-03-09&to=2026-03-12", "from=2026-03-09T12:00:00Z&to=2026-03-11T23:30:00%2B00:00"]) {
    const rows: Row[] = (await stats(service, one, `?bucket=day&${span}`)).json.data;
    t.same(
      rows.map((row) => [row.at, row.events, row.verdicts["definite"]]),
      [
        ["2026-03-09T00:00:00.000Z", 0, 0],
        ["2026-03-10T00:00:00.000Z", 12, 4],
        ["2026-03-11T00:00:00.000Z", 11, 2],
      ],
    );
  }
});

t.test("without a span it is the last day of hours, or the last 30 days", async (t) => {
  const one = await service.tenant("one");
  const hours: Row[] = (await stats(service, one)).json.data;
  t.ok(hours.length === 24 || hours.length === 25, `${hours.length} hours`);
  const days: Row[] = (await stats(service, one, "?bucket=day")).json.data;
  t.ok(days.length === 30 || days.length === 31, `${days.length} days`);
  t.ok(Date.parse(days.at(-1)!.at) <= Date.now());
  t.equal((await stats(service, one, "?to=2026-03-10T04:00:00Z")).json.data[0].at, "2026-03-09T04:00:00.000Z");
});

t.test("another project's traffic is not counted", async (t) => {
  const one = await service.tenant("one");
  const two = await service.tenant("two");
  await someTraffic(service, one);
  const rows: Row[] = (await stats(service, two, "?bucket=day&from=2026-03-01&to=2026-03-20")).json.data;
  t.equal(
    rows.reduce((sum, row) => sum + row.events, 0),
    0,
  );
});

t.test("bad values are refused and name their parameter", async (t) => {
  const one = await service.tenant("one");
  const cases: [string, RegExp][] = [
    ["bucket=week", /bucket/],
    ["bucket=", /bucket/],
    ["bucket=toString", /bucket/],
    ["from=yesterday", /from/],
    ["from=", /from/],
    ["from=2026-02-30", /from/],
    ["from=2026-13-01", /from/],
    ["from=2026-03-01T25:00:00Z", /from/],
    ["from=1772323200", /from/],
    ["to=tomorrow", /to must/],
    ["from=2026-03-02&to=2026-03-01", /before/],
    ["from=2026-03-01&to=2026-03-01", /before/],
    ["from=2026-03-01&to=2026-04-02", /750/],
    ["bucket=day&from=2020-01-01&to=2026-01-01", /750/],
    ["from=0001-01-01&to=9999-12-31", /750/],
  ];
  for (const [query, message] of cases) {
    const { status, json } = await stats(service, one, `?${query}`);
    t.equal(status, 422, query);
    t.match(json, { code: "INVALID_PAYLOAD", message }, query);
  }
  t.equal((await stats(service, one, "?from=2026-03-01&to=2026-04-01T06:00:00Z")).json.data.length, 750);
});
