/** Which of a session's challenges counts for the rule that asked for it, under a clock of the test's own. */
import { randomBytes } from "node:crypto";
import t from "tap";
import { ChallengingRules, newChallengingRules } from "../../src/challenge/challenging-rules.js";
import { encodeSessionToken } from "../../src/contract/session-token.js";
import { limits } from "../../src/limits.js";

const project = 3;
const startMs = 1_800_000_000_000;
const windowMs = limits.challengeMs;
const newToken = (): string => encodeSessionToken(randomBytes(21));

t.test("one challenge of a session counts in each time window, and only after a rule has challenged", (t) => {
  const rules = new ChallengingRules(newChallengingRules());
  const token = newToken();
  const taken = (nowMs: number) => {
    const { rule, isCounted } = rules.take(project, token, nowMs);
    return [rule, isCounted];
  };
  t.same(taken(startMs), [0, false], "no rule has challenged it");
  rules.record(project, token, 7);
  t.same(rules.take(project, token, startMs), { rule: 7, countedAtMs: startMs, isCounted: true });
  rules.record(project, token, 7);
  rules.record(project, token, 8);
  t.same(
    rules.take(project, token, startMs + windowMs - 1),
    { rule: 7, countedAtMs: startMs, isCounted: false },
    "the next ones belong to the one that counts",
  );
  t.same(taken(startMs + windowMs), [8, true], "after the window the rule that challenged meanwhile has one");
  t.same(taken(startMs + 3 * windowMs), [0, false], "which is used up");
  rules.record(project, token, 8);
  t.same(taken(startMs + 3 * windowMs), [8, true]);
  rules.record(project, token, 8);
  t.same(taken(startMs), [8, false], "a clock that was set back counts nothing twice");
  t.end();
});

t.test("sessions, projects and malformed tokens are told apart, and threads share what is known", (t) => {
  const memory = newChallengingRules();
  const [one, two] = [new ChallengingRules(memory), new ChallengingRules(memory)];
  const token = newToken();
  one.record(project, token, 7);
  one.record(project, "sess_malformed", 7);
  t.equal(one.take(project, newToken(), startMs).rule, 0);
  t.equal(one.take(project + 1, token, startMs).rule, 0);
  t.equal(one.take(project, "sess_malformed", startMs).rule, 0);
  t.equal(two.take(project, token, startMs).isCounted, true);
  t.equal(one.take(project, token, startMs).isCounted, false);
  t.end();
});

t.test("a session that takes the slot of another inherits nothing", (t) => {
  const rules = new ChallengingRules(newChallengingRules());
  const bytes = randomBytes(21);
  const token = encodeSessionToken(bytes);
  // The slot is named by bytes 5 and 6; the two words behind byte 9 say whose it is.
  const other = Buffer.from(bytes);
  other[10] = bytes[10]! ^ 1;
  rules.record(project, token, 7);
  rules.take(project, token, startMs);
  rules.record(project, encodeSessionToken(other), 8);
  t.same(rules.take(project, token, startMs), { rule: 0, countedAtMs: 0, isCounted: false });
  t.same(rules.take(project, encodeSessionToken(other), startMs), { rule: 8, countedAtMs: startMs, isCounted: true });
  t.end();
});
