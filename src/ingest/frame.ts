/**
 * The form in which batches travel from an HTTP thread to a scoring worker: one byte buffer per task, transferred and not cloned. A visitor's header
 * lines are the same from batch to batch, so a frame holds each such block of texts once.
 * This saves the cloning of objects, which costs more than scoring them; with reused buffers ingest runs at 1.3 times the rate
 * (src/docs/decisions/021-frames.md). Held by the in-process bench `headers` and the bench's scenarios `ingest`.
 *
 * | at | what of an entry                                                                                |
 * |----|-------------------------------------------------------------------------------------------------|
 * | 0  | u32 bytes of body, of the entry's own texts, of the block that follows (0: it was there before) |
 * | 12 | u32 number of the block among those of the frame                                                |
 * | 16 | f64 server clock, ms                                                                            |
 * | 24 | own texts, block, body; texts are joined by line feeds; one inside a text becomes a space                |
 */
import { LRUCache } from "lru-cache";
import {
  batchHeaders,
  type HeaderFacts,
  headerFactsOf,
  isSameHeaders,
  type RequestFacts,
  requestFactsOf,
} from "../contract/evidence/header-facts.js";
import { crawlerClaims, unidentified, type VisitorIdentity } from "../contract/evidence/visitor.js";
import { verifiedBotCategories } from "../contract/verdicts/verdict.js";
import { limits } from "../limits.js";
import { ownText } from "../runtime/text-memo.js";

/** One ingest request before its body is read. */
export interface IngestRequest {
  /** From the header; "" when the body must name it. */
  readonly siteKey: string;
  /** null when absent, which differs from an empty one. */
  readonly idempotencyKey: string | null;
  /** The visitor's identity by address and DNS, as far as it was known when the batch came. */
  readonly identity: VisitorIdentity;
  /** The session that `identity` is news for, in a request without a body; "" for a batch. */
  readonly identifies: string;
  /** The project of that session; absent for a batch, because its site key names the project. */
  readonly projectId?: number;
  /** False for a batch that is recorded but not scored, because the service is under load. */
  readonly score: boolean;
  readonly facts: RequestFacts;
  /** The object from which the reader of header lines made `facts`. It returns the same object for the same lines, which saves comparing them. */
  readonly headers?: HeaderFacts;
  readonly body: Buffer;
}

/** A request before the decision whether to score it. */
export type UnscoredRequest = Omit<IngestRequest, "score">;

const headBytes = 24;
const startBytes = 64 * 1024;
/** Header blocks to keep as bytes: usually one per connection. */
const blocksMax = 256;

/** The headers' texts that are the same for all of a visitor's batches, as bytes. */
interface HeaderBlock {
  readonly siteKey: string;
  readonly headers: HeaderFacts;
  readonly bytes: Buffer;
}

function isOf(block: HeaderBlock, { siteKey, headers, facts }: UnscoredRequest): boolean {
  return siteKey === block.siteKey && (headers === block.headers || isSameHeaders(block.headers, facts));
}

function blockBytes({ siteKey, facts }: UnscoredRequest): Buffer {
  return Buffer.from([siteKey, ...batchHeaders.map(({ field }) => facts[field])].map(lineOf).join("\n"));
}

/** The recent header blocks, encoded once and not once per batch. Shared by all frames of a thread. */
export class HeaderBlocks {
  readonly #byAgent = new LRUCache<string, HeaderBlock>({ max: blocksMax });

  /** Returns the request's block. Only the latest of each user agent is kept. */
  of(request: UnscoredRequest): HeaderBlock {
    const { userAgent } = request.facts;
    const known = this.#byAgent.get(userAgent);
    if (known !== undefined && isOf(known, request)) return known;
    const block = { siteKey: request.siteKey, headers: request.headers ?? request.facts, bytes: blockBytes(request) };
    this.#byAgent.set(userAgent, block);
    return block;
  }
}

/** Buffers in which frames have come back, for reuse: a few are enough for all tasks at the workers. */
export class FrameMemory {
  readonly #free: ArrayBuffer[] = [];
  /** Size of the largest frame so far. A new buffer gets this size, because growing on the way would allocate memory each time. */
  #bytes = startBytes;

