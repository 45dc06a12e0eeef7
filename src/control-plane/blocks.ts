/** Recorded blocks: one for every computed verdict that blocks by a rule. */
import type { Block } from "../contract/entities.js";
import { nextId, type Store } from "../store/store.js";

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
}
