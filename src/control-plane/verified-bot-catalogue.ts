/** The catalogue of verified bots in force: the imported one where there is one, else the one that verdictd ships. */
import type { VerifiedBotCatalogue } from "../contract/verified-bots.js";
import { changeControlPlane, readRevision, type Store } from "../store/store.js";
import { shippedCatalogue } from "../verified-bots/catalogue.js";

const catalogueKey = "catalogue";
const countKey = "imports";

export class VerifiedBotCatalogues {
  readonly #store: Store;
  #revision = -1;
  #imports = -1;
  #current: VerifiedBotCatalogue | null = null;

  constructor(store: Store) {
    this.#store = store;
  }

  /** The catalogue in force; the same object until another is imported, in whichever process. */
  read(): VerifiedBotCatalogue {
    const revision = readRevision(this.#store);
    if (this.#current !== null && revision === this.#revision) return this.#current;
    this.#revision = revision;
    const imports = (this.#store.verifiedBots.get(countKey) as number | undefined) ?? 0;
    if (this.#current === null || imports !== this.#imports) {
      this.#imports = imports;
      const stored = this.#store.verifiedBots.get(catalogueKey) as VerifiedBotCatalogue | undefined;
      this.#current = stored ?? shippedCatalogue();
    }
    return this.#current;
  }

  /** Puts a checked catalogue in force, in every thread and process. */
  async replace(catalogue: VerifiedBotCatalogue): Promise<void> {
    await changeControlPlane(this.#store, () => {
      const imports = (this.#store.verifiedBots.get(countKey) as number | undefined) ?? 0;
      this.#store.verifiedBots.putSync(catalogueKey, catalogue);
      this.#store.verifiedBots.putSync(countKey, imports + 1);
    });
  }
}
