/** Exceptions over HTTP: whom they let through, from when until when, what is refused and warned of, and what is left of them. */
import t from "tap";
import { Exceptions } from "../../src/control-plane/exceptions/exceptions.js";
import { limits } from "../../src/limits.js";
import { recordControlPlane } from "../../src/store/control-plane-changes.js";
import { automatedBatch, batch, browserHeaders } from "../support/batches.js";
import { startService, type Tenant } from "./service.js";

const service = await startService(t, { "trusted-proxies": "127.0.0.0/8" });
const { store } = service.server;
const hourMs = 3_600_000;
const inAnHour = () => new Date(Date.now() + hourMs).toISOString();

/** A tenant whose one rule blocks every session and every judged request. */
async function blocking(name: string) {
  const one = await service.tenant(name);
  const at = `/v1/projects/${one.project.id}`;
  const body = { name: "Everybody", expression: "score > 0", action: "block", sort_order: -1 };
  await service.ask("POST", `${at}/rules`, { as: one.token, body });
  await service.ask("PUT", `${at}/request-scoring`, { as: one.token, body: { enabled: true } });
  return { ...one, at: `${at}/exceptions` };
}

const make = (one: Tenant & { at: string }, subject: object, more: object = {}) =>
  service.ask("POST", one.at, { as: one.token, body: { subject, expires_at: inAnHour(), ...more } });
const verdictOf = async (one: Tenant, token: string, headers: Readonly<Record<string, string>> = {}) =>
  (await service.ask("GET", `/v1/sessions/${token}/verdict`, { as: one.privateKey, headers })).json;
const judge = async (one: Tenant, request: object) =>
  (await service.ask("POST", "/v1/verdict", { as: one.privateKey, body: { request } })).json;

t.test(
  "a session is let through at once, says why and until when, and no longer once the exception is gone",
  async (t) => {
    const one = await blocking("session");
    const token = await service.ingest(one, batch("except00", 3));
    const other = await service.ingest(one, batch("except01", 3));
    t.equal((await verdictOf(one, token)).action, "block");
    const expires_at = inAnHour();
    const made = await make(one, { session_token: token }, { expires_at, note: "order 4711", reference: "ref-1" });
    t.equal(made.status, 201);
    t.match(made.json, { subject: { session_token: token }, expires_at, note: "order 4711", reference: "ref-1" });
    t.notOk("warning" in made.json);
    t.match(await verdictOf(one, token), { action: "allow", reason: `Let through until ${expires_at}: order 4711` });
    t.equal((await verdictOf(one, other)).action, "block", "nobody else");
    const listed = await service.ask("GET", one.at, { as: one.token });
    t.same(listed.json, { data: [made.json], meta: { next_cursor: null } });
    t.equal((await service.ask("DELETE", `${one.at}/${made.json.id}`, { as: one.token })).status, 204);
    t.equal((await verdictOf(one, token)).action, "block");
    t.equal((await service.ask("DELETE", `${one.at}/${made.json.id}`, { as: one.token })).status, 404);
    const { json: log } = await service.ask("GET", "/v1/audit?kind=exception", { as: one.token });
    t.same(
      log.data.map(({ action }: { action: string }) => action),
      ["exception.removed", "exception.created"],
    );
    t.match(log.data[1].after, { expires_at, note: "order 4711", reference: "ref-1" });
    t.notOk(JSON.stringify(log).includes(token), "the log of changes names no session");
  },
);

const asAgent = (name: string) => ({ headers: [["User-Agent", name]] });
const requests = {
  ip: { subject: { ip: "2001:DB8::7" }, in: { ip: "2001:db8::7" }, out: { ip: "2001:db8::8" } },
  network: { subject: { network: "198.51.100.0/25" }, in: { ip: "198.51.100.127" }, out: { ip: "198.51.100.128" } },
  "user agent": {
    subject: { user_agent: "Monitor/1.0 (+https://shop.example)" },
    in: asAgent("Monitor/1.0 (+https://shop.example)"),
    out: asAgent("Monitor/1.0 (+https://shop.exampl)"),
  },
  agent: { subject: { agent: "gptbot" }, in: asAgent("GPTBot/1.2"), out: asAgent("CCBot/2.0") },
};

for (const [name, { subject, in: inside, out }] of Object.entries(requests)) {
  t.test(`an exception for a ${name} lets its requests through and no others`, async (t) => {
    const one = await blocking("request");
    t.equal((await judge(one, inside)).action, "block");
    const { status, json } = await make(one, subject);
    t.equal(status, 201);
    t.same(json.subject, subject, "as it was given");
    t.match(await judge(one, inside), { action: "allow", reason: `Let through until ${json.expires_at}.` });
    t.equal((await judge(one, out)).action, "block");
    t.equal((await judge(one, {})).action, "block");
  });
}

