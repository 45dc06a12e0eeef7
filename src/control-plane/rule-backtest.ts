/**
 * Backtests a draft rule: runs it over stored sessions with the code that decides verdicts, as if it were the project's only rule. It only reads, and
 * stores nothing.
 */
import type { Project } from "../contract/entities.js";
import type { ExceptionLookup } from "../contract/exceptions.js";
import type { AddressLookup } from "../contract/network-fact.js";
import { type Action, actions, type Band, bands } from "../contract/verdict.js";
import { type Refusal, refuse } from "../errors.js";
import { limits } from "../limits.js";
import { compileRule } from "../rules/compile-rule.js";
import { isRuleFault } from "../rules/fault.js";
import { unavailableFields } from "../rules/fields.js";
import { warningsOf } from "../rules/warnings.js";
import type { Slices } from "../runtime/long-work.js";
import type { Store } from "../store/store.js";
import { tryLock } from "../store/thread-lock.js";
import { type AgentLists, knownAgent } from "../verdict/known-agent.js";
import { type NamedRule, type ResolveInput, resolve, ruleInput } from "../verdict/resolve.js";
import { type ChangeEffect, EffectCounter, Shadows, type Treated } from "./change-effect.js";
import type { LoggedSession } from "./session-log.js";
import type { Sessions } from "./sessions.js";

/** A rule that is stored nowhere; its source is compiled when the backtest begins. */
export interface DraftRule {
  readonly expressionSource: string;
  readonly action: Action;
  /** Where it would stand; absent: behind all others, where the console puts a new rule. */
  readonly sortOrder?: number | undefined;
}

/** Counts of matched sessions: by the action the verdict would have, after guards and logged-in policy, and by band. */
export interface RuleBacktest {
  readonly evaluated: number;
  /** Whether the sessions evaluated are a sample of those asked for. */
  readonly isSample: boolean;
  readonly matched: number;
  readonly byAction: Record<Action, number>;
  readonly byBand: Record<Band, number>;
  /** Tokens of the latest matched sessions. */
  readonly sample: readonly string[];
  /** Against the rules as they are, with the draft at its place among them. */
  readonly effect: ChangeEffect & { readonly shadowedBy: readonly number[]; readonly shadows: readonly number[] };
  /** Fields of the expression that stored sessions don't have. */
  readonly unavailableFields: readonly string[];
  /** What of it never, or always, matches: see `warningsOf`. */
  readonly warnings: readonly string[];
}

/** A count of 0 for each name. */
export function zeros<Name extends string>(names: readonly Name[]): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;
}

/** Which sessions: the latest, or those that began in a span of time; never more than `sessionsMax`. */
export interface BacktestScope {
  readonly sessionsMax: number;
  /** ms; `untilMs` null: until now. */
  readonly span: { readonly fromMs: number; readonly untilMs: number | null } | null;
}

/** Called for every evaluated session, and with the end of a backtest. */
export interface BacktestMeter {
  evaluated(): void;
  ended(how: "done" | "aborted" | "refused"): void;
}

/** What a backtest reads and where it counts; the network facts of addresses come from `addresses`. */
export interface BacktestServices {
  readonly addresses: AddressLookup;
  readonly agents: AgentLists;
  readonly rulesOf: (project: Project) => readonly NamedRule[];
  readonly exceptionsOf: (project: Project) => ExceptionLookup | null;
  readonly store: Store;
  readonly sessions: Sessions;
  readonly meter: BacktestMeter;
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
  const unlock = tryLock(services.store, `backtest:${project.accountId}`);
  if (unlock === null) {
    services.meter.ended("refused");
    return refuse("conflict", "another backtest of the account is running: try again when it has ended");
  }
  const current = services.rulesOf(project);
  const last = Math.max(0, ...current.map(({ sortOrder }) => sortOrder));
  const rule: NamedRule = {
    id: 0,
    name: "draft",
    action: draft.action,
    isActive: true,
    sortOrder: draft.sortOrder ?? last + sortOrderStep,
    matches: compiled.matches,
  };
  try {
    const persons = await personsOf(services.store, project.id);
    const against = { current, persons };
    const backtest = await evaluate(services, project, rule, against, scope, slices, nowMs);
    services.meter.ended(backtest === null ? "aborted" : "done");
    if (backtest === null) return null;
    return { ...backtest, unavailableFields: unavailableFields(compiled.ast), warnings: warningsOf(compiled.ast) };
  } finally {
    unlock();
  }
}

