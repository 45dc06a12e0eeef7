/** The verdict reader with sources and a clock of the test's own: caching, what is served at once, failing open, what is recorded. */
import t from "tap";
import { serveOptions } from "../../src/config/config.js";
import type { ScoredState } from "../../src/contract/sessions/session.js";
import type { RequestContext } from "../../src/contract/verdicts/verdict.js";
import { limits } from "../../src/limits.js";
import { RequestVerdicts, requestVerdictText } from "../../src/verdict/request-verdicts.js";
import { failOpenVerdict, type NamedRule, type WordedDecision } from "../../src/verdict/resolve.js";
import { type SentContext, VerdictCache } from "../../src/verdict/verdict-cache.js";
import { stateStamp, VerdictReader, type VerdictSources } from "../../src/verdict/verdict-reader.js";
import { nowMs, plainRequest, project, rule, session } from "./material.js";

const token = "sess_a";

const question = {
  sessionToken: token,
  request: {
    context: { ip: "192.0.2.1" },
    headers: [],
    isAsReceived: true,
    httpVersion: undefined,
    ja4: undefined,
  },
  hasHeaders: true,
  wantsToken: false,
  target: undefined,
  authority: undefined,
};

/** A reader over state that the test changes as it goes. */
function reading(ttlMs = 60_000) {
  const world = {
    nowMs,
    scored: session(3) as ScoredState | null,
    rules: [] as readonly NamedRule[],
    computed: [] as WordedDecision[],
    answers: [] as string[],
    failures: [] as unknown[],
  };
  const sources: VerdictSources = {
    scoredState: () => world.scored,
    stateStamp: (project, _, nowMs) => (world.scored === null ? 0 : stateStamp(world.scored, project, nowMs)),
    exceptionsOf: () => null,
    rulesOf: () => world.rules,
    verifiedBotAt: () => null,
    addresses: { networkOf: () => ({ country: undefined, asn: undefined, asName: undefined }), listsOf: () => [] },
    meaningOf: () => "",
    onComputed: (_project, _token, _context, decision) => world.computed.push(decision),
    onAnswer: (_project, _verdict, source) => world.answers.push(source),
    onFailure: (error) => world.failures.push(error),
    now: () => world.nowMs,
  };
  const reader = (changed: Partial<VerdictSources> = {}) =>
    new VerdictReader({ sources: { ...sources, ...changed }, ttlMs, cacheBytesMax: 1 << 20 });
  return { world, sources, reader };
}

t.test("a verdict is served from the cache until its TTL ends, then computed anew", async (t) => {
  const { world, reader } = reading();
  const verdicts = reader();
  const first = verdicts.read(project(), token, {});
  world.rules = [rule(1, "score < 99", "block")];
  world.scored = session(20);
  world.nowMs += 59_999;
  t.equal(verdicts.read(project(), token, {}), first, "a rule change waits for the TTL");
  world.nowMs += 1;
  t.match(JSON.parse(verdicts.read(project(), token, {})), { score: 20, action: "block" });
  t.same(world.answers, ["computed", "cached", "computed"]);
});

t.test("a TTL of 0 turns the cache off", async (t) => {
  const { world, reader } = reading(0);
  const verdicts = reader();
  verdicts.read(project(), token, {});
  world.rules = [rule(1, "score < 99", "delay")];
  t.equal(JSON.parse(verdicts.read(project(), token, {})).action, "delay");
  t.same(world.answers, ["computed", "computed"]);
});

t.test("project, settings, session and each value of the context are told apart", async (t) => {
  const { world, reader } = reading();
  const verdicts = reader();
  const contexts: RequestContext[] = [
    {},
    { path: "/a" },
    { path: "/b" },
    { method: "GET" },
    { method: "POST" },
    { host: "a" },
    { host: "b" },
    { ip: "192.0.2.1" },
    { ip: "192.0.2.2" },
    { userAgent: "a" },
    { userAgent: "b" },
    { path: "/a", host: "b" },
    { path: "/a", userAgent: "b" },
  ];
  const reads = (): void => {
    for (const context of contexts) verdicts.read(project(), token, context);
    verdicts.read(project(), "sess_b", {});
    verdicts.read(project({}, { id: 2 }), token, {});
    verdicts.read(project({}, { settingsRevision: 2 }), token, {});
  };
  reads();
  t.same(new Set(world.answers), new Set(["computed"]));
  reads();
  t.equal(world.answers.filter((each) => each === "cached").length, contexts.length + 3);
});

t.test("a settings change takes effect at once", async (t) => {
  const { world, reader } = reading();
  world.scored = session(25);
  const verdicts = reader();
  t.equal(JSON.parse(verdicts.read(project(), token, {})).verdict, "likely_automated");
  const changed = project({}, { likelyBotThreshold: 10, settingsRevision: 2 });
  t.equal(JSON.parse(verdicts.read(changed, token, {})).verdict, "likely_human");
});

