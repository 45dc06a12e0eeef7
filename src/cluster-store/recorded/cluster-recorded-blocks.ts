/**
 * Recorded blocks in a cluster. All rows of a project are in one slot, so one script assigns ids and counts what all nodes record. Segments of some
 * hundred ids hold the blocks, and each segment expires and is dropped as a whole.
 */
import { randomBytes } from "node:crypto";
import type { ClusterClient } from "../../cluster/cluster-client.js";
import type { KeyedCommand } from "../../cluster/operation.js";
import type { RespCommand } from "../../cluster/resp-encoder.js";
import type { RespReply } from "../../cluster/resp-parser.js";
import type { Block } from "../../contract/configuration/entities.js";
import { decodeSessionToken } from "../../contract/sessions/session-token.js";
import { dayMs } from "../../contract/values/durations.js";
import { limits } from "../../limits.js";
import { sessionKey } from "../../store/keys.js";
import type { NewBlock, ProjectBlocks, RecordedBlocks, TallyChange, WrittenTally } from "../../store/recorded-rows.js";
import { areSessionsGone, askAll, onKey, scriptOn } from "../cluster-asking.js";
import { blockFields, blockRows, blockSegmentIds, blockSegmentOf, blocksInSegment } from "../keys.js";
import { recordBlocks } from "./recorded-row-scripts.js";

/** The cluster, and how long it keeps blocks. */
interface ClusterBlockLogOptions {
  readonly client: ClusterClient;
  /** How long a block is kept, ms. */
  readonly blockMs: number;
  readonly now: () => number;
}

/** A writer's last write is remembered longer than any outage, at the end of which it may be repeated; a tally for its minute and the next one. */
const writeKeptMs = dayMs;
const tallyKeptMs = 180_000;
/** As long as blocks up to the bound may be in them. */
const segmentsKept = Math.ceil(limits.blocksPerProjectMax / blockSegmentIds) + 1;
/** A write that needs other segments than expected is sent again with those. */
const roundsMax = 10;

/** The block log of a cluster, the same through every node. */
export class ClusterRecordedBlocks implements RecordedBlocks {
  readonly #options: ClusterBlockLogOptions;
  /** The last id of each project that this thread saw. */
  readonly #lastIds = new Map<number, number>();
  /** Identifies the writer: the rows tell by it, and by the number of its last write of the project, what they already have. */
  readonly #writer = randomBytes(6).toString("base64url");
  readonly #numbers = new WeakMap<ProjectBlocks, number>();
  #lastNumber = 0;

  constructor(options: ClusterBlockLogOptions) {
    this.#options = options;
  }