t.test("an exception for an agent does not let through who only takes its name", async (t) => {
  const one = await blocking("spoofed");
  const { json } = await make(one, { agent: "gptbot" });
  const reason = `Let through until ${json.expires_at}.`;
  t.match(await judge(one, asAgent("GPTBot/1.2")), { action: "allow", reason });
  const spoofed = await judge(one, { ...asAgent("GPTBot/1.2"), ip: "192.0.2.1" });
  t.equal(spoofed.action, "block", "its operator has no such address");
  t.notOk("agent" in spoofed);
});

t.test("an address counts as the request's or else as the session's own", async (t) => {
  const one = await blocking("own");
  const token = await service.ingest(one, batch("except02", 3), { "x-forwarded-for": "203.0.113.9" });
  await make(one, { network: "203.0.113.0/24" });
  t.equal((await verdictOf(one, token)).action, "allow");
  t.equal((await verdictOf(one, token, { "x-service-client-ip": "192.0.2.1" })).action, "block");
});

t.test("what is no exception is refused with the field's name, and nothing is stored", async (t) => {
  const one = await blocking("refused");
  const subjects = [
    {},
    { ip: "203.0.113.1", agent: "x" },
    { ip: "203.0.113.0/24" },
    { ip: "shop.example" },
    { ip: "" },
    { network: "203.0.113.1" },
    { network: "203.0.113.1/24" },
    { network: "203.0.113.0/33" },
    { session_token: "sess_none" },
    { session_token: 5 },
    { user_agent: "" },
    { user_agent: "x".repeat(513) },
    { agent: "" },
    { cookie: "x" },
    { ip: "203.0.113.1", cookie: "x" },
  ];
  for (const subject of subjects) {
    const { status, json } = await make(one, subject);
    t.same([status, json.code], [422, "INVALID_PAYLOAD"], JSON.stringify(subject));
    t.match(json.message, /subject/);
  }
  const inAYear = new Date();
  inAYear.setUTCFullYear(inAYear.getUTCFullYear() + 1);
  const year = inAYear.getTime() - Date.now();
  const times = [
    "",
    "tomorrow",
    5,
    null,
    "2020-01-01T00:00:00Z",
    new Date(Date.now() + year + 12 * hourMs).toISOString(),
  ];
  for (const expires_at of times) {
    t.match(await make(one, { agent: "x" }, { expires_at }), { status: 422, json: { message: /expires_at/ } });
  }
  t.equal((await make(one, { agent: "x" }, { note: "x".repeat(501) })).status, 422);
  for (const note of ["a\u0000b", "a\nb", "a\u202eb", "\u2066x\u2069", "\u200fx", "\u2028"])
    t.match(await make(one, { agent: "x" }, { note }), { status: 422, json: { message: /^note must/ } }, escape(note));
  t.match(await make(one, { agent: "x" }, { reference: "a\tb" }), { status: 422, json: { message: /^reference/ } });
  t.equal((await make(one, { agent: "x" }, { reference: "" })).status, 422);
  t.equal((await service.ask("POST", one.at, { as: one.token, body: "{" })).status, 422);
  t.same((await service.ask("GET", one.at, { as: one.token })).json.data, []);
  t.equal((await make(one, { agent: "x" }, { note: "x".repeat(500) })).status, 201);
  const far = new Date(Date.now() + 365 * 24 * hourMs).toISOString();
  t.equal((await make(one, { agent: "y" }, { expires_at: far })).status, 201);
  const other = await blocking("refused-other");
  const { json } = await make(other, { agent: "x" });
  t.equal((await service.ask("DELETE", `${one.at}/${json.id}`, { as: one.token })).status, 404, "another project's");
});

