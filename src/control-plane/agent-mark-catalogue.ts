/** The list of agents' marks in force. */
import { shippedAgentMarks } from "../agent-marks/catalogue.js";
import type { AgentMarkCatalogue } from "../contract/agent-marks.js";
import type { Store } from "../store/store.js";
import { ImportedCatalogue } from "./imported-catalogue.js";

/** The shipped list until one is imported; see `ImportedCatalogue`. */
export class AgentMarkCatalogues extends ImportedCatalogue<AgentMarkCatalogue> {
  /** `revision` as in `Credentials`. */
  constructor(store: Store, revision?: () => number) {
    const loggedAs = { action: "agent_marks.imported", subject: "marks of agents" } as const;
    super(store, store.agentMarks, shippedAgentMarks, loggedAs, revision);
  }
}
