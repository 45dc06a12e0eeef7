/** The public catalogue of agents: one row a name, from all the lists that know agents. */
import type { AgentMarkCatalogue } from "../contract/agent-marks.js";
import { type AgentCertainty, type AgentRow, agentCertainties } from "../contract/agents.js";
import type { BotCategory } from "../contract/bot-categories.js";
import type { DeclaredBotCatalogue } from "../contract/declared-bots.js";
import type { SignedAgentList } from "../contract/signed-agents.js";
import type { VerifiedBotCatalogue } from "../contract/verified-bots.js";

/** The lists in force. */
export interface NamedAgentLists {
  readonly signed: SignedAgentList;
  readonly verified: VerifiedBotCatalogue;
  readonly declared: DeclaredBotCatalogue;
  readonly marks: AgentMarkCatalogue;
}

/**
 * Signed agents, verified and declared bots of an `ai_` category, and agents with marks, in the order of their names. Names are compared without regard
 * to case; the surest list gives a row its name and category, and marks give it their source before the others do.
 */
export function knownAgents({ signed, verified, declared, marks }: NamedAgentLists): AgentRow[] {
  const rows = new Map<string, AgentRow & { isOperatorKnown: boolean }>();
  const add = (
    certainty: AgentCertainty,
    { name, category, operator }: { name: string; category: BotCategory; operator?: string },
    source: string,
  ): void => {
    const key = name.toLowerCase();
    let row = rows.get(key);
    if (row === undefined) {
      const isOperatorKnown = operator !== undefined;
      row = { name, operator: operator ?? name, category, certainties: [], marks: 0, source, isOperatorKnown };
      rows.set(key, row);
    }
    if (operator !== undefined && !row.isOperatorKnown) {
      row.operator = operator;
      row.isOperatorKnown = true;
    }
    if (!row.certainties.includes(certainty)) row.certainties.push(certainty);
    if (certainty !== "marked") return;
    if (row.marks === 0) row.source = source;
    row.marks++;
  };
  for (const agent of signed.agents) add("signed", { name: agent.name, category: agent.category }, agent.url);
  for (const bot of verified.entries) {
    if (isAi(bot.category)) add("verified", { ...bot, operator: bot.name }, `verified bots, ${verified.version}`);
  }
  for (const bot of declared.entries) {
    if (isAi(bot.category)) add("declared", bot, `declared bots, ${declared.version}`);
  }
  for (const mark of marks.entries) add("marked", mark, mark.source);
  return [...rows.entries()]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, { isOperatorKnown: _known, ...row }]) => ({
      ...row,
      certainties: agentCertainties.filter((each) => row.certainties.includes(each)),
    }));
}

/** Whether every list that knows this name, in lower case, takes a signature or an address as proof: nobody can copy it. False for an unknown name. */
export function isProvedOnly({ signed, verified, declared, marks }: NamedAgentLists, name: string): boolean {
  const has = (entries: readonly { readonly name: string }[]): boolean =>
    entries.some((entry) => entry.name.toLowerCase() === name);
  return (has(signed.agents) || has(verified.entries)) && !has(declared.entries) && !has(marks.entries);
}

function isAi(category: BotCategory): boolean {
  return category.startsWith("ai_");
}
