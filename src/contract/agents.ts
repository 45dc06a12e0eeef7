/** Agents, crawlers and libraries as answers, rules and the console name them. */
import type { BotCategory } from "./bot-categories.js";

/** How sure it is who somebody is, the surest first. */
export const agentCertainties = ["signed", "verified", "declared", "marked", "behavior"] as const;
/**
 * `signed`: the request's signature (Web Bot Auth); `verified`: address or reverse DNS; `declared`: the user agent says so; `marked`: traces that the product
 * leaves in the page; `behavior`: it acts as such programs do, which no detection is sure enough of yet.
 */
export type AgentCertainty = (typeof agentCertainties)[number];

/** Who a visitor is, where that is known. */
export interface KnownAgent {
  /** Such as `Claude in Chrome`. */
  readonly name: string;
  readonly category: BotCategory;
  readonly certainty: AgentCertainty;
}

/** Ids of the detections that say whether a name is the visitor's: a spoofed one, and a declared bot's request. */
export const agentDetections = { spoofed: 400101, declared: 100110 } as const;

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