/** As the console numbers a new rule. */
const sortOrderStep = 10;

/** What a draft's effect is measured against. */
interface Against {
  readonly current: readonly NamedRule[];
  readonly persons: ReadonlySet<string>;
}

/** Tokens of the sessions that are marked as persons. */
async function personsOf(store: Store, projectId: number): Promise<ReadonlySet<string>> {
  const persons = new Set<string>();
  for (const { as, sessionToken } of await store.recorded.marks.all(projectId)) {
    if (as === "person") persons.add(sessionToken);
  }
  return persons;
}

function treatedBy(input: ResolveInput): Treated {
  const { verdict, rule } = resolve(input);
  const isDeciding = rule !== null && rule.action !== "log";
  return { action: verdict.action, band: verdict.verdict, rule: isDeciding ? rule : null };
}

async function evaluate(
  { sessions, addresses, agents, meter, exceptionsOf }: BacktestServices,
  project: Project,
  rule: NamedRule,
  { current, persons }: Against,
  { sessionsMax, span }: BacktestScope,
  slices: Slices,
  nowMs: number,
): Promise<Omit<RuleBacktest, "unavailableFields" | "warnings"> | null> {
  const byAction = zeros(actions);
  const byBand = zeros(bands);
  const sample: string[] = [];
  const counter = new EffectCounter(persons, nowMs);
  const shadows = new Shadows();
  const exceptions = exceptionsOf(project);
  const at = current.filter(({ sortOrder }) => sortOrder <= rule.sortOrder).length;
  const changed = current.toSpliced(at, 0, rule);
  let evaluated = 0;
  let matched = 0;
  const visit = ({ token, state }: LoggedSession): void => {
    evaluated++;
    meter.evaluated();
    const { verifiedBot } = state;
    const { userAgent } = state.last;
    const declaredBot = () => (userAgent === "" ? undefined : agents.declaredBot(userAgent));
    const rules = [rule];
    const agent = () => knownAgent({ state, verifiedBot }, agents);
    const known = { verifiedBot, addresses, declaredBot, agent };
    const asked = { state, project, rules, context: {}, ...known, meaningOf: () => "", nowMs };
    const outcome = resolve(asked);
    const facts = ruleInput(asked);
    const now = { ...asked, exceptions, sessionToken: token };
    const before = treatedBy({ ...now, rules: current });
    const after = treatedBy({ ...now, rules: changed });
    counter.add(token, state, before, after);
    shadows.add(rule, facts !== null && rule.matches(facts), before, after);
    if (outcome.rule === null) return;
    matched++;
    byAction[outcome.verdict.action]++;
    byBand[outcome.verdict.verdict]++;
    if (sample.length < limits.ruleTestSampleMax) sample.push(token);
  };
  const visited = await visitScope(sessions, project.id, { sessionsMax, span }, slices, visit, nowMs);
  if (visited === "aborted") return null;
  const effect = { ...counter.effect, shadowedBy: [...shadows.by], shadows: [...shadows.of] };
  return { evaluated, isSample: visited === "sample", matched, byAction, byBand, sample, effect };
}

function visitScope(
  sessions: Sessions,
  projectId: number,
  { sessionsMax, span }: BacktestScope,
  slices: Slices,
  visit: (session: LoggedSession) => void,
  nowMs: number,
) {
  if (span === null) return sessions.visitLatest(projectId, sessionsMax, slices, visit);
  const { fromMs, untilMs } = span;
  if (untilMs === null) {
    return sessions.visitSince(projectId, { fromMs, untilMs: nowMs }, sessionsMax, slices, visit);
  }
  return sessions.visitBetween(projectId, { fromMs, untilMs }, sessionsMax, slices, visit);
}
