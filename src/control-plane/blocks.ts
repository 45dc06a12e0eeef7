/** Recorded blocks: one for every computed verdict that blocks by a rule. Written off the hot path, read by the log. */
import type { Block } from "../contract/entities.js";
import { type Refusal, refuse } from "../errors.js";
import { nextId, type Store } from "../store/store.js";
import { decodeCursor, encodeCursor, type LogPage } from "./cursor.js";

/** Bytes of a block id in a cursor. */
const idBytes = 6;

export class Blocks {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Resolves when the block is stored. */
  async record(block: Omit<Block, "id">): Promise<void> {
    await this.#store.root.transaction(() => {
      const id = nextId(this.#store, `block:${block.projectId}`);
      this.#store.blocks.putSync([block.projectId, id], { id, ...block });
    });
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
