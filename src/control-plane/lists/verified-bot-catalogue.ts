/** The verified-bot catalogue in force. */
import { type CatalogueFault, isCatalogueFault } from "../../bots/catalogue-file.js";
import { mergeCatalogues, scriptRunnersOf, shippedCatalogue } from "../../bots/verified/catalogue.js";
import type { VerifiedBotCatalogue, VerifiedBotEntry } from "../../contract/bots/verified-bots.js";
import type { Store } from "../../store/store.js";
import { type CatalogueChange, ImportedCatalogue } from "./imported-catalogue.js";

/** The entries that verify: those of operators whose addresses run anybody's scripts are listed, and verify nobody. */
export function activeEntries(catalogue: VerifiedBotCatalogue): VerifiedBotEntry[] {
  const runners = scriptRunnersOf(catalogue);
  return catalogue.entries.filter(({ name }) => !runners.has(name));
}

/** The shipped allowlist until one is imported or merged in; see `ImportedCatalogue`. */
export class VerifiedBotCatalogues extends ImportedCatalogue<VerifiedBotCatalogue> {
  /** `revision` as in `Credentials`. */
  constructor(store: Store, revision?: () => number) {
    const loggedAs = { action: "verified_bots.imported", subject: "verified bots" } as const;
    super(store, store.verifiedBots, shippedCatalogue, loggedAs, revision);
  }

  /** Adds a checked catalogue's entries to those in force, under its version; a fault when they are too many together. */
  merge(added: VerifiedBotCatalogue): Promise<CatalogueChange<VerifiedBotCatalogue> | CatalogueFault> {
    return this.change(
      (before) => mergeCatalogues(before, added),
      (made): made is CatalogueFault => isCatalogueFault(made),
    );
  }
}
