/** Marks that agents leave in the pages they work in, in the form of files, the store and what browsers are sent. */
import type { BotCategory } from "./bot-categories.js";

/** Where a mark is looked for. */
export const agentMarkKinds = ["element", "attribute", "global", "stylesheet", "event"] as const;
/**
 * `element`: an id without `#`; `attribute`: a name, on `html`, `head`, `body` or what is added to them, `html[name]` there only; `global`: a property of
 * `window`; `stylesheet`: the id of a `style` or `link`, or a part of its address; `event`: its name, on `window` or `document`.
 */
export type AgentMarkKind = (typeof agentMarkKinds)[number];

/** One row of the list: an agent, and one trace of it. */
export interface AgentMarkEntry {
  /** Name of the agent, such as `Claude in Chrome`. */
  readonly name: string;
  readonly operator: string;
  readonly category: BotCategory;
  readonly kind: AgentMarkKind;
  /** By its kind; a final `*` stands for anything. */
  readonly value: string;
  /** Where it was read, and when. */
  readonly source: string;
}

/** The whole list: the form of the shipped file and of `agent-marks import`. */
export interface AgentMarkCatalogue {
  /** Free text naming the state of the list, usually its date. */
  readonly version: string;
  readonly entries: readonly AgentMarkEntry[];
}

/** What is kept of an entry that was taken out of the list: sessions that were known by it keep their agent. */
export type RetiredAgentMark = Pick<AgentMarkEntry, "name" | "category" | "kind" | "value">;

/** A mark as a browser reports it, and as it is kept: `element:claude-phantom-cursor*`. */
export function agentMarkText({ kind, value }: Pick<AgentMarkEntry, "kind" | "value">): string {
  return `${kind}:${value}`;
}

/** What browsers are told to look for: values by kind, without the kinds that have none. */
export function agentMarkQuestions(entries: readonly AgentMarkEntry[]): Partial<Record<AgentMarkKind, string[]>> {
  const questions: Partial<Record<AgentMarkKind, string[]>> = {};
  for (const { kind, value } of entries) questions[kind] = [...(questions[kind] ?? []), value];
  return questions;
}
