/** The public lists of bots and agents. */

import type { Count, CountMeta } from "../values/answer-values.js";
import type { AgentRow } from "./agents.js";
import type { DeclaredBotEntry } from "./declared-bots.js";
import type { SignedAgent } from "./signed-agents.js";
import type { VerifiedBotEntry } from "./verified-bots.js";

/** The whole allowlist of verified bots: the export for accounts whose plan has the feature. */
export interface VerifiedBotsAnswer {
  data: VerifiedBotEntry[];
  meta: CountMeta;
}

/** The bots that name themselves in their user agent, each by its token. */
export interface DeclaredBotsAnswer {
  data: DeclaredBotEntry[];
  meta: CountMeta & { version: string };
}

/** Whom verdictd knows by name, by signature, address, user agent or mark. `version` is that of the marks. */
export interface AgentsAnswer {
  data: AgentRow[];
  meta: CountMeta & { version: string };
}

/** The agents whose signed requests are verified. */
export interface SignedAgentsAnswer {
  data: SignedAgent[];
  meta: { count: Count; version: string };
}
