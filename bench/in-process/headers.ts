/** Times what a batch's header lines cost on their way to a worker: reading them, writing them into a frame, reading the frame. */
import { requestFactsOf } from "../../src/contract/evidence/header-facts.js";
import { IngestHeaderReader } from "../../src/http/handlers/data-plane/ingest-headers.js";
import { FrameWriter, readFrame, type UnscoredRequest } from "../../src/ingest/frame.js";
import { chromeFacts } from "../../test/engines/sessions.js";
import { type TimedRow, timed } from "./timed.js";

const rounds = 50_000;
const visitors = 64;
const batchesOfFrame = 256;

/** Lines as uWebSockets gives them: names in lower case, each text a new one. */
function linesOf(visitor: number): [string, string][] {
  const lines: [string, string][] = [
    ["host", "ingest.example"],
    ["connection", "keep-alive"],
    ["content-length", "1200"],
    ["sec-ch-ua-platform", chromeFacts.secChUaPlatform],
    ["user-agent", `${chromeFacts.userAgent} ${visitor}`],
    ["sec-ch-ua", chromeFacts.secChUa],
    ["content-type", chromeFacts.contentType],
    ["sec-ch-ua-mobile", chromeFacts.secChUaMobile],
    ["accept", chromeFacts.accept],
    ["origin", chromeFacts.origin],
    ["sec-fetch-site", chromeFacts.secFetchSite],
    ["sec-fetch-mode", chromeFacts.secFetchMode],
    ["sec-fetch-dest", chromeFacts.secFetchDest],
    ["referer", chromeFacts.referer],
    ["accept-encoding", chromeFacts.acceptEncoding],
    ["accept-language", chromeFacts.acceptLanguage],
    ["x-service-site-key", "pk_0123456789abcdefghijklmnopqrstuv"],
    ["idempotency-key", "0b7cf4a1-8c33-4f51-9ad5-3a2f0ac1f7d9"],
  ];
  return JSON.parse(JSON.stringify(lines));
}

type Given = Parameters<IngestHeaderReader["read"]>[0];

function requestsOf(reader: IngestHeaderReader, given: readonly Given[]): UnscoredRequest[] {
  return given.map((request, visitor) => {
    const { siteKey, idempotencyKey, facts: headers } = reader.read(request);
    const facts = requestFactsOf(headers, chromeFacts.nowMs, `198.51.100.${visitor}`);
    const identity = { verifiedBot: null, crawlerClaim: "none" } as const;
    return { siteKey, idempotencyKey, facts, headers, identity, identifies: "", body: Buffer.alloc(1200) };
  });
}

export function headersBench(): TimedRow[] {
  const given = Array.from({ length: visitors }, (_, visitor) => {
    const lines = linesOf(visitor);
    const forEach = (take: (name: string, value: string) => void) => {
      for (const [name, value] of lines) take(name, value);
    };
    return { forEach } as Given;
  });
  const reader = new IngestHeaderReader();
  const requests = requestsOf(reader, given);
  if (requests[1]!.facts.secFetchDest !== chromeFacts.secFetchDest) throw new Error("header lines are misread");
  let at = 0;
  const next = (): number => {
    at = (at + 1) % visitors;
    return at;
  };
  const writer = new FrameWriter();
  const filled = (): Uint8Array => {
    for (let count = 0; count < batchesOfFrame; count++) writer.add(requests[next()]!, true);
    return writer.take();
  };
  const frame = filled().slice();
  const perBatch = (what: string, task: () => void): TimedRow => {
    const [, micros] = timed(what, rounds / batchesOfFrame, task);
    return [what, micros / batchesOfFrame];
  };
  return [
    timed("header lines of a batch", rounds, () => reader.read(given[next()]!)),
    perBatch("a batch into a frame", filled),
    perBatch("a batch out of a frame", () => {
      if (readFrame(frame).length !== batchesOfFrame) throw new Error("a frame is misread");
    }),
  ];
}