t.test("a logged-in assertion takes effect at once, and its end does not wait for the TTL", async (t) => {
  const { world, reader } = reading(3_600_000);
  const whitelist = project({ loggedInPolicy: "whitelist" });
  world.scored = session(20);
  world.rules = [rule(1, "score < 99", "block")];
  const verdicts = reader();
  const action = () => JSON.parse(verdicts.read(whitelist, token, {})).action;
  t.equal(action(), "block");
  world.scored = session(20, { loggedInAtMs: world.nowMs });
  t.equal(action(), "allow");
  t.equal(action(), "allow");
  world.nowMs += limits.loggedInMs - 1;
  t.equal(action(), "allow");
  world.nowMs += 1;
  t.equal(action(), "block");
});

t.test("not_computed is never cached", async (t) => {
  const { world, reader } = reading();
  const verdicts = reader();
  world.scored = null;
  t.equal(JSON.parse(verdicts.read(project(), token, {})).verdict, "not_computed");
  world.scored = session(0, { scored: false, score: 0 });
  t.equal(JSON.parse(verdicts.read(project(), token, {})).verdict, "not_computed");
  world.scored = session(3);
  t.equal(JSON.parse(verdicts.read(project(), token, {})).verdict, "definite");
  t.same(world.answers, ["fail_open", "fail_open", "computed"]);
});

t.test("whatever source fails, the answer is the fail-open body, and the failure is told", async (t) => {
  const fail = (): never => {
    throw new Error("the disk is on fire");
  };
  for (const name of ["scoredState", "rulesOf", "verifiedBotAt", "meaningOf", "onComputed", "stateStamp"] as const) {
    const { world, reader } = reading();
    const verdicts = reader({ [name]: fail });
    const policy = project({ loggedInPolicy: "whitelist" });
    for (let round = 0; round < 2; round++) verdicts.read(policy, token, { ip: "192.0.2.1" });
    const body = JSON.parse(verdicts.read(policy, token, { ip: "192.0.2.1" }));
    t.match(body, { verdict: "not_computed", score: 0, action: "allow", detection_ids: [] }, name);
    t.ok(world.failures.length > 0, `${name} is told`);
  }
});

t.test(
  "whatever fails while a request is judged, at once or later, it is let in, and the failure is told",
  async (t) => {
    const error = new Error("the disk is on fire");
    const fail = (): never => {
      throw error;
    };
    const examine = () => plainRequest;
    const settings = project({}, { requestScoring: { enabled: true, signedAgents: "allow" } });
    const cases: [string, object][] = [
      ...(["scoredState", "rulesOf", "verifiedBotAt", "meaningOf", "onComputed", "examine"] as const).map(
        (name): [string, object] => [name, { [name]: fail }],
      ),
      ["a look-up that waits", { examine: async () => fail() }],
      ["a rule after a look-up that waits", { examine: async () => plainRequest, rulesOf: fail }],
    ];
    for (const [name, changed] of cases) {
      const { world, sources, reader } = reading();
      const answer = await new RequestVerdicts(
        { ...sources, examine, freshToken: () => null, ...changed },
        reader(),
      ).judge(settings, question);
      t.match(JSON.parse(requestVerdictText(answer)), { ...failOpenVerdict(), subject: "request" }, name);
      t.same(world.failures, [error], name);
      t.same(world.answers, ["fail_open"], name);
    }
  },
);

t.test("a request whose session could not be asked for is let in, though alone it would be blocked", async (t) => {
  const { world, sources, reader } = reading();
  world.scored = null;
  world.rules = [rule(1, "score < 99", "block")];
  let unanswered = 0;
  const judge = (isUnanswered: boolean) =>
    new RequestVerdicts(
      {
        ...sources,
        examine: () => plainRequest,
        freshToken: () => null,
        isUnanswered: () => isUnanswered,
        onUnanswered: () => unanswered++,
      },
      reader(),
    ).judge(project({}, { requestScoring: { enabled: true, signedAgents: "allow" } }), {
      ...question,
      sessionToken: token,
    });
  t.match(JSON.parse(requestVerdictText(await judge(false))), { action: "block", subject: "request" });
  t.match(JSON.parse(requestVerdictText(await judge(true))), {
    verdict: "not_computed",
    action: "allow",
    reason: /did not answer in time/,
    subject: "request",
  });
  t.same([world.answers, world.computed.length, unanswered], [["computed", "fail_open"], 1, 1]);
});

t.test("a block is told once for a computed verdict, not for a cached one", async (t) => {
  const { world, reader } = reading();
  world.rules = [rule(7, "score < 5", "block")];
  const verdicts = reader();
  for (let round = 0; round < 5; round++) verdicts.read(project(), token, {});
  t.same(
    world.computed.map(({ blocked, rule: cause }) => [blocked, cause?.id]),
    [[true, 7]],
  );
  world.nowMs += 60_000;
  verdicts.read(project(), token, {});
  t.equal(world.computed.length, 2);
});

