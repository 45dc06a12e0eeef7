/** What goes to a scoring worker and comes back: frames that share memory and header lines, and outcomes written over them. */
import fc from "fast-check";
import t from "tap";
import { noHeaders } from "../../src/contract/evidence/header-facts.js";
import { type ErrorName, errors, Refusal } from "../../src/errors.js";
import { FrameMemory, FrameWriter, HeaderBlocks, type IngestRequest, readFrame } from "../../src/ingest/frame.js";
import { decodeOutcomes, encodeOutcomes, type TaskOutcome } from "../../src/ingest/task-answer.js";
import { anyCharacter, holds } from "../support/property.js";

const outcome: fc.Arbitrary<TaskOutcome> = fc.oneof(
  fc
    .tuple(fc.nat(100), fc.nat(100), fc.boolean(), fc.constantFrom("firm", "likely", undefined))
    .map(([accepted, duplicates, over, standing]) => ({
      session_token: `sess_${"A".repeat(28)}`,
      accepted,
      duplicates,
      ...(over && { over_quota: true as const }),
      ...(standing !== undefined && { standing }),
    })),
  fc
    .tuple(fc.constantFrom(...(Object.keys(errors) as ErrorName[])), fc.string({ unit: anyCharacter, maxLength: 300 }))
    .map(([error, message]) => new Refusal(error, message)),
  fc.constant({ isShed: true as const }),
  fc.nat().map((number) => ({ ticket: `3.${number}` })),
);

t.test("outcomes come back as they were, whatever memory they are written over", async (t) => {
  holds(
    t,
    fc.property(fc.array(outcome, { maxLength: 40 }), fc.nat(5000), (outcomes, bytes) => {
      const back = decodeOutcomes(encodeOutcomes(new Uint8Array(bytes), outcomes));
      t.strictSame(back, outcomes);
      return true;
    }),
    { numRuns: 200 },
  );
});

t.test("a refusal is still one on the other side", async (t) => {
  const [back] = decodeOutcomes(encodeOutcomes(new Uint8Array(100), [new Refusal("invalidPayload", "no\ntwo lines")]));
  t.ok(back instanceof Refusal && back.error === "invalidPayload" && back.message === "no\ntwo lines");
});

const facts = {
  ...noHeaders,
  nowMs: 1_795_000_000_000,
  ip: "203.0.113.9",
  userAgent: "Mozilla/5.0 (first)",
  acceptLanguage: "en",
  accept: "*/*",
  acceptEncoding: "gzip",
  origin: "https://shop.example",
  referer: "https://shop.example/é",
  contentType: "application/json",
};
const request = (change: Partial<IngestRequest>): IngestRequest => ({
  siteKey: "pk_one",
  idempotencyKey: null,
  identity: { verifiedBot: null, crawlerClaim: "none" },
  identifies: "",
  score: true,
  facts,
  body: Buffer.from("{}"),
  ...change,
});

t.test("frames in memory that came back hold only what was put into them", async (t) => {
  const [blocks, memory] = [new HeaderBlocks(), new FrameMemory()];
  for (let round = 0; round < 5; round++) {
    const writer = new FrameWriter(blocks, memory);
    const requests = [
      request({ body: Buffer.alloc(round % 2 === 0 ? 200_000 : 10, round) }),
      request({ siteKey: "pk_two", idempotencyKey: "" }),
      request({ facts: { ...facts, ip: "2001:db8::1", nowMs: round } }),
      request({ facts: { ...facts, userAgent: "Mozilla/5.0 (second)" }, score: false }),
      request({ facts: { ...facts, acceptLanguage: `de-${round}` }, idempotencyKey: "key" }),
      request({ identifies: "sess_x", identity: { verifiedBot: null, crawlerClaim: "spoofed" } }),
    ];
    for (const each of requests) writer.add(each);
    const frame = writer.take();
    t.strictSame(
      readFrame(frame).map((each) => ({ ...each, body: each.body.toString("hex") })),
      requests.map((each) => ({ ...each, body: each.body.toString("hex") })),
    );
    memory.give(encodeOutcomes(frame, []).buffer);
  }
});

t.test("memory of a large frame is what the next is written into, and a new one begins as large", async (t) => {
  const memory = new FrameMemory();
  const small = memory.take().buffer;
  const writer = new FrameWriter(new HeaderBlocks(), memory);
  writer.add(request({ body: Buffer.alloc(200_000) }));
  const large = writer.take().buffer;
  memory.give(small);
  memory.give(large);
  memory.give(small);
  t.equal(memory.take().buffer, large);
  t.equal(memory.take().byteLength, large.byteLength);
});

t.test("header lines that many requests share take their bytes once", async (t) => {
  const one = new FrameWriter();
  const many = new FrameWriter();
  one.add(request({}));
  for (let index = 0; index < 10; index++) many.add(request({}));
  t.ok(many.byteLength < one.byteLength + 9 * 60, `${one.byteLength} bytes for one, ${many.byteLength} for ten`);
});
