/** The list of agents' marks in force, and the marks that were in it before. */

import { type CatalogueFault, isCatalogueFault } from "../../bots/catalogue-file.js";
import { checkAgentMarks, mergeAgentMarks, shippedAgentMarks } from "../../bots/marks/catalogue.js";
import { type AgentMarkCatalogue, agentMarkText, type RetiredAgentMark } from "../../contract/bots/agent-marks.js";
import { limits } from "../../limits.js";
import { catalogueKeys } from "../../store/keys.js";
import type { Store } from "../../store/store.js";
import { type AlsoChanged, type CatalogueChange, ImportedCatalogue } from "./imported-catalogue.js";

/** How a list is imported. */
interface MarkImport {
  /** Adds to the list in force instead of replacing it. */
  readonly isMerged: boolean;
  /** Sessions that are known by a mark which goes out of the list lose their agent: for a mark that named people. */
  readonly isForgetting: boolean;
}

/** The shipped list until one is imported; see `ImportedCatalogue`. What goes out of it names the sessions that it named before. */
export class AgentMarkCatalogues extends ImportedCatalogue<AgentMarkCatalogue> {
  readonly #table: Store["agentMarks"];

  /** `revision` as in `Credentials`. */
  constructor(store: Store, revision?: () => number) {
    const loggedAs = { action: "agent_marks.imported", subject: "marks of agents" } as const;
    super(store, store.agentMarks, shippedAgentMarks, loggedAs, revision);
    this.#table = store.agentMarks;
  }

  /** Marks that were in the list and are not any more, the last one first; read it after `read`, which gives another object with every change. */
  retired(): readonly RetiredAgentMark[] {
    const stored = this.#table.get(catalogueKeys.retired) as RetiredAgentMark[] | undefined;
    // Lists that were imported before marks retired have taken the shipped one out.
    return stored ?? (this.isImported ? shippedAgentMarks().entries : []);
  }

  /** Replaces the list with a checked one, or adds it; a fault where both together are too much for browsers. */
  take(
    list: AgentMarkCatalogue,
    { isMerged, isForgetting }: MarkImport,
  ): Promise<CatalogueChange<AgentMarkCatalogue> | CatalogueFault> {
    return this.change(
      (before) => (isMerged ? checkAgentMarks(mergeAgentMarks(before, list), "stored") : list),
      (made): made is CatalogueFault => isCatalogueFault(made),
      this.#retiring(isForgetting),
    );
  }

  /** The shipped list again. */
  restore(isForgetting: boolean): Promise<CatalogueChange<AgentMarkCatalogue>> {
    return this.reset(this.#retiring(isForgetting));
  }

  #retiring(isForgetting: boolean): AlsoChanged<AgentMarkCatalogue> {
    return ({ before, after }) => {
      const known = new Set(after.entries.map(agentMarkText));
      const retired: RetiredAgentMark[] = [];
      for (const mark of isForgetting ? [] : [...before.entries, ...this.retired()]) {
        const text = agentMarkText(mark);
        if (known.has(text) || retired.length >= limits.agentMarksRetiredMax) continue;
        known.add(text);
        const { name, category, kind, value } = mark;
        retired.push({ name, category, kind, value });
      }
      this.#table.putSync(catalogueKeys.retired, retired);
    };
  }
}