  async write(writes: readonly ProjectBlocks[]): Promise<(readonly WrittenTally[] | Error)[]> {
    // Each by itself: one master that does not answer must not hold back what the others have stored.
    const outcomes = await Promise.allSettled(writes.map((write) => this.#write(write)));
    return outcomes.map((outcome) => (outcome.status === "fulfilled" ? outcome.value : outcome.reason));
  }

  async before(projectId: number, id: number, count: number): Promise<readonly Block[]> {
    const { now, blockMs } = this.#options;
    const last = await this.#lastId(projectId);
    const oldestId = Math.max(1, last - limits.blocksPerProjectMax + 1);
    const oldestMs = now() - blockMs;
    const found: Block[] = [];
    for await (const page of this.#pages(projectId, Math.min(last, id - 1), oldestId)) {
      const isShown = (block: Block): boolean =>
        block.id < id && block.id >= oldestId && Date.parse(block.createdAt) >= oldestMs;
      found.push(...page.filter(isShown));
      if (found.length >= count) break;
    }
    return found.slice(0, count);
  }

  async ofSession(projectId: number, sessionToken: string): Promise<readonly Block[]> {
    const { client, now, blockMs } = this.#options;
    const ids = await this.idsOf(projectId, [sessionToken]);
    const rows = blockRows(projectId);
    const fields = ids.map((id) => [String(id), `${id}c`, `${id}r`]);
    const replies = await askAll(
      client,
      ids.map((id, index) => onKey("HMGET", rows.segment(blockSegmentOf(id)), ...fields[index]!)),
    );
    const pairs = replies.flatMap((reply, index) =>
      (Array.isArray(reply) ? reply : []).flatMap((value, at) => (value === null ? [] : [fields[index]![at]!, value])),
    );
    const oldestId = (await this.#lastId(projectId)) - limits.blocksPerProjectMax + 1;
    const oldestMs = now() - blockMs;
    const isShown = ({ id, createdAt }: Block): boolean => id >= oldestId && Date.parse(createdAt) >= oldestMs;
    return blocksOf(projectId, pairs).filter(isShown);
  }

  /**
   * Returns the ids of all stored blocks of these sessions, the first one first, with those that `before` no longer shows: they go with their segment.
   * Reads what the sessions have; a segment in which builds before recorded blocks is read whole.
   */
  async idsOf(projectId: number, sessionTokens: readonly string[]): Promise<number[]> {
    const { client } = this.#options;
    const last = await this.#lastId(projectId);
    const first = Math.max(0, blockSegmentOf(last) - segmentsKept);
    // One more: blocks that come meanwhile.
    const segments = Array.from({ length: blockSegmentOf(last) + 2 - first }, (_, index) => first + index);
    const { segment: rowOf } = blockRows(projectId);
    const names = sessionTokens.map(blockFields.ofSession);
    const replies = await askAll(
      client,
      segments.map((segment) => onKey("HMGET", rowOf(segment), blockFields.named, ...names)),
    );
    const isNamed = replies.map((reply, index) => {
      const [named] = Array.isArray(reply) ? reply : [];
      return Number(named ?? 0) >= blocksInSegment(segments[index]!, last);
    });
    const unnamed = segments.filter((_, index) => !isNamed[index]);
    const whole = await askAll(
      client,
      unnamed.map((segment) => onKey("HGETALL", rowOf(segment))),
    );
    const tokens = new Set<string | null>(sessionTokens);
    const found = new Set([
      ...replies.flatMap((reply) => (Array.isArray(reply) ? reply.slice(1) : []).flatMap(idsIn)),
      ...whole
        .flatMap((reply) => blocksOf(projectId, reply).filter(({ sessionToken }) => tokens.has(sessionToken)))
        .map(({ id }) => id),
    ]);
    return [...found].sort((one, other) => one - other);
  }

  async #lastId(projectId: number): Promise<number> {
    const [reply] = await askAll(this.#options.client, [onKey("GET", blockRows(projectId).last)]);
    return Number(reply ?? 0);
  }

  /** Returns the blocks of the segments from the one of `latest` down to the one of `oldest`, the latest first. */
  async *#pages(projectId: number, latest: number, oldest: number): AsyncGenerator<Block[]> {
    let segment = blockSegmentOf(latest);
    for (let asked = 1; segment >= blockSegmentOf(oldest); asked = Math.min(2 * asked, 16)) {
      const numbers = Array.from({ length: asked }, (_, index) => segment - index).filter((number) => number >= 0);
      const replies = await askAll(
        this.#options.client,
        numbers.map((number) => onKey("HGETALL", blockRows(projectId).segment(number))),
      );
      yield replies.flatMap((reply) => blocksOf(projectId, reply).sort((one, other) => other.id - one.id));
      segment -= asked;
    }
  }

  async #write(write: ProjectBlocks): Promise<WrittenTally[]> {
    const { projectId, changes, blocks } = write;
    const { records, ids } = await this.#record(write);
    const gone = await this.#goneSessions(projectId, changes);
    const erased: string[] = [];
    for (const [index, id] of ids.entries()) {
      this.#lastIds.set(projectId, Math.max(id, this.#lastIds.get(projectId) ?? 0));
      if (id > 0 && gone.has(blocks[index]!.tally.sessionToken)) erased.push(String(id));
    }
    if (erased.length > 0)
      await this.#erase(
        projectId,
        erased.map(Number),
        [...gone].filter((token) => token !== null),
      );
    return changes.map(({ tally, further }, index) => {
      const of = records[index]!;
      const own = ids.filter((_, at) => blocks[at]!.tally === tally);
      const recorded = own.filter((id) => id > 0).length;
      const counted = of.isStored ? further + own.length - recorded : 0;
      const stored = gone.has(tally.sessionToken) ? 0 : recorded + counted;
      return { records: of.records, lastId: of.lastId, stored };
    });
  }

