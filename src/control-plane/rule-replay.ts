/**
 * Replays a draft rule on stored sessions through the code that resolves verdicts, as if it were the project's only rule. Reads
 * only; nothing of the draft or its outcome is kept.
 */
import type { Project } from "../contract/entities.js";
import { type Action, actions, type Band, bands } from "../contract/verdict.js";
import { type Refusal, refuse } from "../errors.js";
import { limits } from "../limits.js";
import { compileRule } from "../rules/compile-rule.js";
import { isRuleFault } from "../rules/fault.js";
import { type NamedRule, resolve } from "../verdict/resolve.js";
import type { StoredSession } from "./session-log.js";
import type { Sessions } from "./sessions.js";

export interface DraftRule {
  readonly expressionSource: string;
  readonly action: Action;
}

/** Counts of matched sessions: by the action the verdict would have, after guards and logged-in policy, and by band. */
export interface RuleReplay {
  readonly evaluated: number;
  /** Whether the sessions replayed are a sample of those asked for. */
  readonly isSample: boolean;
  readonly matched: number;
  readonly byAction: Record<Action, number>;
  readonly byBand: Record<Band, number>;
  /** Tokens of the latest matched sessions. */
  readonly sample: readonly string[];
}

/** A count of 0 for each name. */
export function zeros<Name extends string>(names: readonly Name[]): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;
}

/** Which sessions: the latest, or those that began in the last `hours`; never more than `sessionsMax`. */
export interface ReplayScope {
  readonly sessionsMax: number;
  readonly hours: number | null;
}

/** The outcome over these sessions, or an `invalidPayload` refusal that says where the source is wrong. */
export async function replayRule(
  sessions: Sessions,
  project: Project,
  draft: DraftRule,
  { sessionsMax, hours }: ReplayScope,
  nowMs: number,
): Promise<RuleReplay | Refusal> {
  const compiled = compileRule(draft.expressionSource);
  if (isRuleFault(compiled)) return refuse("invalidPayload", `expression: ${compiled.message}`);
  const rule: NamedRule = {
    id: 0,
    name: "draft",
    action: draft.action,
    isActive: true,
    sortOrder: 0,
    matches: compiled.matches,
  };
  const byAction = zeros(actions);
  const byBand = zeros(bands);
  const sample: string[] = [];
  let evaluated = 0;
  let matched = 0;
  const visit = ({ token, part }: StoredSession): void => {
    evaluated++;
    const { verifiedBot } = part;
    const outcome = resolve({ part, project, rules: [rule], context: {}, verifiedBot, meaningOf: () => "", nowMs });
    if (outcome.rule === null) return;
    matched++;
    byAction[outcome.verdict.action]++;
    byBand[outcome.verdict.verdict]++;
    if (sample.length < limits.ruleTestSampleMax) sample.push(token);
  };
  let isSample = false;
  if (hours === null) await sessions.visitLatest(project.id, sessionsMax, visit);
  else isSample = !(await sessions.visitSince(project.id, timeOf(hours, nowMs), sessionsMax, visit));
  return { evaluated, isSample, matched, byAction, byBand, sample };
}

function timeOf(hours: number, nowMs: number): { readonly fromMs: number; readonly untilMs: number } {
  return { fromMs: nowMs - hours * 3_600_000, untilMs: nowMs };
}
