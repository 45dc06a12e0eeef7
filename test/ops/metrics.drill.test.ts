/** The exposition against traffic whose numbers are known, over several HTTP and scoring threads of the real process. */
import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import t from "tap";
import { batch, browserHeaders, event } from "../support/batches.js";
import type { Owner } from "../support/owner.js";
import { serve } from "../support/process.js";
import { RawClient, rawRequest } from "../support/raw-socket.js";
import { isOnCluster } from "../support/test-store.js";
import { client, robotBatch, tenantOf } from "./traffic.js";

const server = await serve(t, t.testdir(), { flags: ["--http-threads", "2", "--scoring-threads", "2"] });

const tenant = await tenantOf(server);

t.test("metrics add up over all threads", async (t) => {
  const { ask, ingest } = client(server, tenant);
  const before = await server.metrics();
  const sessions: string[] = [];
  for (let index = 0; index < 20; index++) {
    const answer = await ingest(index % 4 === 0 ? robotBatch(`robot${index}`) : batch(`human${index}`, 2));
    sessions.push(answer.json.session_token);
  }
  const again = await ingest(batch("human1", 2, sessions[1]!));
  t.match(again.json, { accepted: 0, duplicates: 2 });
  t.equal((await ingest({ session_token: null, events: [] })).status, 422);
  t.equal((await ingest({ session_token: null, events: [event("aaaaaaaa", { nonsense: 1 })] })).status, 422);
  t.equal((await ingest(batch("stranger"), { "x-service-site-key": "pk_unknown" })).status, 401);
  await blockRobots(tenant, ask);
  for (const token of sessions) {
    const read = () => ask("GET", `/v1/sessions/${token}/verdict`, { token: tenant.privateKey });
    t.equal((await read()).status, 200);
    await read();
    await read();
  }
  await ask("GET", "/v1/sessions/sess_nobody/verdict", { token: tenant.privateKey });
  await ask("GET", "/nowhere");
  await leaveEarly(server.port);
  await ask("DELETE", "/v1/events");
  const blocking = { action: "block", source: "computed" };
  // A block is recorded after its verdict was answered.
  const after = await server.metricsOnce(
    ({ sum }) =>
      sum("verdictd_blocks_recorded_total") >= sum("verdictd_verdicts_total", blocking) &&
      sum("verdictd_http_requests_total", { status: "aborted" }) > 0,
  );
  const grown = (name: string, labels: Record<string, string> = {}): number => {
    return after.sum(name, labels) - before.sum(name, labels);
  };

  const ingestRoute = { route: "/v1/events", method: "POST" };
  const verdictRoute = { route: "/v1/sessions/:session_token/verdict", method: "GET" };
  t.equal(grown("verdictd_http_requests_total", { ...ingestRoute, status: "202" }), 21);
  t.equal(grown("verdictd_http_requests_total", { ...ingestRoute, status: "422" }), 2);
  t.equal(grown("verdictd_http_requests_total", { ...ingestRoute, status: "401" }), 1);
  t.equal(grown("verdictd_http_requests_total", { ...ingestRoute, status: "aborted" }), 1);
  t.equal(grown("verdictd_http_requests_total", { ...verdictRoute, status: "200" }), 61);
  t.equal(grown("verdictd_http_requests_total", { route: "/*", method: "other", status: "404" }), 1);
  t.equal(grown("verdictd_http_requests_total", { route: "/v1/events", method: "other", status: "405" }), 1);
  t.equal(grown("verdictd_http_request_duration_seconds_count", verdictRoute), 61);
  t.equal(grown("verdictd_http_request_duration_seconds_bucket", { ...verdictRoute, le: "+Inf" }), 61);
  t.ok(grown("verdictd_http_request_duration_seconds_sum", verdictRoute) > 0);

  t.equal(grown("verdictd_ingest_events_total", { result: "accepted" }), 40);
  t.equal(grown("verdictd_ingest_events_total", { result: "duplicate" }), 2);
  t.equal(grown("verdictd_ingest_batches_total", { result: "accepted" }), 20);
  t.equal(grown("verdictd_ingest_batches_total", { result: "duplicate" }), 1);
  t.equal(grown("verdictd_ingest_batches_total", { result: "rejected" }), 3);
  t.equal(grown("verdictd_ingest_rejected_total", { code: "INVALID_PAYLOAD" }), 2);
  t.equal(grown("verdictd_ingest_rejected_total", { code: "UNAUTHENTICATED" }), 1);
  t.equal(grown("verdictd_scoring_lag_seconds_count"), 21, "a lag for every batch that was committed");
  t.equal(grown("verdictd_scoring_batches_total"), 23, "those that only a worker can refuse were at a worker");
  t.ok(grown("verdictd_scoring_tasks_total") > 0);
  t.ok(grown("verdictd_scoring_busy_seconds_total") > 0);

  t.equal(grown("verdictd_verdicts_total"), 61);
  t.equal(grown("verdictd_verdicts_total", { source: "fail_open" }), 1);
  t.ok(grown("verdictd_verdicts_total", { source: "cached" }) >= 20, "of three reads two meet the same thread");
  t.ok(grown("verdictd_verdicts_total", { action: "block" }) >= 5);
  t.equal(
    grown("verdictd_blocks_recorded_total"),
    grown("verdictd_verdicts_total", blocking),
    "a block is recorded for every computed verdict that blocks",
  );
  t.equal(
    grown("verdictd_detections_fired_total", { slug: "navigator-webdriver", engine: "heuristics" }),
    5,
    "a detection is counted once for each session that it fires on",
  );
  // A cluster's are counted once a minute: see `test/drills/cluster-commands.test.ts`.
  if (!isOnCluster) t.equal(after.sum("verdictd_sessions_stored"), 20);
  t.equal(after.sum("verdictd_http_threads"), 2);
  t.equal(after.sum("verdictd_scoring_threads"), 2);
  t.equal(after.sum("verdictd_queue_batches"), 0);
  t.equal(after.sum("verdictd_queue_bytes"), 0);
  t.ok(after.sum("verdictd_store_bytes") > 0);
  t.same(
    after.samples
      .filter(({ name, labels }) => name === "verdictd_event_loop_delay_seconds" && labels["quantile"] === "1")
      .map(({ labels }) => labels["thread"]),
    ["http-0", "http-1"],
    "every thread shows its event loop",
  );
});

