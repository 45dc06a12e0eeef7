/** Agents, crawlers and libraries as answers, rules and the console name them. */
import type { BotCategory } from "./bot-categories.js";

/** How sure it is who somebody is, the surest first. */
export const agentCertainties = ["signed", "verified", "declared", "marked", "behavior"] as const;
/**
 * `signed`: the request's signature (Web Bot Auth); `verified`: address or reverse DNS; `declared`: the user agent says so; `marked`: traces that the product
 * leaves in the page; `behavior`: it acts as such programs do, by several signs that neither a hand nor an aid gives together.
 */
export type AgentCertainty = (typeof agentCertainties)[number];

/** Who a visitor is, where that is known. */
export interface KnownAgent {
  /** Such as `Claude in Chrome`. */
  readonly name: string;
  readonly category: BotCategory;
  readonly certainty: AgentCertainty;
}

/** Ids of the detections that say who a visitor is: a spoofed name, a declared bot's request, and one that acts as agents do. */
export const agentDetections = { spoofed: 400101, declared: 100110, acting: 300600 } as const;

/** What an agent is called of which nothing is known but how it acts. */
export const unknownAgent: KnownAgent = { name: "unknown agent", category: "ai_agent", certainty: "behavior" };

const knownBy: Readonly<Record<AgentCertainty, string>> = {
  signed: "signed",
  verified: "by its address",
  declared: "by its user agent",
  marked: "by its mark",
  behavior: "by its behavior",
};

/** An agent as part of a sentence: "Claude in Chrome, by its mark", "an unknown agent, by its behavior". */
export function agentWords({ name, certainty }: Pick<KnownAgent, "name" | "certainty">): string {
  return `${certainty === "behavior" ? "an " : ""}${name}, ${knownBy[certainty]}`;
}

/** One row of the public catalogue: all that is known by one name. */
export interface AgentRow {
  name: string;
  operator: string;
  category: BotCategory;
  /** How it can be known, the surest first. */
  certainties: AgentCertainty[];
  /** How many marks it has. */
  marks: number;
  /** Where it was read. */
  source: string;
}
