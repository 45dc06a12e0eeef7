/** What is asked before a rule that people notice is switched on: what it would have done, and on first use what it does and needs. */
import type { ListedRuleAnswer } from "../../contract/configuration/rule-answers.js";
import type { Action } from "../../contract/verdicts/verdict.js";
import { useDraftBacktest } from "../draft-backtest.js";
import { hashOf } from "../location.js";
import type { ProjectPageProperties } from "../page-properties.js";
import { Confirmation, Fault } from "../parts.js";
import { useResource } from "../resource.js";
import { actionWords } from "../words.js";
import { Backtest } from "./backtest.js";

/** A rule that is about to be switched on. */
interface StartingRule {
  readonly name: string;
  readonly expression: string;
  readonly action: Action;
  /** Where it stands; absent: behind all others. */
  readonly sortOrder?: number | undefined;
  /** Absent: a new one. */
  readonly id?: number | undefined;
}

/** Whether switching it on is asked about: always for block, for challenge and delay while no other active rule uses them. */
export function asksBeforeStart(action: Action, others: readonly ListedRuleAnswer[]): boolean {
  if (action === "block") return true;
  if (action !== "challenge" && action !== "delay") return false;
  return !others.some((rule) => rule.is_active && rule.action === action);
}

/** Asks before the rule is switched on: shows what it would have done in the last 24 hours, and on first use what its action does. */
export function StartDialog(
  properties: ProjectPageProperties & {
    readonly rule: StartingRule;
    readonly yes: string;
    readonly act: () => Promise<unknown>;
    readonly onClose: () => void;
    /** Names of the rules by their ids. */
    readonly names: ReadonlyMap<number, string>;
  },
) {
  const { api, project, names, rule, yes, act, onClose } = properties;
  const { name, expression, action } = rule;
  const backtest = useDraftBacktest(api, project, expression, action, rule.sortOrder, rule.id);
  const isWaiting = backtest.state === "waiting" || backtest.state === "empty";
  return (
    <Confirmation
      title={
        action === "block"
          ? "Activate a rule that blocks?"
          : `The first rule with the action ${actionWords[action].toLowerCase()}`
      }
      yes={yes}
      isWaiting={isWaiting}
      act={act}
      onClose={onClose}
    >
      {action === "block" && (
        <p>
          From the next verdict on, every visitor who matches <b class="wrap">{name}</b> is blocked. What it would have
          done:
        </p>
      )}
      {action === "challenge" && <AboutChallenge api={api} project={project} />}
      {action === "delay" && <AboutDelay />}
      {action !== "block" && (
        <p>
          What <b class="wrap">{name}</b> would have done:
        </p>
      )}
      <Backtest backtest={backtest} expression={expression} action={action} names={names} isBrief />
    </Confirmation>
  );
}

function AboutChallenge({ api, project }: ProjectPageProperties) {
  const settings = useResource(() => api.challenge(project), [api, project]);
  return (
    <>
      <Fault of={settings.fault} />
      {settings.value?.enabled === false && (
        <p class="notice">
          verdictd’s challenge is off in this project: until you <a href={hashOf("settings")}>switch it on</a>, your own
          hook decides what people see.
        </p>
      )}
      <p>
        <b>What people see{settings.value?.enabled === false ? " once it is on" : ""}:</b> a short page while their
        browser solves a proof of work, about a second on a phone. A browser without JavaScript can’t pass.
      </p>
      <p>
        <b>What it needs:</b> a middleware or proxy of yours that shows this page (
        <a href="/docs/challenge">how to set it up</a>). One that is not set up for it follows its own default for
        challenge.
      </p>
    </>
  );
}

function AboutDelay() {
  return (
    <>
      <p>
        <b>What people see:</b> each of their requests waits, 1 second unless you set <code>delayMs</code>; nothing
        tells them why.
      </p>
      <p>
        <b>What it needs:</b> a middleware (Express, Fastify, fetch) or your own code that waits. A proxy with
        forward-auth does not wait: it lets them in at once.
      </p>
    </>
  );
}
