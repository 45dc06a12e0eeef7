/** Asked before the threshold, a guard or the logged-in policy is changed: what that would have done in the last day. */

import { useState } from "preact/hooks";
import type { SettingsTestAnswer } from "../../contract/configuration/backtest-answers.js";
import type { SettingsBody } from "../../contract/configuration/control.js";
import { type ExpressionFault, useAsked } from "../draft-backtest.js";
import type { ProjectPageProperties } from "../page-properties.js";
import { Confirmation, Fault } from "../parts.js";
import { plural } from "../words.js";
import { Effect } from "./effect.js";
import { noNames } from "./rule-link.js";

const changeNames: Readonly<Record<string, string>> = {
  likely_bot_threshold: "threshold",
  allow_verified: "verified bots",
  protect_static: "static resources",
  logged_in_policy: "logged-in visitors",
};

/** The dialog; `change` holds what would be changed, by the names of the API. */
export function SettingsConsequence(
  properties: ProjectPageProperties & {
    readonly change: SettingsBody;
    readonly act: () => Promise<unknown>;
    readonly onClose: () => void;
  },
) {
  const { api, project, change, ...dialog } = properties;
  const [found, setFound] = useState<SettingsTestAnswer | ExpressionFault | null>(null);
  useAsked<SettingsTestAnswer>(
    (signal) => api.testSettings(project, { ...change, hours: 24, limit: 10_000 }, signal),
    setFound,
    [api, project, JSON.stringify(change)],
  );
  const names = Object.keys(change).map((name) => changeNames[name] ?? name);
  return (
    <Confirmation {...dialog} title="Change these settings?" yes="Save settings" isWaiting={found === null}>
      <p>
        Changed: {names.join(", ")}. From the next verdict on, everybody is judged by the new settings. What that would
        have done in the last 24 hours:
      </p>
      {found === null && <p class="dim">Trying it…</p>}
      {found !== null && "state" in found && <Fault of={found.message} />}
      {found !== null && !("state" in found) && (
        <>
          <p class="dim">
            {plural(found.evaluated, "session")}
            {found.is_sample === true ? ", a sample," : ""} and {plural(found.requests.evaluated, "sample")} of requests
            were judged both ways.
          </p>
          <Effect of={found.effect} requests={found.requests.effect} names={noNames} />
        </>
      )}
    </Confirmation>
  );
}
