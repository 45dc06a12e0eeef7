/** What backtests of rules and of settings share: the sessions they read, one at a time for each account, and how a stored session asks for a verdict. */
import type { Project } from "../../contract/configuration/entities.js";
import type { ExceptionLookup } from "../../contract/configuration/exceptions.js";
import type { AddressLookup } from "../../contract/evidence/network-fact.js";
import { type Refusal, refuse } from "../../errors.js";
import type { Expression } from "../../rules/ast.js";
import type { Slices } from "../../runtime/long-work.js";
import type { Store } from "../../store/store.js";
import { tryLock } from "../../store/thread-lock.js";
import { type AgentLists, knownAgent } from "../../verdict/known-agent.js";
import type { NamedRule } from "../../verdict/resolve.js";
import type { LoggedSession } from "../sessions/session-log.js";
import type { Sessions } from "../sessions/sessions.js";
import type { AskedVisitor } from "./change-effect.js";

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
  /** What may be said of an expression before it is a rule, by the lists in force: see `agentNameWarnings`. */
  readonly nameWarnings: (expression: Expression) => readonly string[];
  readonly rulesOf: (project: Project) => readonly NamedRule[];
  readonly exceptionsOf: (project: Project) => ExceptionLookup | null;
  readonly store: Store;
  readonly sessions: Sessions;
  readonly meter: BacktestMeter;
}

/** Runs a backtest, whose null means that the client has left meanwhile; `conflict` while another one of the account runs. */
export async function oneBacktest<T>(
  { store, meter }: BacktestServices,
  project: Project,
  run: () => Promise<T | null>,
): Promise<T | Refusal | null> {
  const unlock = tryLock(store, `backtest:${project.accountId}`);
  if (unlock === null) {
    meter.ended("refused");
    return refuse("conflict", "another backtest of the account is running: try again when it has ended");
  }
  try {
    const done = await run();
    meter.ended(done === null ? "aborted" : "done");
    return done;
  } finally {
    unlock();
  }
}

/** Tokens of the sessions that are marked as persons. */
export async function personsOf(store: Store, projectId: number): Promise<ReadonlySet<string>> {
  const persons = new Set<string>();
  for (const { as, sessionToken } of await store.recorded.marks.all(projectId)) {
    if (as === "person") persons.add(sessionToken);
  }
  return persons;
}

/** The session as it asks for a verdict now: its request is what it last reported. */
export function askedSession(
  { addresses, agents }: BacktestServices,
  { token, state }: LoggedSession,
  exceptions: ExceptionLookup | null,
): AskedVisitor {
  const { verifiedBot } = state;
  const { userAgent } = state.last;
  return {
    state,
    sessionToken: token,
    context: {},
    verifiedBot,
    exceptions,
    addresses,
    declaredBot: () => (userAgent === "" ? undefined : agents.declaredBot(userAgent)),
    agent: () => knownAgent({ state, verifiedBot }, agents),
  };
}

/** Visits the sessions of the scope. */
export function visitScope(
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
