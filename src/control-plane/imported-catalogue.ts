/**
 * A catalogue in force: the imported one, or else the one that comes with verdictd. A change raises the control plane's revision, by
 * which a running server notices it.
 */
import { catalogueKeys } from "../store/keys.js";
import { changeControlPlane, readRevision, type Store } from "../store/store.js";

const { catalogue: catalogueKey, imports: importsKey } = catalogueKeys;

type CatalogueTable = Store["verifiedBots"];

/** What an import changed. */
export interface CatalogueChange<T> {
  readonly before: T;
  readonly after: T;
}

export class ImportedCatalogue<T extends object> {
  readonly #store: Store;
  readonly #table: CatalogueTable;
  readonly #shipped: () => T;
  readonly #readRevision: () => number;
  #revision = -1;
  #imports = -1;
  #current: T | null = null;

  /** `table` holds this catalogue alone; `revision` as in `Credentials`. */
  constructor(
    store: Store,
    table: CatalogueTable,
    shipped: () => T,
    revision: () => number = () => readRevision(store),
  ) {
    this.#store = store;
    this.#table = table;
    this.#shipped = shipped;
    this.#readRevision = revision;
  }

  /** Whether a catalogue was imported. */
  get isImported(): boolean {
    return this.#table.doesExist(catalogueKey);
  }

  /** The catalogue in force; the same object until another is imported, in whichever process. */
  read(): T {
    const revision = this.#readRevision();
    if (this.#current !== null && revision === this.#revision) return this.#current;
    const imports = this.#readImports();
    if (this.#current === null || imports !== this.#imports) this.#current = this.#readStored();
    this.#revision = revision;
    this.#imports = imports;
    return this.#current;
  }

  /** Puts a checked catalogue in the place of the one in force. */
  replace(catalogue: T): Promise<CatalogueChange<T>> {
    return changeControlPlane(this.#store, () => this.#put(this.#readStored(), catalogue));
  }

  /** Puts what `change` makes of the one in force in its place, unless that is a fault. */
  protected change<F extends object>(
    change: (before: T) => T | F,
    isFault: (made: T | F) => made is F,
  ): Promise<CatalogueChange<T> | F> {
    return changeControlPlane(this.#store, () => {
      const before = this.#readStored();
      const made = change(before);
      return isFault(made) ? made : this.#put(before, made);
    });
  }

  #put(before: T, after: T): CatalogueChange<T> {
    this.#table.putSync(catalogueKey, after);
    this.#table.putSync(importsKey, this.#readImports() + 1);
    return { before, after };
  }

  #readImports(): number {
    return (this.#table.get(importsKey) as number | undefined) ?? 0;
  }

  /** Only checked catalogues are stored. */
  #readStored(): T {
    return (this.#table.get(catalogueKey) as T | undefined) ?? this.#shipped();
  }
}
