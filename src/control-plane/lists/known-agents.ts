/** The public catalogue of agents: one row a name, from all the lists that know agents. */
import type { AgentMarkCatalogue, RetiredAgentMark } from "../../contract/bots/agent-marks.js";
import { type AgentCertainty, type AgentRow, agentCertainties, unknownAgent } from "../../contract/bots/agents.js";
import type { BotCategory } from "../../contract/bots/bot-categories.js";
import type { DeclaredBotCatalogue, DeclaredBotEntry } from "../../contract/bots/declared-bots.js";
import type { SignedAgentList } from "../../contract/bots/signed-agents.js";
import type { VerifiedBotCatalogue } from "../../contract/bots/verified-bots.js";

/** The lists in force. */
export interface NamedAgentLists {
  readonly signed: SignedAgentList;
  readonly verified: VerifiedBotCatalogue;
  readonly declared: DeclaredBotCatalogue;
  readonly marks: AgentMarkCatalogue;
  /** Whether a false claim of this declared bot's token is found out: then nobody is known by the name who is not at an address of its operator. */
  readonly isFoundOut: (token: string) => boolean;
}

/**
 * Signed agents, verified and declared bots of an `ai_` category, and agents with marks, in the order of their names. An operator is a verified bot
 * itself where its user agent names none of its bots. Names are compared without regard to case; the surest list gives a row its name and category, and marks give it their source before the others do.
 */
export function knownAgents(lists: NamedAgentLists): AgentRow[] {
  const { signed, verified, declared, marks } = lists;
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
  const operators = new Set(verified.entries.map(({ name }) => name));
  for (const bot of declared.entries) {
    if (!isAi(bot.category)) continue;
    const source = `declared bots, ${declared.version}`;
    if (operators.has(bot.operator)) add("verified", bot, source);
    if (!isProvable(bot, lists)) add("declared", bot, source);
  }
  for (const mark of marks.entries) add("marked", mark, mark.source);
  return [...rows.entries()]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, { isOperatorKnown: _known, ...row }]) => ({
      ...row,
      certainties: agentCertainties.filter((each) => row.certainties.includes(each)),
    }));
}

/** Every name that an answer can report of somebody listed, as it is spelled there; `retired` marks name the sessions that they named. */
export function agentNames(
  { signed, verified, declared, marks }: NamedAgentLists,
  retired: readonly RetiredAgentMark[],
) {
  const listed = [signed.agents, verified.entries, declared.entries, marks.entries, retired];
  return new Set([unknownAgent.name, ...listed.flatMap((entries) => entries.map(({ name }) => name))]);
}

/** Whether every list that knows this name, in lower case, takes a signature or an address as proof: nobody can copy it. False for an unknown name. */
export function isProvedOnly(lists: NamedAgentLists, name: string): boolean {
  const { signed, verified, declared, marks } = lists;
  const named = <Entry extends { readonly name: string }>(entries: readonly Entry[]): readonly Entry[] =>
    entries.filter((entry) => entry.name.toLowerCase() === name);
  const claimed = named(declared.entries);
  if (named(marks.entries).length > 0 || !claimed.every((bot) => isProvable(bot, lists))) return false;
  return claimed.length > 0 || named(signed.agents).length > 0 || named(verified.entries).length > 0;
}

/** Whether nobody but its operator is known as this declared bot. A host name takes a while to be found out, and until then the user agent counts. */
function isProvable({ operator, token }: DeclaredBotEntry, { verified, isFoundOut }: NamedAgentLists): boolean {
  const ways = verified.entries.filter(({ name }) => name === operator);
  return ways.length > 0 && ways.every((each) => each.match_method === "ip_cidr") && isFoundOut(token);
}

function isAi(category: BotCategory): boolean {
  return category.startsWith("ai_");
}
