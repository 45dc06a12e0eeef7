/**
 * What must hold for every input: `fuzz` runs it, shortly in the drills and with more than a million inputs in `test:long`. A failure prints the seed and the
 * smallest counterexample.
 */
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import type { Test } from "tap";
import { parseJsonObject } from "../../src/contract/api/json-body.js";
import { addressProofBytes } from "../../src/contract/sessions/address-proof.js";
import type { ScoredState } from "../../src/contract/sessions/session.js";
import { bands } from "../../src/contract/verdicts/verdict.js";
import { Sessions } from "../../src/control-plane/sessions/sessions.js";
import { Refusal } from "../../src/errors.js";
import { checkBatch } from "../../src/ingest/decode-batch.js";
import { FrameWriter, type IngestRequest, readFrame } from "../../src/ingest/frame.js";
import { decodeScoredState, decodeSession, encodeSession } from "../../src/store/session-record.js";
import { unpackUserAgent } from "../../src/store/user-agent-pieces.js";
import { event } from "../support/batches.js";
import { holds } from "../support/property.js";
import { fuzzBatches, fuzzRules } from "./guided-targets.js";
import { noFacts, openIngest } from "./ingest.js";
import { acceptedBatchesAreScored } from "./scored-batches.js";

type Length = "short" | "long";

/** What holds, the inputs of each length, and what tries them. */
const properties: readonly [name: string, inputs: Record<Length, number>, run: (t: Test, inputs: number) => unknown][] =
  [
    ["every body is a batch or a refusal of the table", { short: 1500, long: 600_000 }, bodiesAreBatchesOrRefused],
    ["whatever goes into a frame comes out of it, in order", { short: 300, long: 20_000 }, framesKeepRequests],
    [
      "records keep what they are given, and damaged ones are no exception",
      { short: 500, long: 200_000 },
      recordsSurviveDamage,
    ],
    [
      "any order of batches, repeats and retried first contacts counts as sets would",
      { short: 30, long: 3000 },
      countsAgreeWithSets,
    ],
    ["every accepted batch leaves a score from 1 to 99", { short: 75, long: 20_000 }, acceptedBatchesAreScored],
    [
      "what coverage leads to is a batch that leaves a score, or is refused",
      { short: 120, long: 60_000 },
      (t, inputs) => fuzzBatches(t, inputs, Date.now() % 1_000_000),
    ],
    [
      "what coverage leads to is a rule that prints as itself, or is refused",
      { short: 250, long: 60_000 },
      (t, inputs) => fuzzRules(t, inputs, Date.now() % 1_000_000),
    ],
  ];

/** Runs each as a test of its own. */
export function fuzz(t: Test, length: Length): void {
  for (const [name, inputs, run] of properties) {
    t.test(name, async (t) => {
      await run(t, inputs[length]);
    });
  }
}

/** JSON text that is nearly a batch: keys of ours, values of any kind, names that prototypes have. */
const value: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue(),
  fc.double(),
  fc.constantFrom(1e308, -0, 5e-324, 2 ** 53, "__proto__", "constructor", "2026-11-21T10:00:00Z", "mouse", "page"),
);
const payloadKey = fc.constantFrom(
  "x",
  "y",
  "points",
  "strokes",
  "path",
  "webdriver",
  "languages",
  "__proto__",
  "toString",
  "zz",
);
const anyEvent = fc.oneof(
  { weight: 1, arbitrary: value },
  {
    weight: 6,
    arbitrary: fc.constantFrom(event("fuzzed-00"), event("fuzzed-01", { x: -0, y: 1e308 }), event("fuzzed-02", {})),
  },
  fc
    .record({
      request_id: fc.oneof(fc.string(), fc.constantFrom("fuzzed-00", "fuzzed-01")),
      type: fc.oneof(fc.string(), fc.constantFrom("mouse", "page", "env", "key")),
      received_at: fc.oneof(
        fc.string(),
        fc.constant("2026-11-21T10:00:00Z"),
        fc.date({ noInvalidDate: true }).map((at) => at.toISOString()),
      ),
      payload: fc.dictionary(payloadKey, value),
    })
    .map((each) => ({ ...event("fuzzed-99"), ...each })),
);
const anyBatch = fc.record(
  {
    session_token: fc.oneof(fc.constant(null), fc.string(), value),
    events: fc.oneof(fc.array(anyEvent, { maxLength: 5 }), value),
  },
  { requiredKeys: [] },
);
/** A batch's text, whole or with a byte changed. */
const damagedText = fc
  .tuple(anyBatch, fc.nat(), fc.integer({ min: 0, max: 255 }), fc.boolean())
  .map(([body, at, byte, isDamaged]) => {
    const bytes = Buffer.from(JSON.stringify(body));
    if (isDamaged && bytes.length > 0) bytes[at % bytes.length] = byte;
    return bytes;
  });