t.test("the cache is bounded in bytes: most late entries stay, and none beyond its time", async (t) => {
  const cache = new VerdictCache(100_000);
  const key = (index: number, sent: SentContext = {}) => {
    const token = `sess_${Math.imul(index, 0x9e3779b1) >>> 0}`;
    return { projectId: 1, settingsRevision: 1, token, sent };
  };
  const entry = (text: string) => ({
    text: { verdict: failOpenVerdict(), body: text },
    stateStamp: 0,
  });
  for (let index = 0; index < 10_000; index++) cache.set(key(index), entry("x".repeat(300)), nowMs, nowMs + 1);
  const isKept = (index: number): boolean => cache.get(key(index), nowMs) !== null;
  const kept = Array.from({ length: 10_000 }, (_, index) => index).filter(isKept);
  t.ok(kept.length <= 100_000 / 400, `${kept.length} entries are kept`);
  t.ok(kept.length > 100_000 / 1000, "and the room is used");
  t.ok(isKept(9999));
  t.equal(cache.get(key(9999), nowMs + 1), null);
  cache.set(key(9999), entry("y"), nowMs, nowMs + 2);
  t.equal(cache.get(key(9999), nowMs)?.text.body, "y", "the later one of a key counts");
  const large = { userAgent: "x".repeat(200_000) };
  cache.set(key(9999, large), entry("z"), nowMs, nowMs + 1);
  t.equal(cache.get(key(9999, large), nowMs), null, "what is over the bound alone is not kept");
});

t.test("the cache's table grows with the entries that are in use at the same time, and only with them", async (t) => {
  const cache = new VerdictCache(1 << 26);
  const key = (index: number) => {
    const token = `sess_${(Math.imul(index, 0x9e3779b1) >>> 0).toString(36).padStart(7, "0")}`;
    return { projectId: 1, settingsRevision: 1, token, sent: {} };
  };
  const entry = { text: { verdict: failOpenVerdict(), body: "{}" }, stateStamp: 0 };
  const first = cache.slots;
  for (let at = 0; at < 100_000; at++) cache.set(key(at), entry, nowMs + at, nowMs + at + 500);
  t.equal(cache.slots, first, "500 at a time, however many one after another");
  const laterMs = nowMs + 1_000_000;
  for (let round = 0; round < 50; round++) {
    for (let index = 0; index < 500; index++) cache.set(key(index), entry, laterMs, laterMs + 1000);
  }
  t.equal(cache.slots, first, "the same ones again and again");
  const used = 20_000;
  const missesOf = (): number => {
    let misses = 0;
    for (let index = 0; index < used; index++) {
      if (cache.get(key(index), laterMs) !== null) continue;
      misses++;
      cache.set(key(index), entry, laterMs, laterMs + 1000);
    }
    return misses;
  };
  for (let round = 0; round < 5; round++) missesOf();
  t.ok(cache.slots > used, `${cache.slots} slots`);
  const misses = missesOf();
  t.ok(misses < used / 16, `${misses} of ${used} are not found`);
  for (let index = 0; index < 1_000_000; index++) cache.set(key(index), entry, laterMs, laterMs + 1000);
  t.equal(cache.slots, 2 ** 18, "as many as fit into its bytes");
});

t.test("an answer counts for the context that it was given to, in each of its parts", async (t) => {
  const context: RequestContext = {
    path: "/a",
    method: "GET",
    host: "shop.example",
    ip: "203.0.113.7",
    userAgent: "x",
  };
  const whole: SentContext = { ...context, query: "path=/b" };
  const key = (sent: SentContext) => ({
    projectId: 1,
    settingsRevision: 1,
    token: `sess_${"a".repeat(28)}`,
    sent,
  });
  const entry = { text: { verdict: failOpenVerdict(), body: "{}" }, stateStamp: 0 };
  const cache = new VerdictCache(100_000);
  const isKnown = (sent: SentContext): boolean => cache.get(key(sent), nowMs) !== null;
  cache.set(key(whole), entry, nowMs, nowMs + 1);
  t.ok(isKnown({ ...whole }), "the same context of another request");
  for (const part of Object.keys(whole) as (keyof SentContext)[]) {
    const { [part]: _, ...without } = whole;
    t.notOk(isKnown({ ...whole, [part]: "other" }), `another ${part}`);
    t.notOk(isKnown(without), `no ${part}`);
  }
  t.notOk(isKnown({}));
  cache.set(key({}), entry, nowMs, nowMs + 1);
  t.ok(isKnown({}));
  t.notOk(isKnown({ path: "/b" }), "an answer to no context is none to a path");
});

t.test("the TTL is 60 seconds unless said otherwise", async (t) => {
  t.equal(serveOptions["verdict-ttl"].fallback, 60);
});
