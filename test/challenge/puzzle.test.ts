/** The puzzle against altcha-lib, whose protocol it speaks: what one makes the other checks, whatever was done to it on the way. */
import { createChallenge, solveChallenge, verifySolution } from "altcha-lib";
import t from "tap";
import { checkSolution, makePuzzle, puzzleKeys } from "../../src/challenge/puzzle.js";
import { workOf } from "../../src/challenge/work.js";
import { deriveKey, encodedSolution, solutionOf } from "../support/challenges.js";

const keys = puzzleKeys("a secret");
const work = { cost: 10, counterMin: 5, counterMax: 40 };
const nowMs = Date.now();
const data = { session: "sess_x", issued_at_ms: nowMs, rule: 7, counted_at_ms: nowMs };
const expiresAt = Math.floor(nowMs / 1000) + 600;
const secrets = { hmacSignatureSecret: keys.signature, hmacKeySignatureSecret: keys.key };

t.test("altcha-lib solves and accepts what verdictd makes", async (t) => {
  for (let runs = 0; runs < 20; runs++) {
    const challenge = await makePuzzle(keys, work, data, expiresAt);
    const solution = await solveChallenge({ challenge: challenge as never, deriveKey });
    t.ok(solution !== null && solution.counter >= 5 && solution.counter <= 40);
    const { verified } = await verifySolution({
      challenge: challenge as never,
      solution: solution!,
      deriveKey,
      ...secrets,
    });
    t.equal(verified, true);
  }
});

t.test("verdictd accepts what altcha-lib makes in the same form", async (t) => {
  const challenge = await createChallenge({
    algorithm: "PBKDF2/SHA-256",
    cost: 10,
    counter: 12,
    data,
    expiresAt,
    deriveKey,
    ...secrets,
  });
  const checked = checkSolution(keys, await solutionOf(challenge), nowMs);
  t.ok(typeof checked === "object");
  if (typeof checked === "object") t.same(checked.parameters.data, data);
});

t.test("anything that was changed is refused", async (t) => {
  const challenge = await makePuzzle(keys, work, data, expiresAt);
  const solution = (await solveChallenge({ challenge: challenge as never, deriveKey }))!;
  const check = (changes: { parameters?: object; signature?: unknown; solution?: object }, atMs = nowMs) =>
    checkSolution(
      keys,
      encodedSolution({
        challenge: {
          parameters: { ...challenge.parameters, ...changes.parameters },
          signature: "signature" in changes ? changes.signature : challenge.signature,
        },
        solution: { ...solution, ...changes.solution },
      }),
      atMs,
    );
  t.equal(typeof check({}), "object", "as it is it holds");
  t.equal(check({}, expiresAt * 1000 + 1), "expired");
  for (const [name, value] of Object.entries(challenge.parameters)) {
    const changed =
      typeof value === "number" ? value + 1 : typeof value === "string" ? `${value}0` : { ...value, rule: 8 };
    t.equal(check({ parameters: { [name]: changed } }), "forged", name);
  }
  t.equal(check({ parameters: { more: 1 } }), "forged");
  t.equal(check({ signature: "0".repeat(64) }), "forged");
  t.equal(check({ signature: undefined }), "malformed");
  t.equal(check({ signature: ["0".repeat(64)] }), "malformed");
  t.equal(check({ solution: { derivedKey: "0".repeat(64) } }), "wrong");
  t.equal(check({ solution: { derivedKey: solution.derivedKey.toUpperCase() } }), "malformed");
  t.equal(check({ solution: { derivedKey: solution.derivedKey.slice(2) } }), "malformed");
  t.equal(checkSolution(puzzleKeys("another secret"), await solutionOf(challenge as never), nowMs), "forged");
  for (const text of [
    "",
    "%%%",
    "e30=",
    "bnVsbA==",
    "W10=",
    encodedSolution({ challenge: null }),
    encodedSolution([]),
  ]) {
    t.equal(checkSolution(keys, text, nowMs), "malformed", text);
  }
});

t.test("work follows difficulty and band", (t) => {
  const mean = (...given: Parameters<typeof workOf>): number => {
    const { counterMin, counterMax } = workOf(...given);
    return (counterMin + counterMax) / 2;
  };
  const normal = mean("normal", "likely_automated", 20, 30);
  t.equal(mean("normal", "not_computed", 0, 30), normal);
  t.equal(mean("normal", "likely_human", 30, 30), normal, "at the threshold, not above");
  t.equal(mean("normal", "likely_human", 31, 30), normal / 2);
  t.equal(mean("normal", "confident_automated", 10, 30), 2 * normal);
  t.equal(mean("low", "likely_automated", 20, 30), 0.3 * normal);
  t.equal(mean("high", "likely_automated", 20, 30), 4 * normal);
  t.end();
});
