/** What an operator meets on a cluster: TLS and passwords in files, a start before the cluster, outages, metrics, work that one node does for all. */

import { readFileSync, writeFileSync } from "node:fs";
import t from "tap";
import { AgentRefresh } from "../../src/bots/signed/agent-refresh.js";
import { ClusterClient } from "../../src/cluster/cluster-client.js";
import { parseStoreUrl, type StoreUrl } from "../../src/cluster/store-url.js";
import { ClusterLeases } from "../../src/cluster-store/cluster-leases.js";
import { ConfigFollower } from "../../src/cluster-store/config/config-follower.js";
import { ConfigState } from "../../src/cluster-store/config/config-state.js";
import { openConfig } from "../../src/cluster-store/config/open-config.js";
import { Accounts } from "../../src/control-plane/accounts/accounts.js";
import { UnavailableError } from "../../src/errors.js";
import { openStore } from "../../src/store/open-store.js";
import { storeFile } from "../../src/store/store-file.js";
import { signInto } from "../ops/certificates.js";
import { batch, browserHeaders } from "../support/batches.js";
import { freePort } from "../support/free-port.js";
import { command, serve } from "../support/process.js";
import { type RedisNode, startRedis } from "../support/redis-cluster.js";
import { waitUntil } from "../support/wait-until.js";

/** A server asked before it has said its port. */
const statusOf = (port: number, path: string): Promise<number> =>
  fetch(`http://127.0.0.1:${port}${path}`).then(
    ({ status }) => status,
    () => 0,
  );

// They wait for clusters and for what runs out most of their time.
t.jobs = 4;

