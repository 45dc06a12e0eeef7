/** The executable does all of verdictd on a host that has nothing: run in an empty root, as an ordinary user. */
import { readdirSync, readFileSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { BareRoot, cannotRun, executable } from "../package/bare-root.js";
import { automatedBatch } from "../support/batches.js";
import { freePort } from "../support/process.js";

const skip = cannotRun();

async function answer<T>(address: string, path: string, headers: Record<string, string>, body?: object): Promise<T> {
  const response = await fetch(`${address}${path}`, {
    method: body === undefined && !path.endsWith("/scoring") ? "GET" : "POST",
    headers: { "content-type": "application/json", ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

t.test("one file serves, keeps its data over a restart and backs it up", { skip }, async (t) => {
  const root = new BareRoot(t);
  const { version } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8"));
  const told = await root.run("--version");
  t.same([told.code, told.stderr], [0, ""]);
  t.match(told.stdout, `verdictd ${version}\n`);
  t.match(told.stdout, /^node 22\..*ABI 127/m);
  t.ok(statSync(executable).size < 130e6, "the file is under 130 MB");

  const init = await root.run("init", "--json");
  t.same([init.code, init.stderr], [0, ""]);
  const { project_id: project, account_token: token } = JSON.parse(init.stdout);

  const first = await root.serve("--http-threads", "2", "--port", String(await freePort()));
  const keys = await answer<{ site_key: string; private_key: string }>(
    first.address,
    `/v1/projects/${project}/scoring`,
    { authorization: `Bearer ${token}` },
  );
  const { session_token: session, accepted } = await answer<{ session_token: string; accepted: number }>(
    first.address,
    "/v1/events",
    { "x-service-site-key": keys.site_key },
    automatedBatch("smoke"),
  );
  t.equal(accepted, 2);
  const verdict = (address: string) =>
    answer<{ verdict: string; score: number }>(address, `/v1/sessions/${session}/verdict`, {
      authorization: `Bearer ${keys.private_key}`,
    });
  const before = await verdict(first.address);
  t.ok(before.score > 0 && before.score < 30, `declared automation has a bot's score: ${before.score}`);
  const sdk = await fetch(`${first.address}/sdk.js`);
  t.same(await sdk.text(), readFileSync(new URL("../../sdk/sdk.js", import.meta.url), "utf8"), "it serves the SDK");
  t.equal(await first.stop(), 0);

  const second = await root.serve();
  t.comment(`from start to listening: ${Math.round(second.startMs)} ms, unpacked before`);
  t.same(await verdict(second.address), before, "the verdict outlives a restart");
  const backup = await root.run("backup", "/backups/one");
  t.same([backup.code, backup.stderr], [0, ""], "a backup is made while it serves");
  t.equal(await second.stop(), 0);

  const restored = await root.serve("--data-dir", "/backups/one");
  t.same(await verdict(restored.address), before, "a server on the backup gives the same verdict");
  t.equal(await restored.stop(), 0);
});

t.test("two first starts at once share one cache; damage to it is repaired", { skip }, async (t) => {
  const root = new BareRoot(t);
  const [one, two] = await Promise.all([root.run("--version"), root.run("--version")]);
  t.same([one.code, one.stderr, two.code, two.stderr], [0, "", 0, ""]);
  const caches = join(root.path, "home/operator/.cache/verdictd");
  const [name, ...others] = readdirSync(caches);
  t.same(others, [], "there is one folder");
  t.equal(statSync(join(caches, name!)).mode & 0o777, 0o700);
  const program = join(caches, name!, "dist/src/verdictd.js");
  const { size } = statSync(program);
  truncateSync(program, size / 2);
  const after = await root.run("--version");
  t.same([after.code, after.stderr, statSync(program).size], [0, "", size]);
});

t.test("the cache goes where --cache-dir says, and nowhere else", { skip }, async (t) => {
  const root = new BareRoot(t);
  const done = await root.run("--version", "--cache-dir", "/data/cache");
  t.same([done.code, done.stderr], [0, ""]);
  t.same(readdirSync(join(root.path, "home/operator")), []);
  const missing = await root.run("--version", "--cache-dir");
  t.same([missing.code, missing.stderr], [2, "--cache-dir: a value is missing\n"]);
  const impossible = await root.run("--version", "--cache-dir", "/verdictd/below-a-file");
  t.equal(impossible.code, 1);
  t.match(impossible.stderr, /^verdictd: no folder to unpack into \(.*\): name a writable one with --cache-dir\n$/);
});

t.test("a first start unpacks and serves", { skip }, async (t) => {
  const root = new BareRoot(t);
  const serving = await root.serve();
  t.comment(`from start to listening: ${Math.round(serving.startMs)} ms, unpacking included`);
  t.equal((await fetch(`${serving.address}/readyz`)).status, 200);
  t.equal(await serving.stop(), 0);
});
