/** The puzzles against altcha-lib, whose protocol they speak: what one makes the other checks, whatever was done to it on the way. */
import { createChallenge, verifySolution } from "altcha-lib";
import t from "tap";
import { checkSolution, makePuzzles, puzzleKeys } from "../../src/challenge/puzzle.js";
import { workOf } from "../../src/challenge/work.js";
import { deriveKey, encodedSolution, solutionOf, solvedOf } from "../support/challenges.js";

const keys = puzzleKeys("a secret");
const work = { cost: 10, counterMax: 40 };
const nowMs = Date.now();
const data = { session: "sess_x", issued_at_ms: nowMs, rule: 7, counted_at_ms: nowMs };
const expiresAt = Math.floor(nowMs / 1000) + 600;
const secrets = { hmacSignatureSecret: keys.signature, hmacKeySignatureSecret: keys.key };
const make = (of = keys) => makePuzzles(of, work, data, expiresAt);

t.test("altcha-lib solves and accepts what verdictd makes", async (t) => {
  const puzzles = await make();
  t.equal(puzzles.length, 8);
  const solved = await solvedOf({ puzzles });
  for (const { challenge, solution } of solved) {
    t.ok(solution.counter >= 0 && solution.counter <= 40);
    const { verified } = await verifySolution({ challenge, solution: solution as never, deriveKey, ...secrets });
    t.equal(verified, true);
  }
  const checked = checkSolution(keys, encodedSolution(solved), nowMs);
  t.ok(typeof checked === "object");
  if (typeof checked === "object") t.match(checked.parameters.data, data);
});

t.test(
  "a challenge of a build before, whose first puzzle does not name the others, is refused and breaks nothing",
  async (t) => {
    const options = { algorithm: "PBKDF2/SHA-256", cost: 10, counter: 12, expiresAt, deriveKey, ...secrets } as const;
    const first = await createChallenge({ ...options, data });
    const set = first.parameters.nonce;
    const others = [1, 2, 3, 4, 5, 6, 7].map((place) => createChallenge({ ...options, data: { place, set } }));
    const solution = await solutionOf({ puzzles: [first, ...(await Promise.all(others))] });
    t.equal(checkSolution(keys, solution, nowMs), "mixed");
  },
);

t.test("a signature or key that was changed in any place is refused", async (t) => {
  const solved = await solvedOf({ puzzles: await make() });
  const check = (place: number, changed: object): unknown =>
    checkSolution(
      keys,
      encodedSolution(solved.map((each, at) => (at === place ? { ...each, ...changed } : each))),
      nowMs,
    );
  for (const [place, { challenge, solution }] of solved.entries()) {
    const signed = { parameters: challenge.parameters };
    t.equal(check(place, { challenge: { ...signed, signature: "0".repeat(64) } }), "forged");
    const cheaper = { ...challenge, parameters: { ...challenge.parameters, keyPrefix: "00" } };
    t.equal(check(place, { challenge: cheaper }), "forged");
    t.equal(check(place, { solution: { ...solution, derivedKey: "0".repeat(64) } }), "wrong");
  }
});

t.test("an answer lies anywhere from the first counter on, and the sum of eight varies little", async (t) => {
  const sums: number[] = [];
  const counters: number[] = [];
  for (let runs = 0; runs < 60; runs++) {
    const solved = await solvedOf({ puzzles: await make() });
    counters.push(...solved.map(({ solution }) => solution.counter));
    sums.push(solved.reduce((sum, { solution }) => sum + solution.counter + 1, 0));
  }
  // 480 of 41 counters each: that a tenth of the range has fewer than a twentieth of them is one in a million.
  for (let tenth = 0; tenth < 10; tenth++) {
    const inTenth = counters.filter((counter) => Math.floor((counter * 10) / 41) === tenth);
    t.ok(inTenth.length > 480 / 20, `${tenth}: ${inTenth.length}`);
  }
  const mean = sums.reduce((sum, each) => sum + each, 0) / sums.length;
  const deviation = Math.sqrt(sums.reduce((sum, each) => sum + (each - mean) ** 2, 0) / sums.length);
  t.ok(Math.abs(mean / (8 * 21) - 1) < 0.15, `${mean}`);
  t.ok(deviation / mean < 0.32, `${deviation / mean}`);
});

