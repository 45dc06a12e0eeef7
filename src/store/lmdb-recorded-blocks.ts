/** Recorded blocks of one host: rows by project and id, and tallies of the blocks of each subject in the current minutes. */

import type { Database } from "lmdb";
import type { Block } from "../contract/configuration/entities.js";
import { decodeSessionToken } from "../contract/sessions/session-token.js";
import { minuteMs } from "../contract/values/durations.js";
import { limits } from "../limits.js";
import { blockTalliesFrom, blockTallyBytes, metaKeys, sessionKey } from "./keys.js";
import { blockKeysOf, putBlock, removeBlocks } from "./naming-rows.js";
import type {
  BlockTally,
  NewBlock,
  ProjectBlocks,
  RecordedBlocks,
  TallyChange,
  WrittenTally,
} from "./recorded-rows.js";
import type { Tables as AllTables } from "./tables.js";

interface Tables extends Pick<AllTables, "root" | "meta" | "sessions"> {
  readonly blocks: Database<Block, [number, number]>;
  readonly blockTallies: Database<Buffer, Buffer>;
  readonly namingRows: Database<Buffer, Buffer>;
}

/** The effect of a transaction on a tally. */
interface Outcome {
  /** Whether the session was erased meanwhile; then none of its blocks are stored. */
  readonly isGone: boolean;
  records: number;
  lastId: number;
  last: Block | null;
  /** Blocks that only raise its count. */
  further: number;
  stored: number;
}

/** Bytes of a block id in a tally. */
const idBytes = 6;

/** The block log of a single host; `write` is one transaction. */
export class LmdbRecordedBlocks implements RecordedBlocks {
  readonly #tables: Tables;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  async write(writes: readonly ProjectBlocks[], nowMs: number): Promise<WrittenTally[][]> {
    return this.#tables.root.transaction(() => {
      const written = writes.map((write) => this.#write(write));
      this.#removeTallies(
        writes.reduce((sum, { changes }) => sum + changes.length, 0),
        nowMs,
      );
      return written;
    });
  }

  async ofSession(projectId: number, sessionToken: string): Promise<readonly Block[]> {
    const token = decodeSessionToken(sessionToken);
    const keys = token === null ? [] : blockKeysOf(this.#tables, sessionKey(projectId, token));
    return keys.map((key) => this.#tables.blocks.get(key)).filter((block) => block !== undefined);
  }

  async before(projectId: number, id: number, count: number): Promise<readonly Block[]> {
    const start: [number, number] = [projectId, id];
    const end: [number, number] = [projectId, 0];
    const range = this.#tables.blocks.getRange({ start, end, reverse: true, exclusiveStart: true, limit: count });
    return [...range].map(({ value }) => value);
  }

  #write({ projectId, blocks, changes }: ProjectBlocks): Outcome[] {
    const outcomes = new Map(changes.map((change) => [change.tally, this.#read(change)]));
    const nextId = (this.#tables.meta.get(nextBlock(projectId)) ?? 0) + 1;
    let id = nextId;
    for (const { block, tally } of blocks) if (this.#writeBlock(id, block, tally, outcomes.get(tally)!)) id++;
    for (const { tally, references } of changes) this.#writeTally(tally, outcomes.get(tally)!, references);
    if (id > nextId) {
      this.#tables.meta.putSync(nextBlock(projectId), id - 1);
      this.#removeOldest(projectId, id - 1, blocks.length);
    }
    return [...outcomes.values()];
  }

  #read({ tally, further }: TallyChange): Outcome {
    const { projectId, sessionToken } = tally;
    const isGone = sessionToken !== null && !this.#isStored(projectId, sessionToken);
    const { records, lastId: stored } = unpackTally(this.#tables.blockTallies.getBinary(tally.key));
    // The tally goes with its minute; a cached verdict may be asked for longer.
    const lastId = stored || tally.lastId;
    const last = lastId === 0 ? null : (this.#tables.blocks.get([projectId, lastId]) ?? null);
    return { isGone, records, lastId, last, further, stored: 0 };
  }

  /** Returns whether the block has become the record of this id. */
  #writeBlock(id: number, block: NewBlock, tally: BlockTally, outcome: Outcome): boolean {
    if (outcome.isGone) return false;
    if (outcome.records >= tally.recordsMax) {
      outcome.further++;
      return false;
    }
    outcome.last = { id, ...block, count: 1 };
    outcome.lastId = id;
    outcome.records++;
    outcome.stored++;
    putBlock(this.#tables, tally.projectId, outcome.last);
    return true;
  }

  #writeTally(tally: BlockTally, outcome: Outcome, references: readonly string[]): void {
    const { isGone, records, lastId, last, further } = outcome;
    if (isGone) return;
    // The last record is gone when its project had more than `limits.blocksPerProjectMax` since.
    if (last !== null && (further > 0 || references.length > 0)) {
      const all = [...(last.references ?? []), ...references].slice(-limits.blockReferencesMax);
      const count = (last.count ?? 1) + further;
      const referred = all.length > 0 && { references: all };
      this.#tables.blocks.putSync([tally.projectId, lastId], { ...last, count, ...referred });
      outcome.stored += further;
    }
    if (outcome.stored > 0) this.#tables.blockTallies.putSync(tally.key, packTally(records, lastId));
  }

  /** Keeps a project to `limits.blocksPerProjectMax` rows: ids are given in order, so that older ones lie before this one. */
  #removeOldest(projectId: number, lastId: number, added: number): void {
    const end: [number, number] = [projectId, lastId - limits.blocksPerProjectMax + 1];
    if (end[1] <= 1) return;
    const limit = limits.sweepRowsMax + added;
    removeBlocks(this.#tables, [...this.#tables.blocks.getRange({ start: [projectId, 0], end, limit })]);
  }

  /** Removes tallies of past minutes, more than were added. The previous minute's stay, for late blocks. */
  #removeTallies(added: number, nowMs: number): void {
    const { blockTallies } = this.#tables;
    const end = blockTalliesFrom(Math.floor(nowMs / minuteMs) - 1);
    const limit = limits.sweepRowsMax + added;
    for (const key of [...blockTallies.getKeys({ end, limit })]) blockTallies.removeSync(key);
  }

  #isStored(projectId: number, sessionToken: string): boolean {
    const token = decodeSessionToken(sessionToken);
    return token !== null && this.#tables.sessions.doesExist(sessionKey(projectId, token));
  }
}

const nextBlock = (projectId: number): string => metaKeys.nextId(`block:${projectId}`);

/** Returns the stored state of a tally: its number of records, and the id of the last (0 for none). */
function unpackTally(bytes: Buffer | undefined): { records: number; lastId: number } {
  return bytes === undefined
    ? { records: 0, lastId: 0 }
    : { records: bytes.readUInt32BE(0), lastId: bytes.readUIntBE(4, idBytes) };
}

function packTally(records: number, lastId: number): Buffer {
  const bytes = Buffer.alloc(blockTallyBytes);
  bytes.writeUInt32BE(records, 0);
  bytes.writeUIntBE(lastId, 4, idBytes);
  return bytes;
}
