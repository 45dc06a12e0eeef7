/** Backtests changed settings: which stored sessions would be treated otherwise with them than now, by the rules as they are. It only reads. */
import type { Project } from "../../contract/configuration/entities.js";
import type { ProjectSettings } from "../../contract/sessions/session.js";
import type { Refusal } from "../../errors.js";
import type { Slices } from "../../runtime/long-work.js";
import {
  askedSession,
  type BacktestScope,
  type BacktestServices,
  oneBacktest,
  personsOf,
  visitScope,
} from "./backtest.js";
import { type Change, EffectCounter } from "./change-effect.js";

/** The outcome over the evaluated sessions. */
interface SettingsBacktest {
  readonly evaluated: number;
  /** Whether the sessions evaluated are a sample of those asked for. */
  readonly isSample: boolean;
  readonly change: Change;
  readonly counter: EffectCounter;
}

/** Null if the client has left meanwhile; `conflict` while another backtest of the account runs. */
export async function backtestSettings(
  services: BacktestServices,
  project: Project,
  changed: ProjectSettings,
  scope: BacktestScope,
  slices: Slices,
  nowMs: number,
): Promise<SettingsBacktest | Refusal | null> {
  const rules = services.rulesOf(project);
  const change: Change = { before: { project, rules }, after: { project: changed, rules }, draft: null };
  return oneBacktest(services, project, async () => {
    const counter = new EffectCounter(change, await personsOf(services.store, project.id), nowMs);
    const exceptions = services.exceptionsOf(project);
    let evaluated = 0;
    const visited = await visitScope(
      services.sessions,
      project.id,
      scope,
      slices,
      (session) => {
        evaluated++;
        services.meter.evaluated();
        counter.add(askedSession(services, session, exceptions));
      },
      nowMs,
    );
    return visited === "aborted" ? null : { evaluated, isSample: visited === "sample", change, counter };
  });
}
