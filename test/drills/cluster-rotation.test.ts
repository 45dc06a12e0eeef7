/** A node beside a cluster that is changed under it: a shard is away at its start, the password is rotated while it runs, it ends in an outage. */
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import t from "tap";
import { keySlot } from "../../src/cluster/slots.js";
import { signInto } from "../ops/certificates.js";
import { batch, browserHeaders } from "../support/batches.js";
import { command, serve } from "../support/process.js";
import { startRedis } from "../support/redis-cluster.js";
import { waitUntil } from "../support/wait-until.js";

t.test(
  "a node that is started while one shard is away serves the others; at its end it says what is lost",
  async (t) => {
    const cluster = await startRedis(t, { replicas: 0, settings: [["cluster-require-full-coverage", "no"]] });
    const folder = t.testdir();
    const env = { VERDICTD_STORE: cluster.url, VERDICTD_STORE_ACKS: "0" };
    const made = await command(["init", "--json", "--data-dir", folder], env);
    const { account_token: token } = JSON.parse(made.stdout);
    const ofConfig = await cluster.masterOf(keySlot("vd{config}head"));
    const away = cluster.nodes.find(({ address }) => address !== ofConfig.address)!;
    await away.kill();
    const node = await serve(t, folder, { env, flags: ["--drain-seconds", "0"] });
    t.match(await node.logged("the cluster lacks shards: serving the others"), { level: "error" });
    t.equal((await node.ask("GET", "/readyz")).status, 200);
    const { json: keys } = await node.ask("POST", "/v1/projects/1/scoring", { token });
    const headers = { ...browserHeaders, "x-service-site-key": keys.site_key };
    const sent = async (index: number): Promise<number> => {
      const body = batch(`shard${String(index).padStart(2, "0")}-0`);
      return (await node.ask("POST", "/v1/events", { headers, body })).status;
    };
    const statuses = new Set(await Promise.all(Array.from({ length: 30 }, (_, index) => sent(index))));
    t.ok([...statuses].every((status) => status === 202 || status === 503));
    const next = await waitUntil(
      () => sent(30),
      (status) => status === 202,
    );
    t.equal(next, 202, "sessions of the others are stored");

    await Promise.all(cluster.nodes.map((each) => each.kill()));
    const path = `/v1/sessions/sess_${"A".repeat(28)}/verdict`;
    t.match((await node.ask("GET", path, { token: keys.private_key })).json, { action: "allow" });
    t.equal(await node.end("SIGTERM"), 0);
    const lost = await node.logged("what is counted here is lost: the store did not take it before the end");
    t.ok((lost["verdicts"] as number) >= 1);
    t.match(lost, { blocks: 0, judgedRows: 0, timelineBatches: Number });
  },
);

t.test("the password is rotated while a node runs", async (t) => {
  const cluster = await startRedis(t, { replicas: 0 });
  const onAll = (...words: string[]) => Promise.all(cluster.nodes.map((each) => each.ask(...words)));
  await onAll("ACL", "SETUSER", "verdictd", "on", ">old", "+@all", "~*");
  const folder = t.testdir({ password: "old\n", mirror: {} });
  const env = {
    VERDICTD_STORE: cluster.url.replace("redis://", "redis://verdictd@"),
    VERDICTD_STORE_ACKS: "0",
    VERDICTD_STORE_PASSWORD_FILE: `${folder}/password`,
  };
  const made = await command(["init", "--json", "--data-dir", `${folder}/mirror`], env);
  const { account_token: token } = JSON.parse(made.stdout);
  const node = await serve(t, `${folder}/mirror`, { env });
  const { json: keys } = await node.ask("POST", "/v1/projects/1/scoring", { token });
  const headers = { ...browserHeaders, "x-service-site-key": keys.site_key };
  const sent = async () => (await node.ask("POST", "/v1/events", { headers, body: batch("rotated0") })).status;
  t.equal(await sent(), 202);

  await onAll("ACL", "SETUSER", "verdictd", ">new");
  writeFileSync(`${folder}/password`, "new\n");
  await onAll("ACL", "SETUSER", "verdictd", "<old");
  await onAll("CLIENT", "KILL", "USER", "verdictd");
  t.equal(await waitUntil(sent, (status) => status === 202), 202, "new connections have the new password");
  const up = await node.metricsOnce((seen) => seen.sum("verdictd_cluster_engine_up") === 3);
  t.equal(up.sum("verdictd_cluster_engine_up"), 3);
  t.notOk(node.lines.some((line) => line.includes('"new"')));
});

