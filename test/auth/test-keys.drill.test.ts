/** `serve --test-keys`: pairs that always answer the same, at every entrance, and only while they are asked for. */
import t from "tap";
import { readServeConfig } from "../../src/config/config.js";
import { testKeys, testOutcomeOf, testOutcomes } from "../../src/contract/configuration/test-keys.js";
import { Projects } from "../../src/control-plane/accounts/projects.js";
import { startTestKeys } from "../../src/control-plane/accounts/test-projects.js";
import { Refusal } from "../../src/errors.js";
import { automatedBatch, batch, browserHeaders } from "../support/batches.js";
import { ChallengedVisitor } from "../support/challenges.js";
import { json, serve } from "../support/process.js";
import { openTestStore } from "../support/test-store.js";
import { waitUntil } from "../support/wait-until.js";

const request = (accept = "text/html") => ({
  method: "GET",
  path: "/checkout",
  host: "shop.example",
  ip: "192.0.2.7",
  user_agent: browserHeaders["user-agent"],
  headers: [
    ["Accept", accept],
    ["User-Agent", browserHeaders["user-agent"]],
  ],
});
const curl = { ...request(), user_agent: "curl/8.5.0", headers: [["User-Agent", "curl/8.5.0"]] };

t.test("a key is a test key by its whole text", async (t) => {
  for (const outcome of testOutcomes) {
    const { siteKey, privateKey } = testKeys(outcome);
    t.same([testOutcomeOf(siteKey), testOutcomeOf(privateKey)], [outcome, outcome]);
  }
  for (const key of ["", "pk_test_always_", "pk_test_always_human ", "pk_test_always_nobody", "pk_x", "sk_test_bot"]) {
    t.equal(testOutcomeOf(key), undefined, key);
  }
});

