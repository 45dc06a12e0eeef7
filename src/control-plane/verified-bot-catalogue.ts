/**
 * The verified-bot catalogue in force: the imported one, or else the one that comes with verdictd. A change raises the control
 * plane's revision, by which a running server notices it.
 */
import type { VerifiedBotCatalogue } from "../contract/verified-bots.js";
import { verifiedBotKeys } from "../store/keys.js";
import { changeControlPlane, readRevision, type Store } from "../store/store.js";
import {
  type CatalogueFault,
  isCatalogueFault,
  mergeCatalogues,
  shippedCatalogue,
} from "../verified-bots/catalogue.js";

const { catalogue: catalogueKey, imports: importsKey } = verifiedBotKeys;

/** What an import changed. */
export interface CatalogueChange {
  readonly before: VerifiedBotCatalogue;
  readonly after: VerifiedBotCatalogue;
}

export class VerifiedBotCatalogues {
  readonly #store: Store;
  readonly #readRevision: () => number;
  #revision = -1;
  #imports = -1;
  #current: VerifiedBotCatalogue | null = null;

  /** `revision` as in `Credentials`. */
  constructor(store: Store, revision: () => number = () => readRevision(store)) {
    this.#store = store;
    this.#readRevision = revision;
  }

  /** Whether a catalogue was imported. */
  get isImported(): boolean {
    return this.#store.verifiedBots.doesExist(catalogueKey);
  }

  /** The catalogue in force; the same object until another is imported, in whichever process. */
  read(): VerifiedBotCatalogue {
    const revision = this.#readRevision();
    if (this.#current !== null && revision === this.#revision) return this.#current;
    const imports = this.#readImports();
    if (this.#current === null || imports !== this.#imports) this.#current = this.#readStored();
    this.#revision = revision;
    this.#imports = imports;
    return this.#current;
  }

  /** Puts a checked catalogue in the place of the one in force. */
  replace(catalogue: VerifiedBotCatalogue): Promise<CatalogueChange> {
    return changeControlPlane(this.#store, () => this.#put(this.#readStored(), catalogue));
  }

  /** Adds a checked catalogue's entries to those in force, under its version; a fault when they are too many together. */
  merge(added: VerifiedBotCatalogue): Promise<CatalogueChange | CatalogueFault> {
    return changeControlPlane(this.#store, () => {
      const before = this.#readStored();
      const merged = mergeCatalogues(before, added);
      return isCatalogueFault(merged) ? merged : this.#put(before, merged);
    });
  }

  #put(before: VerifiedBotCatalogue, after: VerifiedBotCatalogue): CatalogueChange {
    this.#store.verifiedBots.putSync(catalogueKey, after);
    this.#store.verifiedBots.putSync(importsKey, this.#readImports() + 1);
    return { before, after };
  }

  #readImports(): number {
    return (this.#store.verifiedBots.get(importsKey) as number | undefined) ?? 0;
  }

  /** Only checked catalogues are stored. */
  #readStored(): VerifiedBotCatalogue {
    return (this.#store.verifiedBots.get(catalogueKey) as VerifiedBotCatalogue | undefined) ?? shippedCatalogue();
  }
}
