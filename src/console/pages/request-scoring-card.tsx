/** Settings of request scoring: whether requests of visitors without a scored session are judged, and who decides about signed agents. */
import type { SignedAgentPolicy } from "../../contract/verdicts/verdict.js";
import { CheckField, ChoiceField, choicesOf } from "../fields.js";
import type { ProjectPageProperties } from "../page-properties.js";
import { SettingsCard } from "./settings-card.js";

const policyWords: Readonly<Record<SignedAgentPolicy, string>> = {
  allow: "Allow them before any rule is evaluated",
  rules: "Let the rules decide",
};

/** The card of the page Settings with the switch, and what becomes of agents whose signature was verified. */
export function RequestScoringCard({ api, project }: ProjectPageProperties) {
  return (
    <SettingsCard
      title="Request scoring"
      about={
        <>
          Clients that run no script never have a session. With request scoring on, they are judged by their requests,
          and rules decide about them. Otherwise they are allowed. First let your middleware or proxy pass on the
          headers that count. <a href="/docs/requests">How it works</a>
        </>
      }
      load={() => api.requestScoring(project)}
      dependencies={[api, project]}
      save={(draft) => api.changeRequestScoring(project, draft)}
      saved={({ enabled }) => `Saved: request scoring is ${enabled ? "on" : "off"}.`}
      button="Save request scoring"
    >
      {(draft, change) => (
        <>
          <CheckField
            label="Judge requests of visitors without a scored session"
            value={draft.enabled}
            onChange={(enabled) => change({ enabled })}
          />
          <CheckField
            label="Give visitors a session token with their first page (proxies)"
            value={draft.issue_tokens}
            onChange={(issue_tokens) => change({ issue_tokens })}
          />
          <ChoiceField
            label="Agents whose signature was verified"
            options={choicesOf(policyWords)}
            value={draft.signed_agents}
            onChange={(signed_agents) => change({ signed_agents })}
            note="They are allowed only while verified bots are allowed too."
          />
        </>
      )}
    </SettingsCard>
  );
}