t.test("the exposition keeps the format's rules", async (t) => {
  const answer = await server.admin("/metrics");
  t.match(answer.headers.get("content-type"), /^text\/plain; version=0\.0\.4/);
  const { samples, types } = await server.metrics();
  const seen = new Set<string>();
  for (const { name, labels, value } of samples) {
    const family = types.has(name) ? name : name.replace(/_(bucket|sum|count)$/, "");
    if (!types.has(family)) t.fail(`${name} has no TYPE`);
    if (types.get(family) === "counter" && name.startsWith("verdictd_")) t.match(name, /_total$/);
    if (types.get(family) === "counter" && !(value >= 0)) t.fail(`${name} is ${value}`);
    const series = `${name} ${JSON.stringify(Object.entries(labels).sort())}`;
    if (seen.has(series)) t.fail(`twice: ${series}`);
    seen.add(series);
  }
  t.ok(samples.length > 200, "there are samples to check");
  const lag = samples
    .filter(({ name }) => name === "verdictd_scoring_lag_seconds_bucket")
    .map(({ labels }) => labels["le"]);
  t.same(lag.at(-1), "+Inf");
  t.equal((await fetch(`http://127.0.0.1:${server.port}/metrics`)).status, 404, "clients have no metrics");
});

t.test("batches under load are counted as sampled and shed", async (t) => {
  const server = await serve(t, t.testdir(), {
    flags: ["--queue-mb", "1", "--sample-above-mb", "1", "--scoring-threads", "1"],
  });
  const { siteKey } = await tenantOf(server);
  const heavy = (id: string) => {
    const points = Array.from({ length: 256 }, (_, index) => [index * 16, index, index]);
    const events = Array.from({ length: 40 }, (_, index) => ({
      ...event(`${id}-${1000 + index}`, { points }),
      type: "mouse",
    }));
    const headers = { ...browserHeaders, "X-Service-Site-Key": siteKey };
    return rawRequest("POST", "/v1/events", headers, JSON.stringify({ session_token: null, events }));
  };
  // Sent while the server sleeps, so that all of it is there when it wakes up: clients on a busy machine might be slower than it is.
  server.child.kill("SIGSTOP");
  const clients = await Promise.all(Array.from({ length: 40 }, () => RawClient.open(server.port)));
  await Promise.all(clients.map((client, index) => client.write(heavy(`heavy${index}`))));
  server.child.kill("SIGCONT");
  const answers = await Promise.all(clients.map((client) => client.answer()));
  for (const client of clients) client.leave();
  const shed = answers.filter((answer) => answer?.status === 204).length;
  const { sum } = await server.metrics();
  t.equal(sum("verdictd_ingest_batches_total", { result: "shed" }), shed);
  t.equal(sum("verdictd_ingest_batches_total", { result: "accepted" }), answers.length - shed);
  t.ok(shed > 0, "the load was enough to shed");
});

