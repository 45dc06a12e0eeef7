/**
 * Backtests a draft rule: runs it over stored sessions with the code that decides verdicts, as if it were the project's only rule. It only reads, and
 * stores nothing.
 */
import type { Project } from "../../contract/configuration/entities.js";
import { type Action, actions, type Band, bands } from "../../contract/verdicts/verdict.js";
import { type Refusal, refuse } from "../../errors.js";
import { limits } from "../../limits.js";
import { compileRule } from "../../rules/compile-rule.js";
import { isRuleFault } from "../../rules/fault.js";
import { unavailableFields } from "../../rules/fields.js";
import { warningsOf } from "../../rules/warnings.js";
import type { Slices } from "../../runtime/long-work.js";
import { type NamedRule, resolve } from "../../verdict/resolve.js";
import type { LoggedSession } from "../sessions/session-log.js";
import {
  askedSession,
  type BacktestScope,
  type BacktestServices,
  oneBacktest,
  personsOf,
  visitScope,
} from "./backtest.js";
import { type Change, EffectCounter, isBefore, newRuleId } from "./change-effect.js";

/** A rule that is stored nowhere; its source is compiled when the backtest begins. */
export interface DraftRule {
  readonly expressionSource: string;
  readonly action: Action;
  /** Where it would stand; absent: behind all others, where the console puts a new rule. */
  readonly sortOrder?: number | undefined;
  /** Id of the rule whose next version it is; absent: a new one. */
  readonly replaces?: number | undefined;
}

/** Counts of matched sessions: by the action the verdict would have, after guards and logged-in policy, and by band. */
interface RuleBacktest {
  readonly evaluated: number;
  /** Whether the sessions evaluated are a sample of those asked for. */
  readonly isSample: boolean;
  readonly matched: number;
  readonly byAction: Record<Action, number>;
  readonly byBand: Record<Band, number>;
  /** Tokens of the latest matched sessions. */
  readonly sample: readonly string[];
  /** The draft at its place among the rules as they are. */
  readonly change: Change & { readonly draft: NamedRule };
  /** Of that on the evaluated sessions. */
  readonly counter: EffectCounter;
  /** Fields of the expression that stored sessions don't have. */
  readonly unavailableFields: readonly string[];
  /** What of it never, or always, matches: see `warningsOf`. */
  readonly warnings: readonly string[];
}

/** A count of 0 for each name. */
export function zeros<Name extends string>(names: readonly Name[]): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;
}

/**
 * Returns the outcome over these sessions, or null if the client has left meanwhile. Refuses `invalidPayload` with the position of an error in the
 * source, and `conflict` while another backtest of the account runs.
 */
export async function backtestRule(
  services: BacktestServices,
  project: Project,
  draft: DraftRule,
  scope: BacktestScope,
  slices: Slices,
  nowMs: number,
): Promise<RuleBacktest | Refusal | null> {
  const compiled = compileRule(draft.expressionSource);
  if (isRuleFault(compiled)) return refuse("invalidPayload", `expression: ${compiled.message}`);
  const current = services.rulesOf(project);
  const last = Math.max(0, ...current.map(({ sortOrder }) => sortOrder));
  const rule: NamedRule = {
    id: draft.replaces ?? newRuleId,
    name: "draft",
    action: draft.action,
    isActive: true,
    sortOrder: draft.sortOrder ?? last + sortOrderStep,
    matches: compiled.matches,
  };
  const others = current.filter(({ id }) => id !== rule.id);
  const at = others.filter((each) => isBefore(each, rule)).length;
  const change = {
    before: { project, rules: current },
    after: { project, rules: others.toSpliced(at, 0, rule) },
    draft: rule,
  };
  return oneBacktest(services, project, async () => {
    const backtest = await evaluate(services, project, change, scope, slices, nowMs);
    if (backtest === null) return null;
    const { ast } = compiled;
    const warnings = [...warningsOf(ast), ...services.nameWarnings(ast)];
    return { ...backtest, unavailableFields: unavailableFields(ast), warnings };
  });
}

/** As the console numbers a new rule. */
const sortOrderStep = 10;

async function evaluate(
  services: BacktestServices,
  project: Project,
  change: RuleBacktest["change"],
  scope: BacktestScope,
  slices: Slices,
  nowMs: number,
): Promise<Omit<RuleBacktest, "unavailableFields" | "warnings"> | null> {
  const byAction = zeros(actions);
  const byBand = zeros(bands);
  const sample: string[] = [];
  const counter = new EffectCounter(change, await personsOf(services.store, project.id), nowMs);
  const exceptions = services.exceptionsOf(project);
  const rules = [change.draft];
  let evaluated = 0;
  let matched = 0;
  const visit = (session: LoggedSession): void => {
    evaluated++;
    services.meter.evaluated();
    const asked = askedSession(services, session, exceptions);
    counter.add(asked);
    // As the only rule, and before any exception.
    const outcome = resolve({ ...asked, exceptions: null, project, rules, meaningOf: () => "", nowMs });
    if (outcome.rule === null) return;
    matched++;
    byAction[outcome.verdict.action]++;
    byBand[outcome.verdict.verdict]++;
    if (sample.length < limits.ruleTestSampleMax) sample.push(session.token);
  };
  const visited = await visitScope(services.sessions, project.id, scope, slices, visit, nowMs);
  if (visited === "aborted") return null;
  return { evaluated, isSample: visited === "sample", matched, byAction, byBand, sample, change, counter };
}
