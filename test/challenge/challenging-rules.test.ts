/** Which of a session's challenges counts for the rule that asked for it, under a clock of the test's own. */
import { randomBytes } from "node:crypto";
import t from "tap";
import { ChallengingRules, newChallengingRules } from "../../src/challenge/challenging-rules.js";
import { encodeSessionToken } from "../../src/contract/sessions/session-token.js";
import { limits } from "../../src/limits.js";

const project = 3;
const startMs = 1_800_000_000_000;
const windowMs = limits.challengeMs;
const visitor = { ip: "192.0.2.1", userAgent: "UA" };
const of = (token: string, projectId = project) => ({ projectId, token, ...visitor });
const newToken = (): string => encodeSessionToken(randomBytes(21));

t.test("one challenge of a session counts in each time window, and only after a rule has challenged", (t) => {
  const rules = new ChallengingRules(newChallengingRules());
  const token = newToken();
  const taken = (nowMs: number) => {
    const { rule, isCounted } = rules.take(of(token, project), nowMs);
    return [rule, isCounted];
  };
  t.same(taken(startMs), [0, false], "no rule has challenged it");
  rules.record(of(token, project), 7, "likely_human");
  t.same(rules.take(of(token, project), startMs), { rule: 7, countedAtMs: startMs, isCounted: true });
  rules.record(of(token, project), 7, "likely_human");
  rules.record(of(token, project), 8, "likely_human");
  t.same(
    rules.take(of(token, project), startMs + windowMs - 1),
    { rule: 7, countedAtMs: startMs, isCounted: false },
    "the next ones belong to the one that counts",
  );
  t.same(taken(startMs + windowMs), [8, true], "after the window the rule that challenged meanwhile has one");
  t.same(taken(startMs + 3 * windowMs), [0, false], "which is used up");
  rules.record(of(token, project), 8, "likely_human");
  t.same(taken(startMs + 3 * windowMs), [8, true]);
  rules.record(of(token, project), 8, "likely_human");
  t.same(taken(startMs), [8, false], "a clock that was set back counts nothing twice");
  t.end();
});

t.test("sessions, projects and malformed tokens are told apart, and threads share what is known", (t) => {
  const memory = newChallengingRules();
  const [one, two] = [new ChallengingRules(memory), new ChallengingRules(memory)];
  const token = newToken();
  one.record(of(token, project), 7, "likely_human");
  one.record(of("sess_malformed", project), 7, "likely_human");
  t.equal(one.take(of(newToken(), project), startMs).rule, 0);
  t.equal(one.take(of(token, project + 1), startMs).rule, 0);
  t.equal(one.take(of("sess_malformed", project), startMs).rule, 0);
  t.equal(two.take(of(token, project), startMs).isCounted, true);
  t.equal(one.take(of(token, project), startMs).isCounted, false);
  t.end();
});

t.test("a session that takes the slot of another inherits nothing", (t) => {
  const rules = new ChallengingRules(newChallengingRules());
  const bytes = randomBytes(21);
  const token = encodeSessionToken(bytes);
  // The slot is named by bytes 5 and 6; the two words behind byte 9 say whose it is.
  const other = Buffer.from(bytes);
  other[10] = bytes[10]! ^ 1;
  rules.record(of(token, project), 7, "likely_human");
  rules.take(of(token, project), startMs);
  rules.record(of(encodeSessionToken(other), project), 8, "likely_human");
  t.same(rules.take(of(token, project), startMs), { rule: 0, countedAtMs: 0, isCounted: false });
  t.same(rules.take(of(encodeSessionToken(other), project), startMs), {
    rule: 8,
    countedAtMs: startMs,
    isCounted: true,
  });
  t.end();
});

t.test(
  "a visitor's first page is challenged before there is a session: the session that asks next has his challenge",
  (t) => {
    const rules = new ChallengingRules(newChallengingRules());
    const withoutSession = { projectId: project, token: null, ...visitor };
    rules.record(withoutSession, 7, "likely_automated");
    const [one, two, stranger] = [newToken(), newToken(), newToken()];
    t.equal(rules.take({ ...of(stranger), ip: "192.0.2.2" }, startMs).rule, 0, "another address");
    t.equal(rules.take({ ...of(stranger), userAgent: "UA 2" }, startMs).rule, 0, "another browser");
    t.equal(rules.take(of(stranger, project + 1), startMs).rule, 0, "another project");
    t.same(rules.take(of(one), startMs), { rule: 7, countedAtMs: startMs, isCounted: true });
    t.equal(rules.bandOf(project, one), "likely_automated");
    t.same(rules.take(of(one), startMs), { rule: 7, countedAtMs: startMs, isCounted: false });
    t.equal(rules.take(of(two), startMs).rule, 0, "it counts once");
    t.equal(rules.bandOf(project, two), null);
    rules.record(withoutSession, 8, "definite");
    rules.record(of(two), 9, "likely_human");
    t.equal(rules.take(of(two), startMs).rule, 9, "what challenged the session itself goes first");
    t.equal(rules.bandOf(project, two), "likely_human");
    t.end();
  },
);
