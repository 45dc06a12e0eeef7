/** The list of declared bots in force. */

import { shippedDeclaredBots } from "../../bots/declared/catalogue.js";
import type { DeclaredBotCatalogue } from "../../contract/bots/declared-bots.js";
import type { Store } from "../../store/store.js";
import { ImportedCatalogue } from "./imported-catalogue.js";

/** The shipped list until one is imported; see `ImportedCatalogue`. */
export class DeclaredBotCatalogues extends ImportedCatalogue<DeclaredBotCatalogue> {
  /** `revision` as in `Credentials`. */
  constructor(store: Store, revision?: () => number) {
    const loggedAs = { action: "declared_bots.imported", subject: "declared bots" } as const;
    super(store, store.declaredBots, shippedDeclaredBots, loggedAs, revision);
  }
}