t.test("a cluster that wants certificates of its clients; they are replaced while a node runs", async (t) => {
  const folder = t.testdir({ mirror: {} });
  const engine = signInto(folder, "engine");
  const [first, second, stranger] = ["first", "second", "stranger"].map((name) => signInto(folder, name));
  // Engines and clients that they take.
  const known = [engine, first!, second!].map(({ certificate }) => readFileSync(certificate, "utf8")).join("");
  writeFileSync(`${folder}/known`, known);
  const settings = [["tls-ca-cert-file", `${folder}/known`]];
  const cluster = await startRedis(t, { replicas: 0, tls: engine, settings });
  const onAll = (...words: string[]) => Promise.all(cluster.nodes.map((each) => each.ask(...words)));
  await onAll("CONFIG", "SET", "tls-auth-clients", "yes");
  await onAll("ACL", "SETUSER", "verdictd", "on", ">secret", "+@all", "~*");
  const show = ({ certificate, key }: { certificate: string; key: string }): void => {
    copyFileSync(certificate, `${folder}/own.pem`);
    copyFileSync(key, `${folder}/own.key`);
  };
  show(first!);
  const env = {
    VERDICTD_STORE: cluster.url.replace("rediss://", "rediss://verdictd:secret@"),
    VERDICTD_STORE_ACKS: "0",
    VERDICTD_STORE_CA: engine.certificate,
  };
  const own = { VERDICTD_STORE_CERT: `${folder}/own.pem`, VERDICTD_STORE_KEY: `${folder}/own.key` };
  const init = (more: NodeJS.ProcessEnv) =>
    command(["init", "--json", "--data-dir", `${folder}/mirror`], { ...env, ...more });
  t.match(await init({}), {
    code: 1,
    stderr: /wants a certificate of its clients: --store-cert FILE and --store-key FILE/,
  });
  const foreign = { VERDICTD_STORE_CERT: stranger!.certificate, VERDICTD_STORE_KEY: stranger!.key };
  t.match(await init(foreign), { code: 1, stderr: /does not take the certificate of --store-cert/ });
  t.match(await init({ VERDICTD_STORE_CERT: first!.certificate }), { code: 2, stderr: /--store-key is missing/ });
  const mixed = { VERDICTD_STORE_CERT: first!.certificate, VERDICTD_STORE_KEY: second!.key };
  t.match(await init(mixed), {
    code: 2,
    stderr: /--store-cert: .*second.* is not the key of|--store-cert: .*not a certificate and its key/,
  });

  const made = await init(own);
  t.match(made, { code: 0, stdout: /account_token/ });
  const { account_token: token } = JSON.parse(made.stdout);
  const node = await serve(t, `${folder}/mirror`, { env: { ...env, ...own } });
  const { json: keys } = await node.ask("POST", "/v1/projects/1/scoring", { token });
  const headers = { ...browserHeaders, "x-service-site-key": keys.site_key };
  const sent = async () => (await node.ask("POST", "/v1/events", { headers, body: batch("mutual000") })).status;
  t.equal(await sent(), 202);

  // The certificate is there before its key.
  copyFileSync(second!.certificate, `${folder}/own.pem`);
  await onAll("CLIENT", "KILL", "USER", "verdictd");
  t.equal(await waitUntil(sent, (status) => status === 202), 202, "a pair that does not fit is not used");
  show(second!);
  const newer = [engine, second!].map(({ certificate }) => readFileSync(certificate, "utf8")).join("");
  writeFileSync(`${folder}/newer`, newer);
  await onAll("CONFIG", "SET", "tls-ca-cert-file", `${folder}/newer`);
  await onAll("CLIENT", "KILL", "USER", "verdictd");
  t.equal(await waitUntil(sent, (status) => status === 202), 202, "new connections show the new one");
  const up = await node.metricsOnce((seen) => seen.sum("verdictd_cluster_engine_up") === 3);
  t.equal(up.sum("verdictd_cluster_engine_up"), 3);
  t.equal(await node.end("SIGTERM"), 0);
});
