/** Batches on their way to a scoring thread: what one visitor sends never becomes a part of another's. */
import t from "tap";
import { noHeaders, requestFactsOf } from "../../src/contract/evidence/header-facts.js";
import { unidentified } from "../../src/contract/evidence/visitor.js";
import { verifiedBotCategories } from "../../src/contract/verdicts/verdict.js";
import { FrameWriter, type IngestRequest, readFrame } from "../../src/ingest/frame.js";

const plain: IngestRequest = {
  siteKey: "pk_1",
  idempotencyKey: "key",
  identity: unidentified,
  identifies: "",
  score: true,
  facts: requestFactsOf(noHeaders, 1_000, "192.0.2.1"),
  body: Buffer.from("{}"),
};

function sent(...requests: readonly IngestRequest[]): IngestRequest[] {
  const writer = new FrameWriter();
  for (const request of requests) writer.add(request);
  return readFrame(writer.take());
}

t.test("a line feed in any text of a batch shifts no other text, of its own or of the next batch", async (t) => {
  const feeds: Record<string, IngestRequest> = {
    "site key": { ...plain, siteKey: "pk_1\nMozilla/5.0" },
    "idempotency key": { ...plain, idempotencyKey: "key\nsess_other" },
    address: { ...plain, facts: { ...plain.facts, ip: "192.0.2.1\n=other" } },
    "user agent": { ...plain, facts: { ...plain.facts, userAgent: "a\nb" } },
    session: { ...plain, identifies: "sess_a\nconfirmed" },
    "name of a bot": {
      ...plain,
      identity: { verifiedBot: { name: "Bot\n7", category: verifiedBotCategories[0] }, crawlerClaim: "none" },
    },
  };
  for (const [name, request] of Object.entries(feeds)) {
    const [first, second] = sent(request, plain);
    t.strictSame(second, plain, `${name}: the next batch`);
    const oneLine = JSON.parse(JSON.stringify(request).replaceAll("\\n", " "));
    t.strictSame({ ...first, body: "" }, { ...oneLine, body: "" }, `${name}: the batch itself`);
  }
});
