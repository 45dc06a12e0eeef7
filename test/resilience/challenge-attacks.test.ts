/** Attacks on verdictd's own challenge that must fail, over real sockets, against two HTTP threads. */
import { createHash } from "node:crypto";
import t from "tap";
import { madeUpBatches } from "../../scripts/live/made-up-events.js";
import { seededRandom } from "../../scripts/live/randomness.js";
import { makePuzzles, puzzleKeys } from "../../src/challenge/puzzle.js";
import { type ChallengeEvent, Challenges } from "../../src/control-plane/sessions/challenges.js";
import { readStoredSession } from "../../src/control-plane/sessions/stored-session.js";
import { Refusal } from "../../src/errors.js";
import { limits } from "../../src/limits.js";
import { challengeStyle } from "../../src/middleware/challenge-page.js";
import { automatedBatch, batch, browserHeaders } from "../support/batches.js";
import { ChallengedVisitor, encodedSolution, solutionOf, solvedOf } from "../support/challenges.js";
import { chunked, type RawAnswer, RawClient, rawRequest } from "../support/raw-socket.js";
import { anotherTenant, askUntil, firstTenant, startServer, type Tenant } from "../support/server.js";
import { waitUntil } from "../support/wait-until.js";

const agent = browserHeaders["user-agent"];

