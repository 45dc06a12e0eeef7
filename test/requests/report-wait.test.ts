/** Waiting for a report with `wait_ms`, against a server with two HTTP threads and two scoring threads. */
import { connect } from "node:net";
import t from "tap";
import type { ProjectSettings } from "../../src/contract/sessions/session.js";
import { ReportWait } from "../../src/requests/report-wait.js";
import { batch, browserHeaders } from "../support/batches.js";
import { firstTenant, startServer } from "../support/server.js";
import { type AskingProject, askingProject, navigation } from "./asking.js";

const server = await startServer(t, ["--http-threads", "2", "--scoring-threads", "2"]);
const tenant = await firstTenant(server);
const project = await askingProject(server, tenant);
await project.enable();
const page = { method: "POST", path: "/buy", ip: "203.0.113.7", headers: navigation };

const none = { expect: () => {}, has: () => false };
/** The waits that are made here ask for none of its settings. */
const anyProject = { id: 1 } as ProjectSettings;
const judge = (of: AskingProject, more: object) =>
  server.ask("POST", "/v1/verdict", { token: of.privateKey, body: { request: page, ...more } });
const issued = async (): Promise<string> => (await judge(project, { issue_token: true })).json.session_token;
const report = (token: string, prefix: string) =>
  server.ask("POST", "/v1/events", {
    headers: { ...browserHeaders, "x-service-site-key": project.siteKey },
    body: { ...batch(prefix, 3), session_token: token },
  });

t.test("a wait_ms that is none is 422", async (t) => {
  for (const wait of [-1, 1001, 1.5, "400", null, true, [], {}]) {
    t.equal((await judge(project, { wait_ms: wait })).status, 422, JSON.stringify(wait));
  }
  for (const wait of [0, 1000]) t.equal((await judge(project, { wait_ms: wait })).status, 200, String(wait));
});

t.test("the answer waits for a report that comes meanwhile, and for no other", async (t) => {
  for (let round = 0; round < 4; round++) {
    const token = await issued();
    const waiting = judge(project, { session_token: token, wait_ms: 1000 });
    await report(token, `waited-${round}-`);
    t.match((await waiting).json, { subject: "session" }, "whichever threads took question and report");
  }
  const token = await issued();
  t.match((await judge(project, { session_token: token, wait_ms: 20 })).json, { subject: "request", action: "allow" });
});

t.test("nobody waits for reports that were scored", async (t) => {
  const reported = await issued();
  for (let round = 0; round < 3; round++) {
    await report(reported, `scored-${round}-`);
    const order: string[] = [];
    const silent = await issued();
    await Promise.all(
      Object.entries({ silent, reported }).map(async ([name, session_token]) => {
        await judge(project, { session_token, wait_ms: 500 });
        order.push(name);
      }),
    );
    t.same(order, ["reported", "silent"]);
  }
});

t.test("there is no wait under a token that no report can come under", async (t) => {
  const other = await askingProject(server, tenant);
  await other.enable();
  const foreign = (await judge(other, { issue_token: true })).json.session_token;
  const forged = `sess_${"A".repeat(foreign.length - 5)}`;
  // The one that has a report to wait for is asked first: were the others to wait, it would not be answered last.
  const token = await issued();
  const order: string[] = [];
  const asked = { issued: token, foreign, forged, none: "sess_" };
  await Promise.all(
    Object.entries(asked).map(async ([name, session_token]) => {
      t.match((await judge(project, { session_token, wait_ms: 1000 })).json, { subject: "request" }, name);
      order.push(name);
    }),
  );
  t.equal(order.at(-1), "issued");
});

t.test("a client that goes leaves nothing behind", async (t) => {
  const token = await issued();
  const body = JSON.stringify({ request: page, session_token: token, wait_ms: 1000 });
  const socket = connect(server.port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write(
    `POST /v1/verdict HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${project.privateKey}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await new Promise((resolve) => setImmediate(resolve));
  socket.destroy();
  t.match(
    (await judge(project, { session_token: token, wait_ms: 1000 })).json,
    { subject: "request" },
    "and the server goes on",
  );
});

t.test("a wait ends at a look, at its limit, when nobody waits, and where nothing can be read", async (t) => {
  const reads: string[] = [];
  let state: { scored: boolean; lastSeenMs: number } | null = null;
  const underWay = new Set<string>();
  let nowMs = 10_000;
  const wait = new ReportWait({
    state: (_, token) => {
      reads.push(token);
      return state;
    },
    mayReport: () => true,
    underWay: { expect: () => {}, has: (token) => underWay.has(token) },
    now: () => nowMs,
  });
  t.equal(
    wait.wait(anyProject, "t", 0, () => false),
    null,
  );
  state = { scored: true, lastSeenMs: 9990 };
  t.equal(
    wait.wait(anyProject, "t", 500, () => false),
    null,
    "it reported with the question",
  );
  state = { scored: true, lastSeenMs: 8000 };
  const overtaken = wait.wait(anyProject, "t", 60_000, () => false);
  t.ok(overtaken, "it reported in the last 2 s, and a report may be just behind the question");
  nowMs += 25;
  await overtaken;
  nowMs = 10_000;
  let isAnswered = false;
  const behind = wait
    .wait(anyProject, "t", 60_000, () => false)!
    .then(() => {
      isAnswered = true;
    });
  underWay.add("t");
  nowMs += 1000;
  for (const looks = reads.length + 3; reads.length < looks; ) await new Promise((resolve) => setImmediate(resolve));
  t.notOk(isAnswered, "the one that came behind it is waited for");
  underWay.delete("t");
  await behind;
  nowMs = 10_000;
  for (const old of [null, { scored: false, lastSeenMs: 9999 }, { scored: true, lastSeenMs: 7999 }]) {
    state = old;
    const waiting = wait.wait(anyProject, "t", 60_000, () => false);
    t.ok(waiting, JSON.stringify(old));
    state = { scored: true, lastSeenMs: 10_001 };
    await waiting;
  }
  state = { scored: true, lastSeenMs: 9999 };
  underWay.add("t");
  const waiting = wait.wait(anyProject, "t", 60_000, () => false);
  t.ok(waiting, "it reported just now, and its next report has arrived");
  t.equal(
    wait.wait(anyProject, "other", 60_000, () => false),
    null,
    "another session's is no reason",
  );
  underWay.delete("t");
  await waiting;
  state = null;
  await wait.wait(anyProject, "t", 30, () => false);
  await wait.wait(anyProject, "t", 60_000, () => true);
  t.ok(reads.length > 3);
  const broken = new ReportWait({
    state: () => {
      throw new Error("no store");
    },
    mayReport: () => true,
    underWay: none,
    now: () => 0,
  });
  t.equal(
    broken.wait(anyProject, "t", 500, () => false),
    null,
  );
  const slow = new ReportWait({
    state: () => null,
    load: () => new Promise(() => {}),
    mayReport: () => true,
    underWay: none,
    now: () => 0,
  });
  await slow.wait(anyProject, "t", 20, () => false);
});

t.test("only so many wait at once", async (t) => {
  const wait = new ReportWait({ state: () => null, mayReport: () => true, underWay: none, now: () => 0 });
  let isOver = false;
  const waits = Array.from({ length: 600 }, () => wait.wait(anyProject, "t", 60_000, () => isOver));
  t.equal(waits.filter((each) => each === null).length, 100);
  isOver = true;
  await Promise.all(waits);
  t.ok(
    wait.wait(anyProject, "t", 1, () => true),
    "and there is room again",
  );
});