  /** Runs the script until it has the segments that it needs. */
  async #record(write: ProjectBlocks): Promise<Recorded> {
    const { client } = this.#options;
    const { projectId, changes, blocks } = write;
    const rows = blockRows(projectId);
    const done = rows.write(this.#writer);
    let number = this.#numbers.get(write);
    if (number === undefined) {
      number = ++this.#lastNumber;
      this.#numbers.set(write, number);
    }
    const next = (this.#lastIds.get(projectId) ?? 0) + 1;
    const segments = new Set(
      [next, next + Math.max(0, blocks.length - 1), ...changes.map(({ tally }) => tally.lastId)].map(blockSegmentOf),
    );
    for (let round = 0; round < roundsMax; round++) {
      const needed = [...segments];
      const dropped = needed.map((segment) => segment - segmentsKept).filter((segment) => segment >= 0);
      const keys = [
        ...[rows.last, done],
        ...changes.map(({ tally }) => rows.tally(tally.key)),
        ...needed.map(rows.segment),
        ...dropped.filter((segment) => !segments.has(segment)).map(rows.segment),
      ];
      const args = [number, ...this.#arguments(write, needed)];
      const [reply] = await askAll(client, [scriptOn(recordBlocks, keys, args)]);
      if (!Array.isArray(reply)) return recorded(String(reply), changes.length);
      for (const segment of reply) segments.add(Number(segment));
    }
    throw new Error("the segments of recorded blocks keep changing");
  }

  #arguments({ changes, blocks }: ProjectBlocks, segments: readonly number[]): RespCommand {
    const positions = new Map(changes.map(({ tally }, index) => [tally, index + 1]));
    return [
      ...[writeKeptMs, tallyKeptMs, this.#options.blockMs, blockSegmentIds, limits.blockReferencesMax],
      ...[changes.length, segments.length, ...segments],
      ...changes.flatMap(({ tally, further, references }) => {
        return [tally.recordsMax, tally.lastId, further, references.length, ...references];
      }),
      ...blocks.flatMap(({ block, tally }) => [positions.get(tally)!, JSON.stringify(block), block.sessionToken ?? ""]),
    ];
  }

  /** Checked after the write: a later erasure of a session finds what was written here. */
  async #goneSessions(projectId: number, changes: readonly TallyChange[]): Promise<ReadonlySet<string | null>> {
    const tokens = [...new Set(changes.map(({ tally }) => tally.sessionToken))].filter((token) => token !== null);
    const areGone = await areSessionsGone(
      this.#options.client,
      tokens.map((token) => sessionKey(projectId, decodeSessionToken(token) ?? Buffer.alloc(0))),
    );
    return new Set(tokens.filter((_, index) => areGone[index]));
  }

  async #erase(projectId: number, ids: readonly number[], sessionTokens: readonly string[]): Promise<void> {
    await askAll(this.#options.client, eraseBlocks(projectId, ids, sessionTokens));
  }
}

/** The commands that remove these blocks of a project, which are all that the sessions have in their segments. */
export function eraseBlocks(
  projectId: number,
  ids: readonly number[],
  sessionTokens: readonly string[],
): KeyedCommand[] {
  const { segment: rowOf } = blockRows(projectId);
  const names = sessionTokens.map(blockFields.ofSession);
  return [...new Set(ids.map(blockSegmentOf))].map((segment) => {
    const own = ids.filter((id) => blockSegmentOf(id) === segment);
    return onKey("HDEL", rowOf(segment), ...own.flatMap((id) => [String(id), `${id}c`, `${id}r`]), ...names);
  });
}

/** The ids in a field of a session. */
function idsIn(value: RespReply): number[] {
  return value instanceof Buffer ? String(value).split(" ").map(Number) : [];
}

interface Recorded {
  readonly records: readonly { readonly records: number; readonly lastId: number; readonly isStored: boolean }[];
  /** The id of each block; 0 means that it was only counted. */
  readonly ids: readonly number[];
}

function recorded(text: string, tallies: number): Recorded {
  const numbers = text.split(" ").filter((word) => word !== "");
  const records = Array.from({ length: tallies }, (_, index) => {
    const [count, lastId, isStored] = numbers.slice(3 * index, 3 * index + 3).map(Number);
    return { records: count!, lastId: lastId!, isStored: isStored === 1 };
  });
  return { records, ids: numbers.slice(3 * tallies).map(Number) };
}

/** The blocks of a segment: the field named by the id has the fixed part; the fields with `c` and `r` after the id have counts and references. */
function blocksOf(projectId: number, reply: RespReply): Block[] {
  if (!Array.isArray(reply)) return [];
  const fields = new Map<string, string>();
  for (let at = 0; at + 1 < reply.length; at += 2) fields.set(String(reply[at]), String(reply[at + 1]));
  const blocks: Block[] = [];
  for (const [name, text] of fields) {
    const id = Number(name);
    if (!Number.isInteger(id)) continue;
    const later = fields.get(`${name}r`)?.split(" ") ?? [];
    const count = 1 + Number(fields.get(`${name}c`) ?? 0);
    const block = JSON.parse(text) as NewBlock;
    const references = [...(block.references ?? []), ...later].slice(-limits.blockReferencesMax);
    blocks.push({ ...block, projectId, id, count, ...(references.length > 0 && { references }) });
  }
  return blocks;
}