const anyBytes = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));

/** Every body is a batch or a refusal of the table; nothing of it reaches a prototype. */
function bodiesAreBatchesOrRefused(t: Test, numRuns: number): void {
  const seen = { batches: 0, refused: 0 };
  holds(
    t,
    fc.property(fc.oneof(damagedText, anyBytes), (bytes) => {
      const body = parseJsonObject(bytes);
      const checked = body instanceof Refusal ? body : checkBatch(body);
      if (!(checked instanceof Refusal)) seen.batches++;
      else {
        seen.refused++;
        if (checked.error !== "invalidPayload" || checked.message.length > 1000) return false;
      }
      return Object.keys(Object.prototype).length === 0;
    }),
    { numRuns },
  );
  t.ok(seen.refused > 0 && seen.batches > 0, JSON.stringify(seen));
}

const fact = fc.string({ maxLength: 40 });
const request: fc.Arbitrary<IngestRequest> = fc.record({
  siteKey: fact,
  idempotencyKey: fc.oneof(fc.constant(null), fact),
  identity: fc.constantFrom(
    { verifiedBot: null, crawlerClaim: "none" },
    { verifiedBot: { name: "Crawler", category: "search" }, crawlerClaim: "verified" },
  ),
  identifies: fact,
  score: fc.boolean(),
  facts: fc
    .record({ ip: fact, userAgent: fact, contentType: fact, nowMs: fc.nat() })
    .map((some) => ({ ...noFacts, ...some })),
  body: anyBytes,
}) as fc.Arbitrary<IngestRequest>;
/** News for a session, which names its project too. */
const news: fc.Arbitrary<IngestRequest> = fc
  .tuple(request, fc.nat())
  .map(([each, projectId]) => ({ ...each, identifies: "sess_x", projectId }));

/** Whatever goes into a frame comes out of it, in order. */
function framesKeepRequests(t: Test, numRuns: number): void {
  holds(
    t,
    fc.property(fc.array(fc.oneof(request, news), { maxLength: 8 }), (requests) => {
      const writer = new FrameWriter();
      for (const each of requests) writer.add(each);
      return isDeepStrictEqual(readFrame(writer.take()).map(plain), requests.map(plain));
    }),
    { numRuns },
  );
}

const plain = (each: IngestRequest): unknown =>
  JSON.parse(JSON.stringify({ ...each, body: Buffer.from(each.body).toString("hex") }));

/** What one character of a packed user agent stands for. */
const userAgentPieces = Array.from({ length: 31 }, (_, index) =>
  unpackUserAgent(String.fromCharCode(1 + index)),
).filter((piece) => piece.length > 1);
/** User agents that a record packs: parts that most have, whole and cut off, after one another and between other characters. */
const userAgentPart = fc.oneof(
  fc.constantFrom(...userAgentPieces),
  fc.tuple(fc.constantFrom(...userAgentPieces), fc.nat(100)).map(([piece, length]) => piece.slice(0, length)),
  fc.string({ unit: "grapheme", maxLength: 10 }),
);
const userAgent = fc.oneof(
  fc.array(userAgentPart, { maxLength: 8 }).map((parts) => parts.join("")),
  fc.string({ unit: "grapheme", maxLength: 100 }),
);

const unproved: fc.Arbitrary<ScoredState> = fc.record(
  {
    scored: fc.boolean(),
    engineScores: fc.record(
      {
        heuristics: fc.oneof(fc.constant(null), fc.integer({ min: 1, max: 99 })),
        js_detection: fc.oneof(fc.constant(null), fc.integer({ min: 1, max: 99 })),
        behavioral: fc.oneof(fc.constant(null), fc.integer({ min: 1, max: 99 })),
      },
      { noNullPrototype: true },
    ),
    score: fc.integer({ min: 0, max: 99 }),
    detectionIds: fc.array(fc.integer({ min: 100_000, max: 999_999 }), { maxLength: 40 }),
    verifiedBot: fc.constantFrom(null, { name: "Crawler", category: "seo" as const }),
    firstSeenMs: fc.nat(),
    lastSeenMs: fc.nat(),
    loggedInAtMs: fc.nat(),
    clearance: fc.option(
      fc.record(
        {
          atMs: fc.nat(),
          band: fc.constantFrom(...bands),
          userAgentHash: fc
            .uint8Array({ minLength: 8, maxLength: 8 })
            .map((bytes) => Buffer.from(bytes).toString("latin1")),
          networks: fc.array(fc.nat(0xffffffff), { maxLength: 32 }),
        },
        { noNullPrototype: true },
      ),
      { nil: null },
    ),
    eventCount: fc.nat(),
    last: fc.record(
      {
        ip: fc.string({ unit: "grapheme", maxLength: 20 }),
        userAgent,
        path: fc.string({ unit: "grapheme", maxLength: 100 }),
        host: fc.string({ unit: "grapheme", maxLength: 100 }),
      },
      { noNullPrototype: true },
    ),
  },
  { noNullPrototype: true },
);