t.test("test keys", async (t) => {
  const dataDir = t.testdir();
  const server = await serve(t, dataDir, { flags: ["--test-keys"] });
  const account = await waitUntil(
    async () => /account token {3}(\S+)/.exec(server.lines.join("\n"))?.[1],
    (token) => token !== undefined,
  );
  const visitorOf = (outcome: (typeof testOutcomes)[number]) => new ChallengedVisitor(server, testKeys(outcome));
  const session = async (outcome: (typeof testOutcomes)[number], body: object): Promise<string> => {
    const headers = { ...browserHeaders, "x-service-site-key": testKeys(outcome).siteKey };
    const answer = await server.ask("POST", "/v1/events", { headers, body });
    t.equal(answer.status, 202);
    return answer.json.session_token;
  };
  const judge = async (outcome: (typeof testOutcomes)[number], of: object, token: string | null = null) => {
    const body = { session_token: token, request: of };
    return (await server.ask("POST", "/v1/verdict", { token: testKeys(outcome).privateKey, body })).json;
  };
  const read = async (outcome: (typeof testOutcomes)[number], token: string) =>
    (await server.ask("GET", `/v1/sessions/${token}/verdict?path=/`, { token: testKeys(outcome).privateKey })).json;

  const answers = {
    human: { verdict: "likely_human", action: "allow" },
    bot: { verdict: "definite", action: "block" },
    challenge: { verdict: "likely_automated", action: "challenge" },
    refused: { verdict: "likely_automated", action: "challenge" },
  } as const;

  await t.test("whatever the visitor is, with or without a session", async (t) => {
    for (const outcome of testOutcomes) {
      t.match(await judge(outcome, request()), answers[outcome], `${outcome}: a browser`);
      t.match(await judge(outcome, curl), answers[outcome], `${outcome}: curl`);
      const signed = await session(outcome, automatedBatch(`automated-${outcome}`));
      t.match(await judge(outcome, request(), signed), answers[outcome], `${outcome}: a program's session`);
      t.match(await read(outcome, signed), answers[outcome], `${outcome}: a read`);
      const human = await session(outcome, batch(`human-${outcome}`));
      t.match(await judge(outcome, curl, human), answers[outcome], `${outcome}: a person's session`);
      t.match(await read(outcome, "sess_AAAAAAAAAAAAAAAAAAAAAAAAAAAA"), answers[outcome], `${outcome}: unknown`);
      const { privateKey } = testKeys(outcome);
      t.equal((await server.ask("POST", `/v1/sessions/${human}/logged-in`, { token: privateKey })).status, 200);
    }
  });

  await t.test("forward-auth and the page for a backend", async (t) => {
    const ask = (outcome: (typeof testOutcomes)[number]) =>
      server.ask("GET", "/v1/forward-auth", {
        token: testKeys(outcome).privateKey,
        headers: { "x-forwarded-uri": "/checkout", "x-forwarded-method": "GET", accept: "text/html" },
      });
    t.equal((await ask("human")).status, 204);
    t.equal((await ask("bot")).status, 403);
    const challenged = await ask("challenge");
    t.equal(challenged.status, 401);
    t.match(challenged.text, /data-site-key="pk_test_always_challenge"/);
    const { privateKey } = testKeys("challenge");
    const body = { session_token: null, request: request() };
    const page = await server.ask("POST", "/v1/challenge-page", { token: privateKey, body });
    t.match(page.json, { status: 403, body: /data-site-key="pk_test_always_challenge"/ });
  });

  await t.test("a challenge lets in, or never does, also a program", async (t) => {
    const passed = await session("challenge", automatedBatch("passing"));
    const visitor = visitorOf("challenge");
    await visitor.report(passed);
    t.equal((await visitor.pass(passed)).status, 200);
    t.match(await judge("challenge", request(), passed), { verdict: "likely_automated", action: "allow" });
    t.match(await read("challenge", passed), { action: "allow" });
    const other = await session("challenge", batch("not-passing"));
    t.match(await judge("challenge", request(), other), answers.challenge, "of another session it is asked for");
    const refused = await session("refused", batch("refused"));
    await visitorOf("refused").report(refused);
    const { status, json } = await visitorOf("refused").pass(refused);
    t.same([status, json.code], [403, "CHALLENGE_REFUSED"]);
    t.match(await judge("refused", request(), refused), answers.refused);
  });

  await t.test("they are projects of the first account, and said in the log", async (t) => {
    const line = await server.logged(
      "test keys work: whoever uses them gets the same answer whatever the visitor does; never in production",
    );
    const keys = line["keys"] as { siteKey: string; projectId: number }[];
    t.same(
      keys.map(({ siteKey }) => siteKey),
      testOutcomes.map((outcome) => testKeys(outcome).siteKey),
    );
    const { projectId } = keys[1]!;
    const scoring = await server.ask("GET", `/v1/projects/${projectId}/scoring`, { token: account! });
    t.match(scoring.json, { enabled: true, site_key: "pk_test_always_bot" });
    const projects = await server.ask("GET", "/v1/projects", { token: account! });
    t.match(
      projects.json.data.map(({ name }: { name: string }) => name).filter((name: string) => name.startsWith("Test")),
      ["Test keys: always human", "Test keys: always a bot", "Test keys: always challenged", /never let in/],
    );
  });
  await server.end("SIGTERM");

  await t.test("a start without the flag ends them, and one with it brings the same projects back", async (t) => {
    const without = await serve(t, dataDir);
    for (const outcome of testOutcomes) {
      const { siteKey, privateKey } = testKeys(outcome);
      const headers = { ...browserHeaders, "x-service-site-key": siteKey };
      const sent = await without.ask("POST", "/v1/events", { headers, body: batch("late") });
      const asked = await without.ask("POST", "/v1/verdict", {
        token: privateKey,
        body: { session_token: null, request: curl },
      });
      for (const { status, json } of [sent, asked]) {
        t.match([status, json.code, json.message], [401, "UNAUTHENTICATED", /test key.*--test-keys/]);
      }
    }
    await without.end("SIGTERM");
    t.match(await json(dataDir, "check"), { ok: true });
    // As a start with the flag does it.
    const store = await openTestStore(dataDir);
    t.teardown(() => store.close());
    const again = await startTestKeys(store, new Projects(store, Date.now), 1, Date.now);
    if (again instanceof Refusal) throw new Error(again.message);
    const before = server.log.find((line) => "keys" in line)!["keys"] as { projectId: number }[];
    t.same(
      again.map(({ projectId }) => projectId),
      before.map(({ projectId }) => projectId),
    );
    t.same(await startTestKeys(store, new Projects(store, Date.now), 1, Date.now), again, "twice is once");
    t.match(await json(dataDir, "check"), { ok: true });
  });

  await t.test("never beside a cluster", async (t) => {
    const read = readServeConfig({ "test-keys": "true", store: "valkey://127.0.0.1:7000" }, {});
    t.match(read, { mistakes: [/^--test-keys: not with --store/] });
  });
});
