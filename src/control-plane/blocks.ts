/**
 * Recorded blocks: one for every computed verdict that blocks by a rule. They come by the thousand when a site is attacked, so they are
 * collected in memory and written together ten times a second, off the hot path. Read by the log.
 */
import type { Block } from "../contract/entities.js";
import { decodeSessionToken } from "../contract/session-token.js";
import { type Refusal, refuse } from "../errors.js";
import { limits } from "../limits.js";
import { sessionKey } from "../store/keys.js";
import { freshenOthers, sessionStoreOf } from "../store/session-stores.js";
import { nextId, type Store, skipIds } from "../store/store.js";
import { decodeCursor, encodeCursor, type LogPage } from "./cursor.js";

/** Bytes of a block id in a cursor. */
const idBytes = 6;

export class Blocks {
  readonly #store: Store;

  #waiting: Omit<Block, "id">[] = [];
  #writing: Promise<number> | null = null;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Takes a block, to be stored by the next `flush`. False when so many wait already that it is dropped. */
  record(block: Omit<Block, "id">): boolean {
    if (this.#waiting.length >= limits.blocksWaitingMax) return false;
    this.#waiting.push(block);
    return true;
  }

  /**
   * Stores what waits, in the order it came and with ids in that order, but for blocks of sessions that were erased meanwhile; returns how
   * many. A crash loses at most what came since the last
   * flush. Rejects when the store can't be written (a full disk): what waited still waits then.
   */
  async flush(): Promise<number> {
    // One at a time: a second one would store what the first may have to put back.
    while (this.#writing !== null) await this.#writing.catch(() => 0);
    if (this.#waiting.length === 0) return 0;
    const blocks = this.#waiting;
    this.#waiting = [];
    this.#writing = this.#write(blocks);
    try {
      return await this.#writing;
    } catch (error) {
      this.#waiting = [...blocks, ...this.#waiting];
      throw error;
    } finally {
      this.#writing = null;
    }
  }

  async #write(blocks: readonly Omit<Block, "id">[]): Promise<number> {
    let stored = 0;
    await this.#store.root.transaction(() => {
      freshenOthers(this.#store.sessionStores[0]!);
      const next = new Map<number, number>();
      for (const block of blocks) {
        const { projectId } = block;
        if (!this.#isStored(projectId, block.sessionToken)) continue;
        stored++;
        const id = next.get(projectId) ?? nextId(this.#store, `block:${projectId}`);
        next.set(projectId, id + 1);
        this.#store.blocks.putSync([projectId, id], { id, ...block });
      }
      for (const [projectId, id] of next) skipIds(this.#store, `block:${projectId}`, id - 1);
    });
    return stored;
  }

  #isStored(projectId: number, sessionToken: string): boolean {
    const token = decodeSessionToken(sessionToken);
    return token !== null && sessionStoreOf(this.#store, token).sessions.doesExist(sessionKey(projectId, token));
  }

  /** The project's blocks, the latest first, from the cursor on. `invalidPayload` for a cursor that is none. */
  page(projectId: number, limit: number, cursor: string | null): LogPage<Block> | Refusal {
    const position = cursor === null ? null : decodeCursor("b", cursor, idBytes);
    if (cursor !== null && position === null) return refuse("invalidPayload", "cursor is not one of this log");
    const start: [number, number] =
      position === null ? [projectId, Number.POSITIVE_INFINITY] : [projectId, position.readUIntBE(0, idBytes)];
    const range = this.#store.blocks.getRange({
      start,
      end: [projectId, 0],
      reverse: true,
      exclusiveStart: true,
      limit: limit + 1,
    });
    const rows = [...range].map(({ value }) => value);
    const last = rows.length > limit ? rows[limit - 1]! : null;
    return { rows: rows.slice(0, limit), nextCursor: last === null ? null : encodeCursor("b", idPosition(last.id)) };
  }
}

function idPosition(id: number): Buffer {
  const position = Buffer.alloc(idBytes);
  position.writeUIntBE(id, 0, idBytes);
  return position;
}