t.test("with an admin token only those who know it read metrics, and everybody reads health", async (t) => {
  const folder = t.testdir({ secret: "correct horse\n", data: {} });
  const env = { VERDICTD_ADMIN_TOKEN_FILE: `${folder}/secret` };
  const server = await serve(t, `${folder}/data`, { env });
  const withToken = (token: string) => server.admin("/metrics", { headers: { authorization: `Bearer ${token}` } });
  t.equal((await server.admin("/metrics")).status, 401);
  t.equal((await withToken("wrong")).status, 401);
  t.equal((await withToken("correct horse")).status, 200);
  t.equal((await server.admin("/healthz")).status, 200);
  t.equal((await server.admin("/metrics", { method: "POST" })).status, 405);
  t.equal((await server.admin("/v1/account")).status, 404, "nothing of the API is there");
});

/** Announces a batch and goes before it is sent. */
async function leaveEarly(port: number): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  socket.write("POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{");
  await once(socket, "ready");
  socket.end();
  socket.resume();
  await once(socket, "close");
}

async function blockRobots(tenant: Owner, ask: ReturnType<typeof client>["ask"]): Promise<void> {
  const body = { name: "robots", expression: "score < 30", action: "block", is_active: true };
  await ask("POST", `/v1/projects/${tenant.projectId}/rules`, { token: tenant.token, body });
}

t.test(
  "without a token, metrics are for loopback names only: no page may read them by rebinding its name",
  async (t) => {
    const metricsAs = (host: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const asked = request(
          { port: server.adminPort, host: "127.0.0.1", path: "/metrics", headers: { host } },
          (answer) => {
            answer.resume().on("end", () => resolve(answer.statusCode));
          },
        );
        asked.on("error", reject).end();
      });
    for (const host of ["127.0.0.1", "localhost:9464", "[::1]:9464", `127.0.0.1:${server.adminPort}`, "me.localhost"]) {
      t.equal(await metricsAs(host), 200, host);
    }
    for (const host of [
      "rebound.example",
      "127.0.0.1.rebound.example",
      "localhost.rebound.example:9464",
      "203.0.113.9",
    ]) {
      t.equal(await metricsAs(host), 421, host);
    }
  },
);

t.test("metrics hold no credential, session token or address of a visitor", async (t) => {
  const { ask, ingest } = client(server, tenant);
  const { session_token: session } = (await ingest(batch("secretive"))).json;
  await ask("GET", `/v1/sessions/${session}/verdict?ip=203.0.113.77`, { token: tenant.privateKey });
  await ask("GET", `/v1/account?token=${tenant.token}`, { token: tenant.token });
  const text = await (await server.admin("/metrics")).text();
  for (const secret of [session, tenant.privateKey, tenant.siteKey, tenant.token, "203.0.113"]) {
    t.notOk(text.includes(secret), secret.slice(0, 5));
  }
});