const proof = fc.uint8Array({ minLength: addressProofBytes, maxLength: addressProofBytes });
const state: fc.Arbitrary<ScoredState> = fc
  .tuple(unproved, fc.option(proof))
  .map(([each, bytes]) => (bytes === null ? each : { ...each, addressProof: Buffer.from(bytes).toString("hex") }));

/** Records keep what they are given; one that is cut or damaged is none, or another one, and never an exception. */
function recordsSurviveDamage(t: Test, numRuns: number): void {
  const hashes = fc.array(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), { maxLength: 20 });
  holds(
    t,
    fc.property(state, hashes, anyBytes, fc.nat(), fc.nat(), (state, ids, features, cut, at) => {
      const seenIds = Buffer.alloc(8 * ids.length);
      for (const [index, id] of ids.entries()) seenIds.writeBigUInt64BE(id, 8 * index);
      const bytes = encodeSession({ state, seenIds, features });
      const again = decodeSession(bytes);
      if (
        !isDeepStrictEqual(again?.state, state) ||
        !again?.seenIds.equals(seenIds) ||
        !again.features.equals(features)
      )
        return false;
      decodeSession(Buffer.from(bytes.subarray(0, cut % (bytes.length + 1))));
      const damaged = Buffer.from(bytes);
      damaged[at % damaged.length]! ^= 1 + (cut % 255);
      decodeSession(damaged);
      decodeScoredState(damaged);
      return true;
    }),
    { numRuns },
  );
  holds(
    t,
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.constantFrom(1, 2), (garbage, version) => {
      const bytes = Buffer.from(garbage);
      if (bytes.length > 0) bytes[0] = version;
      decodeSession(bytes);
      return true;
    }),
    { numRuns },
  );
}

interface Step {
  readonly visitor: number;
  readonly ids: readonly number[];
  readonly isFirst: boolean;
}

/** Any order of batches, repeats and retries of first contacts counts as sets would. */
async function countsAgreeWithSets(t: Test, numRuns: number): Promise<void> {
  const { store, owner, take } = await openIngest(t);
  const sessions = new Sessions(store);
  const steps: fc.Arbitrary<Step[]> = fc.array(
    fc.record({
      visitor: fc.nat({ max: 2 }),
      ids: fc.array(fc.nat({ max: 60 }), { minLength: 1, maxLength: 60 }),
      isFirst: fc.boolean(),
    }),
    { minLength: 1, maxLength: 12 },
  );
  let run = 0;
  holds(
    t,
    fc.property(steps, fc.boolean(), (all, inOneTransaction) => {
      run++;
      const tokens = new Map<number, string>();
      const seen = [new Set<number>(), new Set<number>(), new Set<number>()];
      const sent = (step: Step) => ({
        body: {
          session_token: step.isFirst ? null : (tokens.get(step.visitor) ?? null),
          events: step.ids.map((id) => event(`run${run}-${step.visitor}-${String(id).padStart(4, "0")}`)),
        },
        key: `run${run}-${step.visitor}`,
        nowMs: 1_790_000_000_000 + run,
      });
      // biome-ignore lint/suspicious/noExplicitAny: answers, as no batch is refused
      const outcomes = (inOneTransaction ? take(...all.map(sent)) : []) as any[];
      for (const [index, step] of all.entries()) {
        const answer = inOneTransaction ? outcomes[index] : take(sent(step))[0];
        const before = seen[step.visitor]!.size;
        for (const id of step.ids) seen[step.visitor]!.add(id);
        const fresh = seen[step.visitor]!.size - before;
        if (answer.accepted !== fresh || answer.duplicates !== step.ids.length - fresh) return false;
        if ((tokens.get(step.visitor) ?? answer.session_token) !== answer.session_token) return false;
        tokens.set(step.visitor, answer.session_token);
      }
      return [...tokens].every(
        ([visitor, token]) => sessions.scoredState(owner.projectId, token)?.eventCount === seen[visitor]!.size,
      );
    }),
    { numRuns },
  );
}