t.test("attacks", async (t) => {
  const server = await startServer(t, ["--http-threads", "2"]);
  const tenant = await firstTenant(server);
  const other = await anotherTenant(server, "other");
  const configure = (path: string, body: object, { projectId, token }: Tenant = tenant, method = "PUT") =>
    server.ask(method, `/v1/projects/${projectId}/${path}`, { token, body });
  for (const each of [tenant, other]) await configure("challenge", { enabled: true, difficulty: "low" }, each);
  const challengeRule = { name: "Challenge", expression: 'path starts_with "/c"', action: "challenge" };
  const ruleId: number = (await configure("rules", challengeRule, tenant, "POST")).json.id;
  const visitor = new ChallengedVisitor(server, tenant);
  const report = async (body: object, { siteKey }: Tenant = tenant): Promise<string> => {
    const headers = { ...browserHeaders, "x-service-site-key": siteKey };
    return (await server.ask("POST", "/v1/events", { headers, body })).json.session_token;
  };
  let sessions = 0;
  /** A session that has a score. */
  const newSession = async (of: Tenant = tenant): Promise<string> => {
    const session = await report(batch(`visitor${sessions++}`), of);
    await askUntil(
      () => server.ask("GET", `/v1/projects/${of.projectId}/sessions/${session}`, { token: of.token }),
      ({ json }) => json.verdict !== "not_computed",
    );
    return session;
  };
  const action = async (session: string, path = "/c", userAgent: string = agent): Promise<string> =>
    (
      await server.ask("GET", `/v1/sessions/${session}/verdict?path=${path}`, {
        token: tenant.privateKey,
        headers: { "x-service-client-ua": userAgent },
      })
    ).json.action;
  const rows = (): number => server.store.solvedChallenges.getKeysCount();

  /** A connection to each of the two threads: a request's id begins with its thread's own text. */
  const toEachThread = async (): Promise<RawClient[]> => {
    const found = new Map<string, RawClient>();
    for (let tries = 0; found.size < 2 && tries < 200; tries++) {
      const client = await RawClient.open(server.port);
      client.write(rawRequest("OPTIONS", "/v1/challenges"));
      const thread = (await client.answer())?.headers.get("x-request-id")?.split("-")[0] ?? "";
      if (found.has(thread)) client.leave();
      else found.set(thread, client);
    }
    t.equal(found.size, 2, "both threads answer");
    return [...found.values()];
  };
  const post = (path: string, body: string, headers: Record<string, string> = {}): string =>
    rawRequest(
      "POST",
      path,
      {
        "User-Agent": agent,
        "Content-Type": "application/json",
        "X-Service-Site-Key": tenant.siteKey,
        ...headers,
      },
      body,
    );

  await t.test("a solution counts once: at the same time, on two threads, and later", async (t) => {
    const session = await newSession();
    const solution = await solutionOf((await visitor.issue(session)).json);
    await visitor.report(session);
    const threads = await toEachThread();
    const request = post("/v1/challenges/solution", JSON.stringify({ session_token: session, solution }));
    for (const thread of threads) thread.write(request);
    const answers = await Promise.all([
      ...threads.map(async (thread) => (await thread.answer())?.status),
      ...Array.from({ length: 6 }, async () => (await visitor.send(session, solution)).status),
    ]);
    t.same(answers.sort(), [200, 409, 409, 409, 409, 409, 409, 409]);
    for (const thread of threads) {
      thread.write(request);
      const later = await thread.answer();
      t.same([later?.status, JSON.parse(later?.body ?? "{}").code], [409, "CHALLENGE_USED"]);
      thread.leave();
    }
  });

  await t.test("nor does it count again in another spelling", async (t) => {
    const session = await newSession();
    const challenge = (await visitor.issue(session)).json;
    const solution = await solutionOf(challenge);
    await visitor.report(session);
    t.equal((await visitor.send(session, solution)).status, 200);
    const solved = await solvedOf(challenge);
    const reversed = (of: object) => Object.fromEntries(Object.entries(of).reverse());
    for (const [name, text] of [
      ["no padding", solution.replace(/=+$/, "")],
      ["the alphabet of addresses", solution.replaceAll("+", "-").replaceAll("/", "_")],
      ["white space", ` ${solution.replace(/(.{60})/g, "$1\n")} `],
      [
        "more fields",
        encodedSolution(
          solved.map(({ challenge, solution }) => ({
            challenge: { ...challenge, more: 1 },
            solution: { ...solution, counter: 1, time: -1 },
          })),
        ),
      ],
      [
        "another order",
        encodedSolution(
          solved.map(({ challenge, solution }) => ({
            solution,
            challenge: { ...challenge, parameters: reversed(challenge.parameters) },
          })),
        ),
      ],
    ] as const) {
      t.equal((await visitor.send(session, text)).json.code, "CHALLENGE_USED", name);
    }
  });

  await t.test("another session's and another project's are refused, and hold where they belong", async (t) => {
    const session = await newSession();
    const second = await newSession();
    const foreign = await newSession(other);
    const stranger = new ChallengedVisitor(server, other);
    const fresh = await solutionOf((await visitor.issue(session)).json);
    await visitor.report(session);
    const answer = async (asked: Promise<{ status: number; json: { code?: string } }>) => {
      const { status, json } = await asked;
      return [status, json.code];
    };
    t.same(await answer(visitor.send(second, fresh)), [422, "INVALID_PAYLOAD"]);
    t.same(await answer(stranger.send(foreign, fresh)), [422, "INVALID_PAYLOAD"]);
    t.same(await answer(stranger.send(session, fresh)), [404, "UNKNOWN_SESSION"]);
    t.same(await answer(visitor.send(foreign, fresh)), [404, "UNKNOWN_SESSION"]);
    t.equal(await action(second), "challenge");
    t.equal((await visitor.send(session, fresh)).status, 200);
    t.equal(await action(session), "allow");
    t.equal(await action(second), "challenge", "a clearance is its session's alone");
  });

  await t.test("expired, forged, at a difficulty of one's own: refused, and nobody is cleared", async (t) => {
    const session = await newSession();
    const keys = puzzleKeys(server.store.projects.get(tenant.projectId)!.privateKeyHash!);
    const work = { cost: 1, counterMax: 1 };
    const data = { session, issued_at_ms: Date.now(), rule: 0, counted_at_ms: 0 };
    const nowS = Math.floor(Date.now() / 1000);
    const expired = await visitor.send(
      session,
      await solutionOf({ puzzles: await makePuzzles(keys, work, data, nowS - 1) }),
    );
    t.same([expired.status, expired.json.code], [422, "INVALID_PAYLOAD"]);
    t.match(expired.json.message, /expired/);
    const guessed = await makePuzzles(puzzleKeys("guessed"), work, data, nowS + 60);
    const issued = (await visitor.issue(session)).json;
    const [{ parameters, signature }] = issued.puzzles;
    const solved = await solvedOf(issued);
    /** The solution with its first puzzle replaced. */
    const withFirst = (challenge: object, solution: object): string =>
      encodedSolution([{ challenge, solution }, ...solved.slice(1)]);
    const easy = { ...parameters, cost: 1, keyPrefix: "00" };
    const later = { ...parameters, expiresAt: parameters.expiresAt + 3600 };
    const moved = { ...parameters, data: { ...parameters.data, rule: 99 } };
    for (const [name, text] of [
      ["keys of one's own", await solutionOf({ puzzles: guessed })],
      ["an easier one", await solutionOf({ puzzles: [{ parameters: easy, signature }, ...issued.puzzles.slice(1)] })],
      ["a later expiry", withFirst({ parameters: later, signature }, solved[0]!.solution)],
      ["another rule", withFirst({ parameters: moved, signature }, solved[0]!.solution)],
      ["no work at all", withFirst({ parameters, signature }, { derivedKey: "0".repeat(64) })],
      [
        "the part of the key that is told",
        withFirst({ parameters, signature }, { derivedKey: parameters.keyPrefix.padEnd(64, "0") }),
      ],
      ["seven of eight solved", encodedSolution(solved.slice(0, 7))],
      ["one of them twice", encodedSolution([...solved.slice(0, 7), solved[6]])],
      ["two of them in the other's place", encodedSolution([solved[0], solved[2], solved[1], ...solved.slice(3)])],
      [
        "one of another challenge",
        encodedSolution([...solved.slice(0, 7), (await solvedOf((await visitor.issue(session)).json))[7]]),
      ],
      ["nothing", encodedSolution({ challenge: {}, solution: {} })],
    ] as const) {
      const { status, json } = await visitor.send(session, text);
      t.same([status, json.code], [422, "INVALID_PAYLOAD"], name);
    }
    t.equal(await action(session), "challenge");
    await visitor.report(session);
    t.equal((await visitor.send(session, encodedSolution(solved))).status, 200, "solved, it holds");
  });

  await t.test("nothing can be worked out before a challenge is asked for", async (t) => {
    const session = await newSession();
    const [one, two] = [(await visitor.issue(session)).json, (await visitor.issue(session)).json];
    for (const name of ["nonce", "salt", "keyPrefix", "keySignature"]) {
      const all = [...one.puzzles, ...two.puzzles].map(({ parameters }) => parameters[name]);
      t.equal(new Set(all).size, 16, `${name} is new each time`);
    }
    const solved = await solvedOf(one);
    const crossed = encodedSolution(
      (await solvedOf(two)).map(({ challenge }, place) => ({ challenge, solution: solved[place]!.solution })),
    );
    t.equal((await visitor.send(session, crossed)).status, 422);
    t.equal(
      (await visitor.issue(`${session.slice(0, -4)}AAAA`)).json.code,
      "UNKNOWN_SESSION",
      "nor for a session to come",
    );
  });

  await t.test("the server's clock decides, set forward or back", async (t) => {
    const session = await newSession();
    const project = server.store.projects.get(tenant.projectId)!;
    const state = (await readStoredSession(server.store, session))!.state;
    let nowMs = Date.now();
    const events: ChallengeEvent[] = [];
    const challenges = new Challenges({
      store: server.store,
      causeOf: () => ({ rule: 5, countedAtMs: nowMs, isCounted: true }),
      challengedBand: () => null,
      onAsked: () => {},
      isAwaited: () => false,
      onEvent: (event) => events.push(event),
      now: () => nowMs,
    });
    const person = { ip: "192.0.2.1", userAgent: agent, requestBand: null };
    await visitor.report(session);
    const solved = async (): Promise<string> => {
      const issued = await challenges.issue(project, session, state, person);
      if (issued instanceof Refusal) throw new Error(issued.message);
      return solutionOf(issued);
    };
    const [late, early] = [await solved(), await solved()];
    nowMs += limits.challengeMs + 1;
    t.match(await challenges.solve(project, session, late, person), { error: "invalidPayload", message: /expired/ });
    nowMs -= limits.challengeMs + 3_600_000;
    t.equal(await challenges.solve(project, session, early, person), nowMs);
    t.match(events.at(-1), { what: "passed", tookMs: 0 }, "no time to pass below nothing");
  });

  await t.test("a clearance is worth nothing to who sends another user agent, or none", async (t) => {
    const cleared = await newSession();
    t.equal((await visitor.pass(cleared)).status, 200);
    const forwardAuth = async (userAgent: Record<string, string>): Promise<number | undefined> =>
      (await askForwardAuth({ ...userAgent, Cookie: `service_session=${cleared}` }))?.status;
    t.equal(await forwardAuth({ "User-Agent": agent }), 204);
    t.equal(await forwardAuth({ "User-Agent": "curl/8.0" }), 401);
    t.equal(await forwardAuth({ "User-Agent": `${agent} ` }), 204, "white space around it is no part of a header");
    t.equal(await forwardAuth({ "User-Agent": agent.toLowerCase() }), 401);
    t.equal(await forwardAuth({ "User-Agent": "" }), 401);
    t.equal(await forwardAuth({}), 401);
  });

  await t.test("a cleared session that behaves like a program is challenged again with that batch", async (t) => {
    const session = await newSession();
    t.equal((await visitor.pass(session)).status, 200);
    t.equal(await action(session), "allow");
    await report({ ...automatedBatch("turned00"), session_token: session });
    const { json } = await askUntil(
      () => server.ask("GET", `/v1/projects/${tenant.projectId}/sessions/${session}`, { token: tenant.token }),
      (answer) => answer.json.verdict === "definite",
    );
    t.equal(json.verdict, "definite");
    t.equal(await action(session), "challenge");
    t.type(json.cleared_at, "string", "the pass is still told");
  });

  await t.test("and one whose movements alone give it away, with the batch that brings them", async (t) => {
    const claimed = { userAgent: agent, majorVersion: "140" };
    const [arrival, movements] = madeUpBatches(seededRandom(1), "shop.example", "smooth", claimed);
    const session = await report({ session_token: null, events: arrival });
    const detail = () =>
      server.ask("GET", `/v1/projects/${tenant.projectId}/sessions/${session}`, { token: tenant.token });
    const before = (await askUntil(detail, ({ json }) => json.verdict !== "not_computed")).json;
    t.equal(before.verdict, "likely_human");
    t.equal((await visitor.pass(session)).status, 200);
    t.equal(await action(session), "allow");
    await report({ session_token: session, events: movements });
    const after = (await askUntil(detail, ({ json }) => json.event_count > before.event_count)).json;
    t.match(after.verdict, /^(likely_automated|confident_automated|definite)$/);
    t.equal(await action(session), "challenge");
  });

  await t.test("any number of challenges asked for stores nothing, and a bounded number is made at once", async (t) => {
    const session = await newSession();
    const before = rows();
    const statuses = new Set<number>();
    for (let round = 0; round < 4; round++) {
      const answers = await Promise.all(Array.from({ length: 50 }, () => visitor.issue(session)));
      for (const { status } of answers) statuses.add(status);
    }
    for (const status of statuses) t.ok([200, 503].includes(status), `${status}`);
    t.equal(rows(), before);
    let cause = 5;
    const challenges = new Challenges({
      store: server.store,
      causeOf: () => ({ rule: cause, countedAtMs: 0, isCounted: false }),
      challengedBand: () => null,
      onAsked: () => {},
      isAwaited: () => false,
      onEvent: () => {},
      now: Date.now,
    });
    const project = server.store.projects.get(tenant.projectId)!;
    const state = (await readStoredSession(server.store, session))!.state;
    const max = limits.challengesMadeAtOnceMax;
    const other = { ...project, id: project.id + 1 };
    const issue = (_: unknown, index: number) =>
      challenges.issue(index % 2 === 0 ? project : other, session, state, {
        ip: `192.0.2.${index % 8}`,
        userAgent: agent,
      });
    const refused = (made: readonly unknown[]) =>
      made.filter((each) => each instanceof Refusal && each.error === "unavailable").length;
    t.equal(refused(await Promise.all(Array.from({ length: max + 30 }, issue))), 30);
    t.notOk((await issue(null, 0)) instanceof Refusal, "and then it goes on");
    const alone = (ip: (index: number) => string) =>
      Promise.all(
        Array.from({ length: max }, (_, index) =>
          challenges.issue(project, session, state, { ip: ip(index), userAgent: agent }),
        ),
      );
    t.equal(refused(await alone((index) => `2001:db8::${index}`)), (3 * max) / 4, "one network has a quarter");
    t.equal(refused(await alone((index) => `198.51.100.${index}`)), max / 4, "one project has three quarters");
    cause = 0;
    const unasked = await Promise.all(Array.from({ length: max / 2 + 20 }, issue));
    t.equal(refused(unasked), 20, "whom no rule has challenged leaves room for the others");
  });

  await t.test("whoever has the site key can't falsify a rule's pass rate", async (t) => {
    const counted = async () => {
      const { json } = await server.ask("GET", `/v1/projects/${tenant.projectId}/stats?by=rule`, {
        token: tenant.token,
      });
      return json.data.at(-1).challenges_by_rule as Record<string, { issued: number; passed: number; failed: number }>;
    };
    const settled = (issued: number) => waitUntil(counted, (seen) => (seen[0]?.issued ?? 0) >= issued);
    const quiet = await newSession();
    // Counts of what was asked for before come in behind the answers, from two threads: until they have stood still for a hundred looks.
    // How many that was depends on the machine: a busy one refused some with 503.
    let start = await counted();
    let unchanged = 0;
    await waitUntil(counted, (now) => {
      unchanged = JSON.stringify(now) === JSON.stringify(start) ? unchanged + 1 : 0;
      start = now;
      return unchanged >= 100;
    });
    const [issued, passed] = [start[ruleId]?.issued ?? 0, start[ruleId]?.passed ?? 0];
    for (let round = 0; round < 20; round++) await visitor.issue(quiet);
    const session = await newSession();
    t.equal(await action(session), "challenge");
    // Asked for on both threads at once, again and again.
    const threads = await toEachThread();
    const request = post("/v1/challenges", JSON.stringify({ session_token: session }));
    const challenges: { puzzles: object[] }[] = [];
    for (let round = 0; round < 20; round++) {
      for (const thread of threads) thread.write(request);
      for (const thread of threads) challenges.push(JSON.parse((await thread.answer())!.body));
      t.equal(await action(session), "challenge");
    }
    for (const thread of threads) thread.leave();
    const asked = await settled((start[0]?.issued ?? 0) + 20 + 39);
    t.equal(asked[ruleId]?.issued, issued + 1, "forty were asked for after a challenge: one counts");
    t.equal(asked[0]?.issued, (start[0]?.issued ?? 0) + 20 + 39, "the rest are counted apart");
    // The last one asked for, as a tab would that is not the first, and more.
    await visitor.report(session);
    for (const challenge of challenges.slice(-4)) {
      t.equal((await visitor.send(session, await solutionOf(challenge))).status, 200);
    }
    const last = await waitUntil(counted, (seen) => (seen[0]?.passed ?? 0) >= (start[0]?.passed ?? 0) + 3);
    t.equal(last[ruleId]?.passed, passed + 1, "and one pass of it");
    t.equal(last[0]?.passed, (start[0]?.passed ?? 0) + 3);
  });

  await t.test("huge and odd bodies get an answer, and the next visitor is served", async (t) => {
    const session = await newSession();
    const deep = "[".repeat(3000) + "]".repeat(3000);
    const wrapped = (text: string): string =>
      JSON.stringify({ session_token: session, solution: Buffer.from(text).toString("base64") });
    for (const [name, body] of [
      ["no JSON", "{"],
      ["nothing", ""],
      ["null", "null"],
      ["a number out of range", `{"session_token":"${session}","solution":1e999}`],
      ["a solution that is an object", `{"session_token":"${session}","solution":{"challenge":{}}}`],
      [
        "bytes that are no text",
        Buffer.from(`{"session_token":"${session}","solution":"\xff\xfe"}`, "latin1").toString("latin1"),
      ],
      ["no base64", `{"session_token":"${session}","solution":"${"%".repeat(4000)}"}`],
      ["deep", `{"session_token":"${session}","solution":${deep}}`],
      [
        "deep within",
        wrapped(
          `{"challenge":{"parameters":{"data":${"[".repeat(1500)}${"]".repeat(1500)}},"signature":"${"0".repeat(64)}"},"solution":{"derivedKey":"${"0".repeat(64)}"}}`,
        ),
      ],
      [
        "a prototype",
        wrapped(
          `{"__proto__":{"challenge":{}},"challenge":{"__proto__":{"signature":"x"},"parameters":{"__proto__":{}}},"solution":{"constructor":1}}`,
        ),
      ],
      ["over 8 KiB", `{"session_token":"${session}","solution":"${"A".repeat(8192)}"}`],
    ] as const) {
      const client = await RawClient.open(server.port);
      client.write(post("/v1/challenges/solution", body));
      const answer = await client.answer();
      t.same([answer?.status, JSON.parse(answer?.body ?? "{}").code], [422, "INVALID_PAYLOAD"], name);
      client.leave();
    }
    const endless = await RawClient.open(server.port);
    endless.write(
      `POST /v1/challenges HTTP/1.1\r\nHost: x\r\nX-Service-Site-Key: ${tenant.siteKey}\r\nTransfer-Encoding: chunked\r\n\r\n${chunked(Array.from({ length: 40 }, () => " ".repeat(1000)))}`,
    );
    t.equal((await endless.answer())?.status, 422, "of no told length");
    endless.leave();
    t.equal((await visitor.pass(session)).status, 200);
  });

  const verdictFrom = async (session: string, ip: string, path = "/c"): Promise<string> =>
    (
      await server.ask("GET", `/v1/sessions/${session}/verdict?path=${path}`, {
        token: tenant.privateKey,
        headers: { "x-service-client-ua": agent, "x-service-client-ip": ip },
      })
    ).json.action;

  await t.test("a person's clearance used from 200 addresses ends with the fifth network, for him too", async (t) => {
    const session = await newSession();
    t.equal((await visitor.pass(session)).status, 200);
    // The pass came from 127.0.0.1; three more networks may use it.
    for (const ip of ["10.1.0.1", "10.1.255.255", "10.2.0.1", "10.3.0.1", "2001:db8::1", "127.0.0.1"]) {
      t.equal(await verdictFrom(session, ip), "allow", ip);
    }
    const addresses = Array.from({ length: 200 }, (_, index) => `11.${index}.0.1`);
    const actions = await Promise.all(addresses.map((ip) => verdictFrom(session, ip)));
    t.same(new Set(actions), new Set(["challenge"]));
    t.equal(await verdictFrom(session, "127.0.0.1"), "challenge", "it is over");
    t.equal(await verdictFrom(session, "10.1.0.1"), "challenge", "cached answers too");
  });

  await t.test("and all at once no more than three further networks get in", async (t) => {
    const session = await newSession();
    t.equal((await visitor.pass(session)).status, 200);
    const addresses = Array.from({ length: 200 }, (_, index) => `11.${index}.0.1`);
    const actions = await Promise.all(addresses.map((ip) => verdictFrom(session, ip)));
    const allowed = actions.filter((each) => each === "allow").length;
    t.ok(allowed <= 3, `${allowed}`);
    t.equal(await verdictFrom(session, "127.0.0.1"), "challenge");
  });

  await t.test("and a rule that asks for `cleared` ends it as well", async (t) => {
    const clearedRule = { name: "Cleared", expression: 'path starts_with "/r" AND NOT cleared', action: "block" };
    await configure("rules", clearedRule, tenant, "POST");
    const session = await newSession();
    t.equal((await visitor.pass(session)).status, 200);
    t.equal(await verdictFrom(session, "127.0.0.1", "/r"), "allow");
    const addresses = Array.from({ length: 10 }, (_, index) => `11.${index}.0.1`);
    const actions: string[] = [];
    for (const ip of addresses) actions.push(await verdictFrom(session, ip, "/r"));
    t.same(actions, ["allow", "allow", "allow", ...Array.from({ length: 7 }, () => "block")]);
  });

  await t.test("a person's clearance used by curl: his token and user agent, but its own headers", async (t) => {
    await configure("request-scoring", { enabled: true });
    t.teardown(() => configure("request-scoring", { enabled: false }));
    const judged = async (session: string, headers: [string, string][]): Promise<{ action: string; verdict: string }> =>
      (
        await server.ask("POST", "/v1/verdict", {
          token: tenant.privateKey,
          body: { session_token: session, request: { method: "GET", path: "/c", ip: "127.0.0.1", headers } },
        })
      ).json;
    const session = await newSession();
    const { origin: _origin, ...fetched } = browserHeaders;
    const navigation = Object.entries({
      host: "shop.example",
      "upgrade-insecure-requests": "1",
      ...fetched,
      accept: "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8",
      "sec-fetch-site": "none",
      "sec-fetch-mode": "navigate",
      "sec-fetch-user": "?1",
      "sec-fetch-dest": "document",
      "x-forwarded-proto": "https",
    });
    t.equal((await judged(session, navigation)).action, "challenge");
    t.equal((await visitor.pass(session)).status, 200);
    t.match(await judged(session, navigation), { action: "allow" });
    const curl = await judged(session, [
      ["Host", "shop.example"],
      ["User-Agent", agent],
      ["Accept", "*/*"],
      ["X-Forwarded-Proto", "https"],
    ]);
    t.match(curl, { action: "challenge", verdict: /^(confident_automated|definite)$/ });
    t.match(await judged(session, navigation), { action: "allow" }, "the person keeps it");
  });

  await t.test(
    "a session at definite 1 solves and is refused, then waits; it passes no more than before",
    async (t) => {
      const python = "python-requests/2.32.3";
      const headers = { "user-agent": python, accept: "*/*", "x-service-site-key": tenant.siteKey };
      const body = automatedBatch("python00");
      const session: string = (await server.ask("POST", "/v1/events", { headers, body })).json.session_token;
      const detail = () =>
        server.ask("GET", `/v1/projects/${tenant.projectId}/sessions/${session}`, { token: tenant.token });
      t.equal((await askUntil(detail, ({ json }) => json.verdict !== "not_computed")).json.verdict, "definite");
      const program = new ChallengedVisitor(server, tenant, python);
      const solution = await solutionOf((await program.issue(session)).json);
      const refused = await program.send(session, solution);
      t.same([refused.status, refused.json.code], [403, "CHALLENGE_REFUSED"]);
      t.match(refused.json.message, /try again in 30 s/);
      for (const again of [await program.issue(session), await program.send(session, solution)]) {
        t.same([again.status, again.json.code], [403, "CHALLENGE_REFUSED"]);
        t.match(again.json.message, /try again in (?:[12]\d|30|\d) s/);
      }
      t.equal(await action(session, "/c", python), "challenge");
      t.equal((await detail()).json.cleared_at ?? null, null);
    },
  );

  await t.test("a session without an `env` event is refused, and may try again at once", async (t) => {
    const session = await newSession();
    const refused = await visitor.send(session, await solutionOf((await visitor.issue(session)).json));
    t.same([refused.status, refused.json.code], [403, "CHALLENGE_REFUSED"]);
    t.match(refused.json.message, /`env`/);
    t.equal(await action(session), "challenge");
    await visitor.report(session);
    t.equal((await visitor.send(session, await solutionOf((await visitor.issue(session)).json))).status, 200);
    t.equal(await action(session), "allow");
  });

  await t.test("another site can't pass it for a visitor by his cookie", async (t) => {
    const session = await newSession();
    const solution = await solutionOf((await visitor.issue(session)).json);
    await visitor.report(session);
    const headers = { Cookie: `service_session=${session}`, Origin: "https://evil.example" };
    const client = await RawClient.open(server.port);
    client.write(post("/v1/challenges/solution", JSON.stringify({ solution }), headers));
    const answer = await client.answer();
    t.equal(answer?.status, 422, "the session is named in the body, which he does not know");
    t.equal(answer?.headers.get("access-control-allow-credentials"), undefined);
    client.leave();
    t.equal(await action(session), "challenge");
  });

  async function askForwardAuth(headers: Record<string, string>): Promise<RawAnswer | null> {
    const client = await RawClient.open(server.port);
    client.write(
      rawRequest("GET", "/v1/forward-auth", {
        "X-Forwarded-Uri": "/c",
        "X-Service-Private-Key": tenant.privateKey,
        ...headers,
      }),
    );
    const answer = await client.answer();
    client.leave();
    return answer;
  }

  await t.test("the page says nothing that the request wrote, leads nowhere, and sets nothing", async (t) => {
    const session = await newSession();
    const script = "<script>alert(1)</script>";
    for (const lie of [
      { "X-Forwarded-Host": `shop.example"><script>alert(1)</script><a href='//evil.example'>` },
      { "X-Forwarded-Uri": "/c?next=//evil.example/&next=javascript:alert(1)" },
      { "X-Forwarded-Uri": "/c%0d%0aSet-Cookie:%20evil=1%0d%0aLocation:%20//evil.example" },
      { "X-Forwarded-Host": "shop.example%0d%0aSet-Cookie: evil=1" },
      { "X-Forwarded-Method": `POST"><script>alert(1)</script>` },
      { "Accept-Language": `"><script>alert(1)</script>` },
      { Referer: "https://evil.example/" },
      { "X-Request-Id": script, "X-Verdict-Id": script },
    ] satisfies Record<string, string>[]) {
      const sent = { "User-Agent": agent, Accept: "text/html", Cookie: `service_session=${session}`, ...lie };
      const answer = await askForwardAuth(sent as unknown as Record<string, string>);
      const name = JSON.stringify(lie);
      t.equal(answer?.status, 401, name);
      const body = answer?.body ?? "";
      t.notOk(body.includes("<script>alert"), name);
      t.same(body.match(/<a [^>]*>/g), ['<a href="">'], "the only link is to the page itself");
      t.notMatch(body, /<[^>]*(?:evil|javascript:|http-equiv)/, name);
      t.equal(answer?.headers.get("location"), undefined, name);
      t.equal(answer?.headers.get("set-cookie"), undefined, name);
      t.notMatch([...(answer?.headers.values() ?? [])].join("\n"), /evil|alert/, name);
      const policy = answer?.headers.get("content-security-policy") ?? "";
      t.match(policy, /default-src 'none'.*base-uri 'none'; form-action 'none'; frame-ancestors 'self'/, name);
      const hash = createHash("sha256").update(challengeStyle).digest("base64");
      t.ok(policy.includes(`style-src 'sha256-${hash}'`), "and its style is the one that its policy lets in");
      t.notMatch(policy, /unsafe/);
    }
  });
});
