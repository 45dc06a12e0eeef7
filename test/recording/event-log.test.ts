/** The event log's file: its lines, reopening, and what becomes of lines that can't be written. */
import { execFileSync } from "node:child_process";
import { closeSync, constants, existsSync, openSync, readFileSync, readSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { limits } from "../../src/limits.js";
import { EventLog } from "../../src/recording/event-log.js";
import { batch, browserHeaders } from "../support/batches.js";
import { ChallengedVisitor, solutionOf } from "../support/challenges.js";
import { firstTenant, startServer } from "../support/server.js";
import { waitUntil } from "../support/wait-until.js";

/** The whole lines of a file that may be empty still, or being written to. */
const linesOf = (file: string) =>
  readFileSync(file, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));

t.test("lines are versioned, and go to a new file after a rotation", async (t) => {
  const file = join(t.testdir(), "events.log");
  const log = new EventLog({ file, onDropped: () => t.fail("dropped"), onFailure: (error) => t.fail(String(error)) });
  t.teardown(() => log.close());
  log.record({ type: "block", at: "a", project_id: 1 });
  await log.flush();
  renameSync(file, `${file}.1`);
  log.record({ type: "block", at: "b", project_id: 1 });
  await log.flush();
  t.notOk(existsSync(file));
  log.reopen();
  log.record({ type: "block", at: "c", project_id: 1 });
  await log.flush();
  t.match(linesOf(`${file}.1`), [
    { version: 1, at: "a" },
    { version: 1, at: "b" },
  ]);
  t.match(linesOf(file), [{ version: 1, type: "block", at: "c", project_id: 1 }]);
});

t.test("lines beyond the bound, and lines of a file that can't be written, are dropped and counted", async (t) => {
  let dropped = 0;
  let faults = 0;
  const parts = { onDropped: (lines: number) => (dropped += lines), onFailure: () => faults++ };
  const nowhere = new EventLog({ file: join(t.testdir(), "none", "events.log"), ...parts });
  for (let count = 0; count < 3; count++) nowhere.record({ type: "block", at: "a", project_id: 1 });
  await nowhere.flush();
  t.same({ dropped, faults }, { dropped: 3, faults: 1 });
  dropped = 0;
  const full = new EventLog({ file: "/dev/full", ...parts });
  full.record({ type: "x", at: "a", project_id: 1, text: "x".repeat(limits.eventLogBytesMax - 100) });
  full.record({ type: "x", at: "a", project_id: 1, text: "x".repeat(100) });
  t.equal(dropped, 1, "no room while the first waits");
  await full.close();
  t.equal(dropped, 2);
});

t.test("a pipe that nobody reads is no wait, and after a failure the next try is a second later", async (t) => {
  const file = join(t.testdir(), "pipe");
  execFileSync("mkfifo", [file]);
  let dropped = 0;
  const log = new EventLog({ file, onDropped: (lines) => (dropped += lines), onFailure: () => {} });
  t.teardown(() => log.close());
  log.record({ type: "block", at: "a", project_id: 1 });
  await log.flush();
  t.equal(dropped, 1);
  rmSync(file);
  log.record({ type: "block", at: "b", project_id: 1 });
  t.equal(dropped, 2);
  log.reopen();
  log.record({ type: "block", at: "c", project_id: 1 });
  await log.flush();
  t.match(linesOf(file), [{ at: "c" }]);
});

t.test("a line that was cut short spoils none after it", async (t) => {
  const file = join(t.testdir(), "pipe");
  execFileSync("mkfifo", [file]);
  const reader = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  t.teardown(() => closeSync(reader));
  let dropped = 0;
  const log = new EventLog({ file, onDropped: (lines) => (dropped += lines), onFailure: () => {} });
  t.teardown(() => log.close());
  // More than a pipe holds: the rest of the line is refused, as by a full disk.
  log.record({ type: "x", at: "a", project_id: 1, text: "x".repeat(2 ** 20) });
  await log.flush();
  t.equal(dropped, 1);
  const bytes = Buffer.alloc(2 ** 20);
  const cut = bytes.toString("utf8", 0, readSync(reader, bytes));
  t.notOk(cut.endsWith("\n"));
  log.reopen();
  log.record({ type: "block", at: "b", project_id: 1 });
  await log.flush();
  const [rest, line] = bytes.toString("utf8", 0, readSync(reader, bytes)).split("\n");
  t.equal(rest, "");
  t.match(JSON.parse(line!), { version: 1, at: "b" });
});

