/** `verdictd tail` beside running servers: which verdicts it prints, when, and what it does where there is no server. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import t, { type Test } from "tap";
import type { LiveVerdict } from "../../src/contract/verdicts/live-verdict.js";
import { limits } from "../../src/limits.js";
import { liveFolder, socketPath } from "../../src/live/folder.js";
import { followVerdicts } from "../../src/live/follow.js";
import { liveVerdict, VerdictFeed } from "../../src/live/verdict-feed.js";
import { automatedBatch } from "../support/batches.js";
import { command, start } from "../support/process.js";
import { firstTenant, startServer } from "../support/server.js";

interface Tail {
  readonly child: ChildProcess;
  /** The next line on stdout or stderr; null at its end. */
  readonly out: () => Promise<string | null>;
  readonly err: () => Promise<string | null>;
}

function tail(t: Test, dataDir: string, ...words: string[]): Tail {
  const child = start(["tail", "--data-dir", dataDir, ...words]);
  t.teardown(() => child.kill("SIGKILL"));
  const reader = (stream: NodeJS.ReadableStream) => {
    const lines = createInterface({ input: stream })[Symbol.asyncIterator]();
    return async () => {
      const next = await lines.next();
      return next.done === true ? null : next.value;
    };
  };
  return { child, out: reader(child.stdout), err: reader(child.stderr) };
}

t.test("tail prints the verdicts that a server answers, from all of its threads", async (t) => {
  // A path too long for a socket, as a data folder may well have.
  const dataDir = join(t.testdir(), "a-folder-with-a-name-of-some-length".repeat(4));
  const server = await startServer(t, ["--http-threads", "2", "--scoring-threads", "2"], dataDir);
  const { siteKey, privateKey, projectId, token: accountToken } = await firstTenant(server);
  const headers = { "x-service-site-key": siteKey };
  const { json: ingested } = await server.ask("POST", "/v1/events", { headers, body: automatedBatch("tail") });
  const token: string = ingested.session_token;
  const ask = (query: string) => server.ask("GET", `/v1/sessions/${token}/verdict${query}`, { token: privateKey });

  const all = tail(t, dataDir, "--json");
  const [unknown, human] = [
    tail(t, dataDir, "--json", "--band", "not_computed,verified", "--count", "1"),
    tail(t, dataDir, "--band", "definite,confident_automated", "--project", String(projectId), "--action", "allow"),
  ];
  for (const each of [all, unknown, human]) t.equal(await each.err(), "following");

  await ask("?path=/checkout&method=POST&host=shop.example");
  const first = JSON.parse((await all.out())!) as LiveVerdict;
  t.match(first, {
    project_id: projectId,
    session_token: token,
    action: "allow",
    source: "computed",
    method: "POST",
    host: "shop.example",
    path: "/checkout",
  });
  t.ok(first.detection_ids.length > 0 && first.reason !== "");
  t.notOk("ip" in first, "no address");
  t.match(await human.out(), new RegExp(`${first.verdict} .*${token}  POST shop\\.example/checkout  `));

  // Each thread has a cache of its own, and a connection may lead to the other one: the third ask comes to a thread that knows.
  let again = first;
  for (let asks = 1; asks < 3 && again.source !== "cached"; asks++) {
    await ask("?path=/checkout&method=POST&host=shop.example");
    again = JSON.parse((await all.out())!) as LiveVerdict;
  }
  t.match(again, { source: "cached", session_token: token });

  const isOn = { enabled: true };
  await server.ask("PUT", `/v1/projects/${projectId}/request-scoring`, { token: accountToken, body: isOn });
  const judged = { request: { path: "/checkout" } };
  await server.ask("POST", "/v1/verdict", { token: privateKey, body: judged });
  t.match(JSON.parse((await all.out())!), { session_token: null, verdict: "likely_human", path: "/checkout" });

  const odd = "sess_%1b[2J";
  await server.ask("GET", `/v1/sessions/${odd}/verdict`, { token: privateKey });
  t.match(JSON.parse((await all.out())!), { source: "fail_open", verdict: "not_computed" });
  t.match(JSON.parse((await unknown.out())!), { verdict: "not_computed" }, "other bands are not shown");
  t.equal(await unknown.out(), null, "one was asked for");
  if (unknown.child.exitCode === null) await once(unknown.child, "exit");
  t.equal(unknown.child.exitCode, 0);

  await server.end("SIGTERM");
  t.equal(await all.err(), "no server on this store can be reached: waiting for one");
  all.child.kill("SIGINT");
  await once(all.child, "exit");
  t.equal(all.child.exitCode, 0, "an interrupt is how it ends");
});

