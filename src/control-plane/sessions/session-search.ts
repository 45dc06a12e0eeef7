/**
 * What an expression sees of a stored session when sessions are searched for: what a rule would, the bot that the session's user agent names, and
 * what the rules of now would do. Shared by queries and deletions. Reads only.
 */

import type { KnownAgent } from "../../contract/bots/agents.js";
import type { DeclaredBot } from "../../contract/bots/declared-bots.js";
import type { Project } from "../../contract/configuration/entities.js";
import type { AddressLookup } from "../../contract/evidence/network-fact.js";
import type { ScoredState } from "../../contract/sessions/session.js";
import type { Action } from "../../contract/verdicts/verdict.js";
import { limits } from "../../limits.js";
import type { Expression } from "../../rules/ast.js";
import { comparedFields, isSearchField } from "../../rules/fields.js";
import type { RuleInput } from "../../rules/input.js";
import { type AgentLists, knownAgent } from "../../verdict/known-agent.js";
import { decide, type NamedRule, ruleInput } from "../../verdict/resolve.js";
import type { UnwordedVerdict } from "../../verdict/verdict-text.js";

/** What a search reads beside the sessions: network facts, the rules of now, and the bot that a user agent names. */
export interface SearchServices {
  readonly addresses: AddressLookup;
  readonly rulesOf: (project: Project) => readonly NamedRule[];
  readonly agents: AgentLists;
}

/** The effect of the current rules on a session, and the rule behind it. */
interface SearchOutcome {
  readonly action: Action;
  readonly ruleId: number | null;
  readonly ruleName: string | null;
  /** Null for a session without a score. */
  readonly unworded: UnwordedVerdict | null;
}

/** A session as a search sees it. */
export interface SearchedSession {
  /** Null: no rule is asked about it, and no expression holds for it. */
  readonly input: RuleInput | null;
  readonly declaredBot: () => DeclaredBot | undefined;
  readonly agent: () => KnownAgent | undefined;
  readonly outcome: () => SearchOutcome;
}

/** One search. It uses the rules from its start. */
export class SessionSearch {
  readonly #services: SearchServices;
  readonly #project: Project;
  readonly #nowMs: number;
  readonly #rules: readonly NamedRule[];

  constructor(services: SearchServices, project: Project, nowMs: number) {
    this.#services = services;
    this.#project = project;
    this.#nowMs = nowMs;
    this.#rules = services.rulesOf(project);
  }

  /** Maximum number of scanned sessions; fewer if there are more rules than fit. */
  scanMax(asksRules: boolean): number {
    if (!asksRules) return limits.sessionQueryMax;
    return Math.ceil(limits.sessionQueryMax / Math.ceil((1 + this.#rules.length) / limits.sessionQueryRules));
  }

  /** Everything but `input` is computed on first use, and then kept. */
  of(state: ScoredState): SearchedSession {
    const { addresses, agents } = this.#services;
    const { userAgent } = state.last;
    const { verifiedBot } = state;
    const agent = once(() => knownAgent({ state, verifiedBot }, agents));
    const asked = { state, project: this.#project, context: {}, verifiedBot, addresses, agent };
    const outcome = once((): SearchOutcome => {
      const decision = decide({ ...asked, rules: this.#rules, nowMs: this.#nowMs });
      const rule = decision?.rule ?? null;
      const unworded = decision?.verdict ?? null;
      return {
        action: unworded?.action ?? "allow",
        ruleId: rule?.id ?? null,
        ruleName: rule?.name ?? null,
        unworded,
      };
    });
    const declaredBot = once(() => (userAgent === "" ? undefined : agents.declaredBot(userAgent)));
    const input = ruleInput({ ...asked, declaredBot, rules: [], nowMs: this.#nowMs }, { outcome });
    return { input, declaredBot, agent, outcome };
  }
}

/** Whether an expression compares what the rules decide. */
export function asksRules(expression: Expression): boolean {
  return comparedFields(expression).some(isSearchField);
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