t.test("a cluster behind TLS: an authority and a password from files; a wrong one is one clear line", async (t) => {
  const folder = t.testdir();
  const own = signInto(folder, "engine");
  const other = signInto(folder, "other");
  const redis = await startRedis(t, { masters: 3, replicas: 0, password: "p@ss/word", tls: own });
  const store = redis.url.replace(/\/\/[^@]*@/, "//");
  writeFileSync(`${folder}/password`, "p@ss/word\n");
  const env = { VERDICTD_STORE: store, VERDICTD_STORE_ACKS: "0", VERDICTD_STORE_PASSWORD_FILE: `${folder}/password` };
  const init = (more: NodeJS.ProcessEnv) =>
    command(["init", "--json", "--data-dir", `${folder}/mirror`], { ...env, ...more });

  const unknown = await init({});
  t.equal(unknown.code, 1);
  t.match(unknown.stderr, /certificate.*--store-ca FILE/);
  const wrong = await init({ VERDICTD_STORE_CA: other.certificate });
  t.match(wrong.stderr, /certificate.*--store-ca FILE/);
  t.equal(wrong.stderr.trim().split("\n").length, 1);
  const key = await init({ VERDICTD_STORE_CA: own.key });
  t.match(key, { code: 2, stderr: /--store-ca: .* holds no certificate in PEM/ });
  const plain = await init({ VERDICTD_STORE: store.replace("rediss", "redis"), VERDICTD_STORE_CA: own.certificate });
  t.match(plain, { code: 2, stderr: /--store-ca: --store is without TLS/ });
  const twice = await init({ VERDICTD_STORE: redis.url, VERDICTD_STORE_CA: own.certificate });
  t.match(twice, { code: 2, stderr: /--store-password: the URL of --store has a password as well/ });
  writeFileSync(`${folder}/wrong`, "nobody's");
  const refused = await init({ VERDICTD_STORE_CA: own.certificate, VERDICTD_STORE_PASSWORD_FILE: `${folder}/wrong` });
  t.match(refused.stderr, /WRONGPASS.*Is the password that of the default user/);
  t.notMatch(refused.stderr, /nobody's/);

  const made = await init({ VERDICTD_STORE_CA: own.certificate });
  t.match(made, { code: 0, stdout: /account_token/ });
  const server = await serve(t, `${folder}/mirror`, { env: { ...env, VERDICTD_STORE_CA: own.certificate } });
  t.equal((await server.ask("GET", "/readyz")).status, 200);
  // Scoring threads have connections of their own.
  const token: string = JSON.parse(made.stdout).account_token;
  const scoring = await server.ask("POST", "/v1/projects/1/scoring", { token });
  const sent = await server.ask("POST", "/v1/events", {
    headers: { ...browserHeaders, "x-service-site-key": scoring.json.site_key },
    body: batch("over-tls"),
  });
  t.equal(sent.status, 202);
  t.equal(await server.end("SIGTERM"), 0);
});

t.test("before the cluster is there a node says that it is not ready; later outages keep it in", async (t) => {
  const redis = await startRedis(t, { masters: 3, replicas: 0 });
  const folder = t.testdir();
  const env = { VERDICTD_STORE: redis.url, VERDICTD_STORE_ACKS: "0" };
  const made = await command(["init", "--json", "--data-dir", folder], env);
  const token: string = JSON.parse(made.stdout).account_token;
  await Promise.all(redis.nodes.map((node) => node.kill()));

  const port = await freePort();
  // An outage is said once, in however many threads it is seen.
  const starting = serve(t, folder, { env, port, flags: ["--http-threads", "2", "--scoring-threads", "4"] });
  t.equal(
    await waitUntil(
      () => statusOf(port, "/readyz"),
      (status) => status === 503,
    ),
    503,
  );
  t.equal(await statusOf(port, "/healthz"), 200);
  t.equal(await statusOf(port, "/v1/projects"), 503);
  await Promise.all(redis.nodes.map((node) => node.restart()));
  await redis.waitOk();
  const server = await starting;
  t.match(
    server.log.filter(({ level }) => level === "error").map(({ msg }) => msg),
    ["the cluster can't be reached: waiting for it, not ready"],
  );
  t.equal((await server.ask("GET", "/readyz")).status, 200);

  const { json: keys } = await server.ask("POST", "/v1/projects/1/scoring", { token });
  const headers = { ...browserHeaders, "x-service-site-key": keys.site_key };
  const first = await server.ask("POST", "/v1/events", { headers, body: batch("before-it") });
  t.equal(first.status, 202);
  const before = await server.metricsOnce((seen) => seen.sum("verdictd_cluster_round_trips_total") > 0);
  t.ok(before.sum("verdictd_cluster_config_age_seconds") < 60);

  await Promise.all(redis.nodes.map((node) => node.kill()));
  const sent = await server.ask("POST", "/v1/events", { headers, body: batch("while-it-is-away") });
  t.equal(sent.status, 503, "the SDK sends it again");
  const session = first.json.session_token;
  const verdict = await server.ask("GET", `/v1/sessions/${session.slice(0, -1)}A/verdict`, { token: keys.private_key });
  t.match([verdict.status, verdict.json.action], [200, "allow"]);
  t.match(verdict.json.reason, /the store did not answer in time/);
  t.equal((await server.ask("GET", "/readyz")).status, 200, "taken out of the balancer, nobody would be let in");
  const moved = await server.metricsOnce(
    (seen) => seen.sum("verdictd_cluster_failures_total") > 0 && seen.sum("verdictd_cluster_config_age_seconds") > 2,
  );
  t.ok(moved.sum("verdictd_cluster_failures_total") > before.sum("verdictd_cluster_failures_total"));
  t.ok(moved.sum("verdictd_cluster_deadline_misses_total") > before.sum("verdictd_cluster_deadline_misses_total"));
  t.ok(moved.sum("verdictd_cluster_retries_total") >= before.sum("verdictd_cluster_retries_total"));
  t.ok(moved.sum("verdictd_cluster_config_age_seconds") > 2, "it grows while nothing is heard");
  const isRefusedAtOnce = async (): Promise<boolean> => {
    const misses = async () => (await server.metrics()).sum("verdictd_cluster_deadline_misses_total");
    const count = await misses();
    const { status } = await server.ask("POST", "/v1/events", { headers, body: batch("while-it-is-given-up") });
    return status === 503 && (await misses()) === count;
  };
  t.ok(await waitUntil(isRefusedAtOnce, (isIt) => isIt), "after a while no batch waits for a deadline any more");
  const refused = await waitUntil(
    () => server.ask("GET", "/v1/projects", { token }),
    ({ json }) => json.message === "the cluster does not answer: ask again",
  );
  t.match(refused, { status: 503, json: { message: "the cluster does not answer: ask again" } });

  await Promise.all(redis.nodes.map((node) => node.restart()));
  await redis.waitOk();
  const again = await waitUntil(
    () => server.ask("POST", "/v1/events", { headers, body: batch("while-it-is-away") }),
    ({ status }) => status === 202,
  );
  t.equal(again.status, 202);
  await waitUntil(
    async () => (await server.ask("GET", "/v1/projects", { token })).status,
    (status) => status === 200,
  );
  const isOver = () => server.log.some(({ msg }) => msg === "batches are accepted again");
  const send = () => server.ask("POST", "/v1/events", { headers, body: batch("after-it") });
  t.ok(
    await waitUntil(
      async () => (await send()) && isOver(),
      (isIt) => isIt,
    ),
    "the log says that batches are accepted",
  );
  t.match(
    server.log
      .filter(({ msg }) => msg === "batches are refused with 503: the cluster fails")
      .map(({ reason }) => reason),
    [/127\.0\.0\.1:\d+/],
    "and that they were refused, once, and by whom",
  );
  await server.end("SIGTERM");
  const said = server.log.filter(
    ({ level, msg, reason, err }) =>
      level === "error" && (reason ?? err) !== undefined && msg !== "batches are refused with 503: the cluster fails",
  );
  t.ok(said.length > 0 && said.length <= 3 && said.every(({ err }) => err === undefined), "an outage is a line or two");
  t.ok(
    server.log.some(({ msg }) => msg === "the configuration of the cluster is up to date again"),
    "and so is its end",
  );
});

t.test("a damaged mirror is said to be made again, to commands in a line and by the log at a start", async (t) => {
  const damaged = t.testdir();
  writeFileSync(storeFile(damaged), Buffer.alloc(8192, 1));
  const named = ["--store", "redis://127.0.0.1:1", "--data-dir", damaged];
  const mended =
    /verdictd\.mdb is no store .*: the mirror of a cluster is made again from it: move \/.* away, then run/;
  t.match(await command(["token", "list", "--account", "1", ...named]), { code: 1, stderr: mended });
  const start = await command(["serve", ...named, "--port", "0", "--admin-port", "0"]);
  t.match(JSON.parse(start.stderr), { level: "fatal", reason: mended, msg: "could not start" });
});

t.test("a wait for the cluster can be ended, and what is wrong with it ends it", async (t) => {
  const port = await freePort();
  const waiting = await serve(t, t.testdir(), {
    env: { VERDICTD_STORE: `redis://127.0.0.1:${await freePort()}` },
    port,
    until: "the cluster can't be reached: waiting for it, not ready",
  });
  const adminPort = Number(waiting.log.find(({ adminPort }) => adminPort !== undefined)?.["adminPort"]);
  const readiness = async (of: number) => (await fetch(`http://127.0.0.1:${of}/readyz`)).json();
  t.same(await readiness(port), { status: "not ready", waiting_for: "the cluster, which can't be reached" });
  t.match(
    await readiness(adminPort),
    {
      status: "not ready",
      waiting_for: /^the cluster redis:\/\/127\.0\.0\.1:\d+: .*connect ECONNREFUSED 127\.0\.0\.1:\d+$/,
    },
    "the admin address says why",
  );
  t.same([await statusOf(adminPort, "/readyz"), await statusOf(adminPort, "/healthz")], [503, 200]);
  t.equal(await waiting.end("SIGTERM"), 0, "told to stop, it did");
  t.equal(await statusOf(port, "/readyz"), 0);
});

t.test("a replica is missing, then the memory is full: the configuration says why, and asks seldom", async (t) => {
  const redis = await startRedis(t, { masters: 1, replicas: 1 });
  const [master, replica] = redis.nodes as [RedisNode, RedisNode];
  const client = new ClusterClient({ url: parseStoreUrl(redis.url) as StoreUrl });
  const folder = t.testdir();
  const store = openStore(folder);
  const state = new ConfigState();
  const config = await openConfig(store, { client, acks: 1, name: "the test's", fault: () => state.fault });
  const faults: unknown[] = [];
  const follower = new ConfigFollower({ ...config, state, onFault: (error) => faults.push(error) });
  await follower.start();
  t.teardown(async () => {
    await follower.stop();
    client.close();
    await store.close();
  });
  const accounts = new Accounts(config.store, Date.now);
  const seen = (isDone: (fault: string | null) => boolean) => waitUntil(async () => state.fault, isDone);
  await replica.kill();
  const before = { ...client.meters };
  const isTold = (fault: string | null) =>
    fault?.startsWith("too few replicas of the cluster acknowledge the conf") ?? false;
  t.ok(isTold(await seen(isTold)), "the lease has run out, and why");
  const after = client.meters;
  t.ok(after.roundTrips - before.roundTrips < 50, `${after.roundTrips - before.roundTrips} round trips`);
  const missing = after.acknowledgementsMissing - before.acknowledgementsMissing;
  t.ok(missing >= 1 && missing <= 3, `what is tried again counts once: ${missing}`);
  t.match(faults.at(-1), {
    reason: "unacknowledged",
    message: /^127\.0\.0\.1:\d+: 0 of the 1 replicas that must acknowledge what is written have done so$/,
  });

  const env = { VERDICTD_STORE: redis.url };
  const lacking = /127\.0\.0\.1:\d+ has no replica, but one must acknowledge each write/;
  const none = `${folder}/first`;
  t.match(await command(["init", "--data-dir", none], env), { code: 1, stderr: lacking });
  const first = await command(["serve", "--data-dir", none, "--port", "0", "--admin-port", "0"], env);
  t.match(JSON.parse(first.stderr), { level: "fatal", reason: lacking }, "a first start is refused in one line");
  const port = await freePort();
  const until = "the cluster lacks replicas: waiting for it, not ready";
  const restarted = await serve(t, folder, { env, port, until });
  const said = restarted.log.find(({ msg }) => msg === until);
  t.match(said, { level: "error", faults: [lacking] }, "a restart waits for it");
  const readyz = await fetch(`http://127.0.0.1:${port}/readyz`);
  t.equal(readyz.status, 503);
  t.same(await readyz.json(), { status: "not ready", waiting_for: "the cluster, which lacks replicas" });
  const why = await fetch(`http://127.0.0.1:${said?.["adminPort"]}/readyz`);
  t.match(await why.json(), { waiting_for: lacking });

  await replica.restart();
  const ready = waitUntil(
    () => statusOf(port, "/readyz"),
    (status) => status === 200,
  );
  t.equal(await seen((fault) => fault === null), null);
  t.equal(faults.at(-1), null);
  t.equal(await ready, 200, "and starts when it is back");
  await restarted.end("SIGTERM");

  await master.ask("CONFIG", "SET", "maxmemory", "1000000");
  const user = await accounts.createUser("Ann", "ann@example.com");
  t.match(user, { name: "Ann" }, "a full memory takes changes of the configuration, which has a bound of its own");
  t.equal(state.fault, null);
});

t.test("one node at a time fetches the keys of signed agents, another when it has gone", async (t) => {
  const redis = await startRedis(t, { masters: 3, replicas: 0 });
  const leases = [0, 1].map(() => {
    const client = new ClusterClient({ url: parseStoreUrl(redis.url) as StoreUrl });
    t.teardown(() => client.close());
    return { client, lease: new ClusterLeases(client) };
  });
  const fetched: string[] = [];
  const refresh = (name: string, { lease }: (typeof leases)[number]) =>
    new AgentRefresh({
      keeper: {
        listed: () => [{ url: "https://agent.example", keys: null } as never],
        setFetched: async () => {},
      },
      fetch: async () => {
        fetched.push(name);
        return { failure: "not there" };
      },
      now: Date.now,
      mayFetch: () => lease.take("agents", 500),
    });
  const [one, two] = [refresh("one", leases[0]!), refresh("two", leases[1]!)];
  await one.look();
  await two.look();
  t.same(fetched, ["one"]);
  t.equal(await leases[0]!.lease.take("agents", 500), true, "its holder keeps it");
  t.equal(await leases[1]!.lease.take("others", 500), true, "another work is another's");
  await waitUntil(
    async () => {
      await two.look();
      return fetched.length;
    },
    (count) => count === 2,
  );
  t.same(fetched, ["one", "two"], "once the lease has run out");
  leases[0]!.client.close();
  await t.rejects(leases[0]!.lease.take("agents", 500), UnavailableError);
});

t.test("the documentation names every option of the cluster", async (t) => {
  const page = readFileSync(new URL("../../../src/docs/cluster.md", import.meta.url), "utf8");
  for (const option of [
    "store",
    "store-acks",
    "store-deadline-ms",
    "store-durable",
    "store-ca",
    "store-cert",
    "store-key",
  ]) {
    t.ok(page.includes(`--${option}`), option);
  }
});