t.test("tail outlives servers that are killed, whatever they were just writing, and follows the next", async (t) => {
  const dataDir = t.testdir();
  const server = await startServer(t, [], dataDir);
  const { privateKey } = await firstTenant(server);
  const all = tail(t, dataDir, "--json");
  t.equal(await all.err(), "following");
  // Its end with the filter unread resets the connection, as a kill may.
  const half = createServer({ pauseOnConnect: true }, (socket) => {
    socket.write('\n{"project_id":1,"verd', () => socket.destroy());
  });
  const { path, release } = socketPath(liveFolder(dataDir), "half.sock");
  const cut = once(half, "connection").then(([socket]) => once(socket, "close"));
  half.listen(path);
  await cut;
  await new Promise((resolve) => half.close(resolve));
  release();
  await server.end("SIGKILL");
  t.equal(await all.err(), "no server on this store can be reached: waiting for one");
  const next = await startServer(t, [], dataDir);
  t.equal(await all.err(), "following", "the socket that the killed one left behind is no obstacle");
  await next.ask("GET", "/v1/sessions/sess_unknown/verdict", { token: privateKey });
  t.match(JSON.parse((await all.out())!), { verdict: "not_computed" });
});

t.test("tail wants a store and values that exist", async (t) => {
  const dir = t.testdir({ "verdictd.mdb": "" });
  const [none, band] = await Promise.all([
    command(["tail", "--data-dir", join(dir, "typo")]),
    command(["tail", "--data-dir", dir, "--band", "definite,sure"]),
  ]);
  t.match(none, { code: 1, stderr: /^there is no store in / });
  t.match(band, { code: 2, stderr: /^--band: expected not_computed or .*, got "sure"/ });
});

const answer = (score: number, reason = "") =>
  liveVerdict(
    1,
    "sess_x",
    { verdict: "definite", score, action: "block", detection_ids: [], reason },
    "computed",
    {},
    0,
  );

/** Follows the feed of a folder; what is heard comes by `next`. */
async function follower(t: Test, dataDir: string) {
  const heard: (LiveVerdict | number)[] = [];
  let wake = (): void => {};
  const next = async (): Promise<LiveVerdict | number> => {
    while (heard.length === 0) await new Promise<void>((resolve) => (wake = resolve));
    return heard.shift()!;
  };
  const hear = (what: LiveVerdict | number): void => {
    heard.push(what);
    wake();
  };
  let running = (): void => {};
  const up = new Promise<void>((resolve) => (running = resolve));
  const listener = {
    onVerdict: hear,
    onLeftOut: hear,
    onServer: (state: string) => state === "following" && running(),
  };
  const stop = followVerdicts(dataDir, { project: null, bands: [], actions: [] }, listener);
  t.teardown(stop);
  await up;
  return { next, stop };
}

t.test("a follower that does not keep up loses answers, is told how many, and holds nobody up", async (t) => {
  const dataDir = t.testdir();
  const feed = new VerdictFeed();
  t.teardown(() => feed.close());
  await feed.listen(dataDir);
  t.equal(feed.isFollowed, false);
  const { next } = await follower(t, dataDir);
  t.equal(feed.isFollowed, true);
  const long = "x".repeat(1000);
  // No tick of the event loop in between: nobody can read.
  for (let count = 0; count < 3000; count++) feed.show(answer(1, long));
  let offered = 3000;
  let leftOut = 0;
  for (let shown = 0; shown + leftOut < offered; ) {
    const heard = await next();
    if (typeof heard === "number") leftOut += heard;
    else shown++;
    // Once it reads again, the next answer comes with the count of those left out before it.
    if (leftOut > 0 || shown < 500) continue;
    feed.show(answer(2));
    offered++;
  }
  t.ok(leftOut > 1000, `${leftOut} of ${offered} answers were left out, and said to be`);
});

t.test("a server that takes no further follower is not taken for none", async (t) => {
  const dataDir = t.testdir();
  const feed = new VerdictFeed();
  t.teardown(() => feed.close());
  await feed.listen(dataDir);
  const states: string[] = [];
  const all = { project: null, bands: [], actions: [] };
  const quiet = { onVerdict: () => {}, onLeftOut: () => {}, onServer: () => {} };
  const first = await follower(t, dataDir);
  for (let each = 1; each < limits.followersMax; each++) await follower(t, dataDir);
  let told = (): void => {};
  const heard = () => new Promise<void>((resolve) => (told = resolve));
  const refused = heard();
  const onServer = (state: string): void => {
    states.push(state);
    told();
  };
  t.teardown(followVerdicts(dataDir, all, { ...quiet, onServer }));
  await refused;
  const letIn = heard();
  first.stop();
  await letIn;
  t.same(states, ["refused", "following"]);
});

t.test("a feed that is closed leaves no socket behind, and a new one is found by who followed the old", async (t) => {
  const dataDir = t.testdir();
  const old = new VerdictFeed();
  await old.listen(dataDir);
  const { next } = await follower(t, dataDir);
  await old.close();
  const feed = new VerdictFeed();
  t.teardown(() => feed.close());
  await feed.listen(dataDir);
  while (!feed.isFollowed) await new Promise((resolve) => setImmediate(resolve));
  feed.show(answer(3));
  t.match(await next(), { score: 3 });
});