t.test("a server's threads log blocks, challenges and changes, without secrets, and follow a rotation", async (t) => {
  const folder = t.testdir({ store: {} });
  const file = join(folder, "events.log");
  const flags = ["--event-log", file, "--ip-storage", "truncated", "--http-threads", "2"];
  const server = await startServer(t, flags, join(folder, "store"));
  const tenant = await firstTenant(server);
  const P = `/v1/projects/${tenant.projectId}`;
  await server.ask("PUT", `${P}/request-scoring`, { token: tenant.token, body: { enabled: true } });
  await server.ask("PUT", `${P}/challenge`, { token: tenant.token, body: { enabled: true, difficulty: "low" } });
  const draft = { name: "r", expression: 'path == "/login"', action: "block" };
  const rule = (await server.ask("POST", `${P}/rules`, { token: tenant.token, body: draft })).json;
  let asked = 0;
  const block = async (): Promise<void> => {
    const path = `/login?password=hunter2&n=${++asked}`;
    const request = { method: "POST", path, host: "shop.example", ip: "198.51.100.7", headers: {} };
    const { json } = await server.ask("POST", "/v1/verdict", { token: tenant.privateKey, body: { request } });
    t.equal(json.action, "block");
  };
  await block();
  const ofType = (type: string, of = file) => (existsSync(of) ? linesOf(of).filter((line) => line.type === type) : []);
  const [blocked] = await waitUntil(
    async () => ofType("block"),
    ({ length }) => length > 0,
  );
  t.match(blocked, {
    version: 1,
    project_id: tenant.projectId,
    subject: "request",
    session_token: null,
    rule_id: rule.id,
    method: "POST",
    host: "shop.example",
    path: "/login",
    ip: "198.51.100.0",
  });
  const [change] = ofType("change").filter(({ action }) => action === "rule.created");
  t.match(change, { project_id: tenant.projectId, account_id: tenant.accountId, after: { action: "block" } });

  renameSync(file, `${file}.1`);
  server.child.kill("SIGHUP");
  await server.logged("nothing to reload: TLS is off");
  // A new connection each, so that both threads are asked.
  await waitUntil(
    async () => {
      await block();
      return ofType("block");
    },
    ({ length }) => length >= 8,
  );
  // A line is written a moment after its answer.
  const lines = async () => ofType("block").length + ofType("block", `${file}.1`).length;
  t.equal(await waitUntil(lines, (count) => count >= asked), asked, "none is lost");

  const visitor = new ChallengedVisitor(server, tenant);
  const headers = { ...browserHeaders, "x-service-site-key": tenant.siteKey };
  const session = (await server.ask("POST", "/v1/events", { headers, body: batch("visitor") })).json.session_token;
  await waitUntil(
    () => server.scoredState(tenant.projectId, session),
    (state) => state !== null,
  );
  await visitor.report(session);
  const puzzles = await visitor.issue(session);
  t.equal(puzzles.status, 200);
  t.equal((await visitor.send(session, await solutionOf(puzzles.json))).status, 200);
  const [passed] = await waitUntil(
    async () => ofType("challenge_passed"),
    ({ length }) => length > 0,
  );
  const told = { project_id: tenant.projectId, session_token: session, rule_id: null, ip: "127.0.0.0" };
  t.match(ofType("challenge_shown"), [{ ...told, user_agent: browserHeaders["user-agent"] }]);
  t.match(passed, { ...told, took_ms: Number });
  const text = readFileSync(file, "utf8") + readFileSync(`${file}.1`, "utf8");
  for (const secret of [tenant.privateKey, tenant.token, "hunter2"]) t.notOk(text.includes(secret));
});
