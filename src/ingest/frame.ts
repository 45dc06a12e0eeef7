/**
 * The form in which batches travel from an HTTP thread to a scoring worker: one byte buffer a task, transferred and not cloned.
 * An entry is u32 bytes of facts, u32 bytes of body, the facts (texts joined by line feeds, which no header can hold), the body.
 */
import type { RequestFacts } from "../contract/evidence.js";
import { verifiedBotCategories } from "../contract/verdict.js";
import { crawlerClaims, type VisitorIdentity } from "../contract/visitor.js";
import { limits } from "../limits.js";

/** One ingest request before its body is looked at. */
export interface IngestRequest {
  /** From the header; "" when the body must name it. */
  readonly siteKey: string;
  /** null when absent, which is not the same as sent empty. */
  readonly idempotencyKey: string | null;
  /** Who the visitor is by address and DNS, as far as it was known when the batch came. */
  readonly identity: VisitorIdentity;
  /** The session that `identity` is news of, for a request without a body; "" for a batch. */
  readonly identifies: string;
  /** False for a batch that is recorded but not scored, because the service is under load. */
  readonly score: boolean;
  readonly facts: RequestFacts;
  readonly body: Buffer;
}

const factNames = [
  "ip",
  "userAgent",
  "acceptLanguage",
  "accept",
  "acceptEncoding",
  "origin",
  "referer",
  "secChUa",
  "secChUaMobile",
  "secChUaPlatform",
  "secFetchSite",
  "secFetchMode",
  "secFetchDest",
  "contentType",
] as const satisfies (keyof RequestFacts)[];

const startBytes = 64 * 1024;

/** Collects entries into one growing buffer. `take` hands it over and starts the next. */
export class FrameWriter {
  #bytes = Buffer.allocUnsafeSlow(startBytes);
  #end = 0;
  #count = 0;

  get count(): number {
    return this.#count;
  }

  get byteLength(): number {
    return this.#end;
  }

  add(request: IngestRequest): void {
    const key = request.idempotencyKey === null ? "" : `=${request.idempotencyKey}`;
    const { verifiedBot, crawlerClaim } = request.identity;
    let facts = `${request.siteKey}\n${key}\n${request.score ? 1 : 0}\n${request.identifies}\n${crawlerClaim}`;
    facts += `\n${verifiedBot?.category ?? ""}\n${verifiedBot?.name ?? ""}\n${request.facts.nowMs}`;
    for (const name of factNames) facts += `\n${request.facts[name]}`;
    const factBytes = Buffer.byteLength(facts);
    this.#reserve(8 + factBytes + request.body.length);
    const bytes = this.#bytes;
    bytes.writeUInt32LE(factBytes, this.#end);
    bytes.writeUInt32LE(request.body.length, this.#end + 4);
    bytes.write(facts, this.#end + 8, "utf8");
    bytes.set(request.body, this.#end + 8 + factBytes);
    this.#end += 8 + factBytes + request.body.length;
    this.#count++;
  }

  take(): Uint8Array<ArrayBuffer> {
    const taken = new Uint8Array(this.#bytes.buffer as ArrayBuffer, 0, this.#end);
    this.#bytes = Buffer.allocUnsafeSlow(startBytes);
    this.#end = 0;
    this.#count = 0;
    return taken;
  }

  #reserve(more: number): void {
    const needed = this.#end + more;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length));
    larger.set(this.#bytes.subarray(0, this.#end));
    this.#bytes = larger;
  }
}

/** The entries of a frame, in order; bodies are views of it. */
export function readFrame(frame: Uint8Array): IngestRequest[] {
  const bytes = Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength);
  const requests: IngestRequest[] = [];
  let at = 0;
  while (at < bytes.length) {
    const bodyAt = at + 8 + bytes.readUInt32LE(at);
    const end = bodyAt + bytes.readUInt32LE(at + 4);
    const texts = bytes.toString("utf8", at + 8, bodyAt).split("\n");
    requests.push({
      siteKey: texts[0]!,
      idempotencyKey: texts[1] === "" ? null : texts[1]!.slice(1),
      score: texts[2] === "1",
      identifies: texts[3]!,
      identity: readIdentity(texts),
      facts: readFacts(texts),
      body: bytes.subarray(bodyAt, end),
    });
    at = end;
  }
  return requests;
}

function readIdentity(texts: string[]): VisitorIdentity {
  const category = verifiedBotCategories.find((each) => each === texts[5]);
  return {
    verifiedBot: category === undefined ? null : { name: texts[6]!, category },
    crawlerClaim: crawlerClaims.find((each) => each === texts[4]) ?? "none",
  };
}

/** Spelled out rather than looped: the object keeps one shape, which the engines read on every batch. */
function readFacts(texts: string[]): RequestFacts {
  return {
    nowMs: Number(texts[7]),
    ip: texts[8]!,
    userAgent: texts[9]!,
    acceptLanguage: texts[10]!,
    accept: texts[11]!,
    acceptEncoding: texts[12]!,
    origin: texts[13]!,
    referer: texts[14]!,
    secChUa: texts[15]!,
    secChUaMobile: texts[16]!,
    secChUaPlatform: texts[17]!,
    secFetchSite: texts[18]!,
    secFetchMode: texts[19]!,
    secFetchDest: texts[20]!,
    contentType: texts[21]!,
  };
}

/** A header or context value as it may be kept: at most `contextValueMax` characters, no control characters. */
export function boundedValue(value: string): string {
  const cut = value.length > limits.contextValueMax ? value.slice(0, limits.contextValueMax) : value;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  return /[\u0000-\u001f]/.test(cut) ? cut.replace(/[\u0000-\u001f]/g, " ") : cut;
}