t.test("a definite bot can be let through, with a warning, and so can a name that anybody can copy", async (t) => {
  const one = await blocking("warned");
  const bot = await service.ingest(one, automatedBatch("except03"), { "x-forwarded-for": "192.0.2.77" });
  t.equal((await verdictOf(one, bot)).verdict, "definite");
  const session = await make(one, { session_token: bot });
  t.match(session, { status: 201, json: { warning: /definite/ } });
  t.equal((await verdictOf(one, bot)).action, "allow");
  t.match((await make(one, { ip: "192.0.2.77" })).json, { warning: /definite/ });
  await service.ingest(one, batch("except04", 3), { "x-forwarded-for": "192.0.2.78" });
  t.notOk("warning" in (await make(one, { ip: "192.0.2.78" })).json);
  t.notOk("warning" in (await make(one, { ip: "192.0.2.79" })).json, "never seen");
  for (const network of ["0.0.0.0/0", "::/0", "10.0.0.0/8"])
    t.match((await make(one, { network })).json, { warning: /Very many visitors/ }, network);
  t.notOk("warning" in (await make(one, { network: "192.0.2.0/24" })).json);
  t.match((await make(one, { agent: "CCBot" })).json, { warning: /Anybody/ });
  t.match((await make(one, { agent: "Our monitor" })).json, { warning: /^No list/ });
  const [signed] = (await service.ask("GET", "/v1/agents", {})).json.data.filter(
    ({ certainties }: { certainties: string[] }) => certainties.join() === "signed",
  );
  t.notOk("warning" in (await make(one, { agent: signed.name })).json, signed.name);
});

t.test("an exception for a session is erased with it, and expired ones by the sweep", async (t) => {
  const one = await blocking("erased");
  const tokens: string[] = [];
  for (const prefix of ["except05", "except06", "except07"]) {
    const token = await service.ingest(one, batch(prefix, 3));
    tokens.push(token);
    await make(one, { session_token: token });
  }
  await make(one, { agent: "stays" }, { expires_at: new Date(Date.now() + 3 * hourMs).toISOString() });
  const left = () =>
    [...store.exceptions.getRange({ start: [one.project.id, 0], end: [one.project.id + 1, 0] })].length;
  t.equal(left(), 4);
  await service.ask("DELETE", `/v1/projects/${one.project.id}/sessions/${tokens[0]}`, { as: one.token });
  t.equal(left(), 3);
  const body = { expression: "event_count == 3", from: new Date(Date.now() - hourMs).toISOString() };
  const deleted = await service.ask("POST", `/v1/projects/${one.project.id}/sessions/delete`, { as: one.token, body });
  t.match(deleted, { status: 200, json: { deleted: 2 } });
  t.equal(left(), 1);
  const token = await service.ingest(one, batch("except08", 3));
  await make(one, { session_token: token });
  t.equal(await new Exceptions(store, Date.now).sweep(), 0, "those that hold stay");
  t.equal(left(), 2);
  await new Exceptions(store, () => Date.now() + 2 * hourMs).sweep();
  t.equal(left(), 1, "erased once its time was over");
  await make(one, { agent: "orphan" });
  await recordControlPlane(store, () => {
    const [row] = [...store.exceptions.getRange({ start: [one.project.id, 0], end: [one.project.id + 1, 0] })];
    const gone = { ...row!.value, kind: "session_token", value: tokens[0]! } as const;
    store.exceptions.putSync(row!.key, gone);
  });
  t.equal(await new Exceptions(store, Date.now).sweep(), 1, "its session went by itself");
  t.equal(left(), 1);
});

t.test("an exception ends at its time, in the cache too", async (t) => {
  const one = await blocking("ends");
  const token = await service.ingest(one, batch("except09", 3));
  const expires_at = new Date(Date.now() + 1500).toISOString();
  await make(one, { session_token: token }, { expires_at });
  let action = "";
  do action = (await verdictOf(one, token)).action;
  while (action !== "block" && Date.now() < Date.parse(expires_at) + 20_000);
  t.equal(action, "block");
  t.same((await service.ask("GET", one.at, { as: one.token })).json.data, [], "nor is it listed");
});

t.test("pages, and a project's thousand", async (t) => {
  const one = await blocking("thousand");
  const { json: first } = await make(one, { ip: "192.0.2.1" });
  await recordControlPlane(store, () => {
    const row = store.exceptions.get([one.project.id, first.id])!;
    for (let id = 100_000; id < 100_000 + limits.exceptionsPerProjectMax - 1; id++) {
      store.exceptions.putSync([one.project.id, id], { ...row, id });
    }
  });
  const ids = (await service.walk(one.at, one.token, 100)).map(({ id }) => id);
  t.equal(new Set(ids).size, limits.exceptionsPerProjectMax);
  t.equal((await make(one, { ip: "192.0.2.2" })).status, 409);
  for (const query of ["limit=0", "limit=101", "cursor=x"]) {
    t.equal((await service.ask("GET", `${one.at}?${query}`, { as: one.token })).status, 422, query);
  }
  t.equal(
    (await judge(one, { ip: "192.0.2.1", headers: [["User-Agent", browserHeaders["user-agent"]]] })).action,
    "allow",
  );
});
