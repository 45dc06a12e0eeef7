/**
 * The current catalogue: the imported one, or the one that comes with verdictd. A change raises the control plane's revision, so that running servers
 * notice it.
 */
import { type AuditAction, type AuditValues, accountOfServer } from "../../contract/configuration/audit.js";
import { catalogueKeys } from "../../store/keys.js";
import { readRevision, type Store } from "../../store/store.js";
import { type Audited, audited, changeAudited, unchanged } from "../logs/audit.js";

const { catalogue: catalogueKey, imports: importsKey } = catalogueKeys;

type CatalogueTable = Store["verifiedBots"];

/** What an import changed. */
export interface CatalogueChange<T> {
  readonly before: T;
  readonly after: T;
}

/** What is written in the transaction of a change, before readers notice it. */
export type AlsoChanged<T> = (change: CatalogueChange<T>) => void;

/** The parts of a catalogue that are used here. */
interface Catalogue {
  readonly version: string;
  readonly entries: readonly unknown[];
}

/** How an import is logged. */
interface LoggedAs {
  readonly action: AuditAction;
  readonly subject: string;
}

/** Base of the lists of bots: reads one, replaces it whole and logs that. Values are checked before they come here. */
export class ImportedCatalogue<T extends Catalogue> {
  readonly #store: Store;
  readonly #table: CatalogueTable;
  readonly #shipped: () => T;
  readonly #loggedAs: LoggedAs;
  readonly #readRevision: () => number;
  #revision = -1;
  #imports = -1;
  #current: T | null = null;

  /** `table` holds this catalogue alone; `revision` as in `Credentials`. */
  constructor(
    store: Store,
    table: CatalogueTable,
    shipped: () => T,
    loggedAs: LoggedAs,
    revision: () => number = () => readRevision(store),
  ) {
    this.#store = store;
    this.#table = table;
    this.#shipped = shipped;
    this.#loggedAs = loggedAs;
    this.#readRevision = revision;
  }

  /** Whether a catalogue was imported. */
  get isImported(): boolean {
    return this.#table.doesExist(catalogueKey);
  }

  /** Returns the current catalogue: the same object until any process imports another one. */
  read(): T {
    const revision = this.#readRevision();
    if (this.#current !== null && revision === this.#revision) return this.#current;
    const imports = this.#readImports();
    if (this.#current === null || imports !== this.#imports) this.#current = this.#readStored();
    this.#revision = revision;
    this.#imports = imports;
    return this.#current;
  }

  /** Replaces the current catalogue with a checked one. */
  replace(catalogue: T, also?: AlsoChanged<T>): Promise<CatalogueChange<T>> {
    return changeAudited(this.#store, Date.now, () => this.#put(this.#readStored(), catalogue, also));
  }

  /** Takes the imported catalogue out: the one that comes with verdictd is in force again, and with a later release that one's. */
  reset(also?: AlsoChanged<T>): Promise<CatalogueChange<T>> {
    return changeAudited(this.#store, Date.now, () => {
      const before = this.#readStored();
      this.#table.removeSync(catalogueKey);
      return this.#changed(before, this.#shipped(), also);
    });
  }

  /** Replaces the current catalogue with the result of `change`, unless that is a fault. */
  protected change<F extends object>(
    change: (before: T) => T | F,
    isFault: (made: T | F) => made is F,
    also?: AlsoChanged<T>,
  ): Promise<CatalogueChange<T> | F> {
    return changeAudited(this.#store, Date.now, (): Audited<CatalogueChange<T> | F> => {
      const before = this.#readStored();
      const made = change(before);
      return isFault(made) ? unchanged(made) : this.#put(before, made, also);
    });
  }

  #put(before: T, after: T, also?: AlsoChanged<T>): Audited<CatalogueChange<T>> {
    this.#table.putSync(catalogueKey, after);
    return this.#changed(before, after, also);
  }

  #changed(before: T, after: T, also?: AlsoChanged<T>): Audited<CatalogueChange<T>> {
    also?.({ before, after });
    this.#table.putSync(importsKey, this.#readImports() + 1);
    return audited(
      { before, after },
      {
        accountId: accountOfServer,
        projectId: null,
        ...this.#loggedAs,
        before: loggedValues(before),
        after: loggedValues(after),
      },
    );
  }

  #readImports(): number {
    return (this.#table.get(importsKey) as number | undefined) ?? 0;
  }

  /** Only checked catalogues are stored. */
  #readStored(): T {
    return (this.#table.get(catalogueKey) as T | undefined) ?? this.#shipped();
  }
}

function loggedValues({ version, entries }: Catalogue): AuditValues {
  return { version, entries: entries.length };
}