  /** Returns a buffer of at least 64 KiB. */
  take(): Buffer {
    const free = this.#free.pop();
    return free === undefined ? Buffer.allocUnsafeSlow(this.#bytes) : Buffer.from(free);
  }

  /** Returns a buffer for the next frame. A buffer that is smaller than recent ones, or of an unusual size, is left to the collector. */
  give(memory: ArrayBufferLike): void {
    if (!(memory instanceof ArrayBuffer) || memory.byteLength < this.#bytes || memory.byteLength > frameBytesKept)
      return;
    if (memory.byteLength > this.#bytes) {
      this.#bytes = memory.byteLength;
      this.#free.length = 0;
    }
    if (this.#free.length < buffersKept) this.#free.push(memory);
  }
}

const frameBytesKept = 1024 * 1024;
const buffersKept = 4;

/** Collects entries into one growing buffer. `take` hands the buffer over and starts the next. */
export class FrameWriter {
  readonly #blocks: HeaderBlocks;
  readonly #memory: FrameMemory;
  #bytes: Buffer | null = null;
  #end = 0;
  #count = 0;
  /** The blocks that are in this frame, by number. */
  #numbers = new Map<HeaderBlock, number>();

  constructor(blocks = new HeaderBlocks(), memory = new FrameMemory()) {
    this.#blocks = blocks;
    this.#memory = memory;
  }

  get count(): number {
    return this.#count;
  }

  get byteLength(): number {
    return this.#end;
  }

  /** Adds an entry. `request` or `score` says whether it is scored. */
  add(request: IngestRequest): void;
  add(request: UnscoredRequest, score: boolean): void;
  add(request: UnscoredRequest & { readonly score?: boolean }, score = request.score === true): void {
    const block = this.#blocks.of(request);
    const known = this.#numbers.get(block);
    if (known === undefined) this.#numbers.set(block, this.#numbers.size);
    const texts = ownTexts(request, score);
    const { body } = request;
    const blockLength = known === undefined ? block.bytes.length : 0;
    const bytes = this.#reserve(headBytes + 3 * texts.length + blockLength + body.length);
    const start = this.#end;
    const textsLength = bytes.write(texts, start + headBytes, "utf8");
    bytes.writeUInt32LE(body.length, start);
    bytes.writeUInt32LE(textsLength, start + 4);
    bytes.writeUInt32LE(blockLength, start + 8);
    bytes.writeUInt32LE(known ?? this.#numbers.size - 1, start + 12);
    bytes.writeDoubleLE(request.facts.nowMs, start + 16);
    const blockAt = start + headBytes + textsLength;
    if (blockLength > 0) bytes.set(block.bytes, blockAt);
    bytes.set(body, blockAt + blockLength);
    this.#end = blockAt + blockLength + body.length;
    this.#count++;
  }

  take(): Uint8Array<ArrayBuffer> {
    const bytes = this.#bytes ?? this.#memory.take();
    const taken = new Uint8Array(bytes.buffer as ArrayBuffer, 0, this.#end);
    this.#bytes = null;
    this.#end = 0;
    this.#count = 0;
    this.#numbers = new Map();
    return taken;
  }

  #reserve(more: number): Buffer {
    this.#bytes ??= this.#memory.take();
    const needed = this.#end + more;
    if (needed <= this.#bytes.length) return this.#bytes;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length));
    larger.set(this.#bytes.subarray(0, this.#end));
    this.#bytes = larger;
    return larger;
  }
}

/** A text of a line of a frame. No entrance lets a line feed in; one that did would shift what another visitor is judged by, so it is looked at again here. */
function lineOf(text: string): string {
  return text.includes("\n") ? text.replaceAll("\n", " ") : text;
}

/** The texts that differ from batch to batch. The visitor's identity is mostly unknown; its part is then empty. */
function ownTexts(request: UnscoredRequest, score: boolean): string {
  const key = request.idempotencyKey === null ? "" : `=${lineOf(request.idempotencyKey)}`;
  const texts = `${score ? 1 : 0}\n${lineOf(request.facts.ip)}\n${key}`;
  const { verifiedBot, crawlerClaim } = request.identity;
  if (verifiedBot === null && crawlerClaim === "none" && request.identifies === "") return texts;
  const identity = `${crawlerClaim}\n${verifiedBot?.category ?? ""}\n${lineOf(verifiedBot?.name ?? "")}`;
  return `${texts}\n${lineOf(request.identifies)}\n${identity}${request.projectId === undefined ? "" : `\n${request.projectId}`}`;
}

/** Returns the entries of a frame, in order; bodies are views of it. */
export function readFrame(frame: Uint8Array): IngestRequest[] {
  const bytes = Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength);
  const requests: IngestRequest[] = [];
  const blocks: { readonly siteKey: string; readonly headers: HeaderFacts }[] = [];
  let at = 0;
  while (at < bytes.length) {
    const textsAt = at + headBytes;
    const blockAt = textsAt + bytes.readUInt32LE(at + 4);
    const bodyAt = blockAt + bytes.readUInt32LE(at + 8);
    const end = bodyAt + bytes.readUInt32LE(at);
    if (bodyAt > blockAt) blocks.push(readBlock(bytes.toString("utf8", blockAt, bodyAt)));
    const texts = bytes.toString("utf8", textsAt, blockAt).split("\n");
    const { siteKey, headers } = blocks[bytes.readUInt32LE(at + 12)]!;
    requests.push({
      siteKey,
      idempotencyKey: texts[2] === "" ? null : texts[2]!.slice(1),
      score: texts[0] === "1",
      identifies: texts[3] ?? "",
      ...(texts[7] !== undefined && { projectId: Number(texts[7]) }),
      identity: texts.length === 3 ? unidentified : readIdentity(texts),
      facts: requestFactsOf(headers, bytes.readDoubleLE(at + 16), texts[1]!),
      body: bytes.subarray(bodyAt, end),
    });
    at = end;
  }
  return requests;
}

function readBlock(block: string): { siteKey: string; headers: HeaderFacts } {
  const texts = block.split("\n");
  return { siteKey: texts[0]!, headers: headerFactsOf((position) => texts[1 + position]!) };
}

function readIdentity(texts: readonly string[]): VisitorIdentity {
  const category = verifiedBotCategories.find((each) => each === texts[5]);
  return {
    verifiedBot: category === undefined ? null : { name: texts[6]!, category },
    crawlerClaim: crawlerClaims.find((each) => each === texts[4]) ?? "none",
  };
}

/** Returns a header or context value in the form that is kept: at most `contextValueMax` characters, no control characters. */
export function boundedValue(value: string): string {
  const cut = value.length > limits.contextValueMax ? ownText(value.slice(0, limits.contextValueMax)) : value;
  for (let index = 0; index < cut.length; index++) if (cut.charCodeAt(index) < 0x20) return withoutControls(cut);
  return cut;
}

function withoutControls(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  return value.replace(/[\u0000-\u001f]/g, " ");
}