t.test("one that is missing, repeated, moved or of another challenge is refused", async (t) => {
  const solved = await solvedOf({ puzzles: await make() });
  const other = await solvedOf({ puzzles: await make() });
  const check = (list: unknown) => checkSolution(keys, encodedSolution(list), nowMs);
  t.equal(typeof check(solved), "object");
  t.equal(check(solved.slice(1)), "malformed");
  t.equal(check([...solved, solved[0]]), "malformed");
  t.equal(check(solved[0]), "malformed");
  t.equal(check([solved[0], solved[1], solved[1], ...solved.slice(3)]), "mixed");
  t.equal(check([solved[1], solved[0], ...solved.slice(2)]), "mixed");
  t.equal(check(solved.map(() => solved[0])), "mixed");
  t.equal(check([other[0], ...solved.slice(1)]), "mixed");
  t.equal(check([...solved.slice(0, 7), other[7]]), "mixed");
});

t.test("anything that was changed is refused", async (t) => {
  const puzzles = await make();
  const solved = await solvedOf({ puzzles });
  for (const place of [0, 5]) {
    const { challenge, solution } = solved[place]!;
    const check = (changes: { parameters?: object; signature?: unknown; solution?: object }, atMs = nowMs) => {
      const changed = {
        challenge: {
          parameters: { ...challenge.parameters, ...changes.parameters },
          signature: "signature" in changes ? changes.signature : challenge.signature,
        },
        solution: { ...solution, ...changes.solution },
      };
      return checkSolution(keys, encodedSolution(solved.with(place, changed as never)), atMs);
    };
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
  }
  t.equal(checkSolution(puzzleKeys("another secret"), encodedSolution(solved), nowMs), "forged");
  for (const text of [
    "",
    "%%%",
    "e30=",
    "bnVsbA==",
    "W10=",
    encodedSolution({ challenge: null }),
    encodedSolution([]),
    encodedSolution(Array.from({ length: 8 }, () => null)),
    encodedSolution(Array.from({ length: 8 }, () => ({ challenge: [], solution: 1 }))),
  ]) {
    t.equal(checkSolution(keys, text, nowMs), "malformed", text);
  }
});

t.test("a solution fits its body with room to spare", async (t) => {
  const high = workOf("high", "definite", 1, 30);
  const { counterMax } = high;
  t.ok(counterMax < 10_000, "a counter has four digits at most");
  const puzzles = await makePuzzles(
    keys,
    { cost: 2000, counterMax: 1 },
    { ...data, session: "x".repeat(40) },
    expiresAt,
  );
  const solution = encodedSolution(
    (await solvedOf({ puzzles })).map(({ challenge, solution }) => ({
      challenge,
      solution: { ...solution, counter: 9999, time: 123_456.7 },
    })),
  );
  t.ok(solution.length + 200 < 8192, `${solution.length}`);
});

t.test("work follows difficulty and band", (t) => {
  /** Counters of all eight in the mean. */
  const mean = (...given: Parameters<typeof workOf>): number => (8 * (workOf(...given).counterMax + 1)) / 2;
  const about = (found: number, wanted: number): void => {
    t.ok(Math.abs(found - wanted) <= 4, `${found} for ${wanted}`);
  };
  const normal = mean("normal", "likely_automated", 20, 30);
  t.equal(mean("normal", "not_computed", 0, 30), normal);
  t.equal(mean("normal", "likely_human", 30, 30), normal, "at the threshold, not above");
  about(mean("normal", "likely_human", 31, 30), normal / 2);
  about(mean("normal", "confident_automated", 10, 30), 2 * normal);
  about(mean("low", "likely_automated", 20, 30), 0.3 * normal);
  about(mean("high", "likely_automated", 20, 30), 4 * normal);
  t.end();
});
