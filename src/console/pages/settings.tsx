/** Settings: guards, logged-in policy, the threshold with the bands that it makes, request scoring, and verdictd's own challenge. */
import type { SettingsAnswer } from "../../contract/configuration/project-answers.js";
import type { LoggedInPolicy } from "../../contract/verdicts/verdict.js";
import { bandOfScore } from "../../verdict/bands.js";
import { CheckField, ChoiceField, choicesOf, NumberField } from "../fields.js";
import type { ProjectPageProperties } from "../page-properties.js";
import { BandBadge, PageTitle } from "../parts.js";
import { ChallengeCard } from "./challenge-card.js";
import { RequestScoringCard } from "./request-scoring-card.js";
import { SettingsCard } from "./settings-card.js";
import { SettingsConsequence } from "./settings-consequence.js";

const policyWords: Readonly<Record<LoggedInPolicy, string>> = {
  observe: "Observe: treat them like everybody else",
  never_block: "Never block: challenge instead",
  never_challenge: "Never challenge: allow instead, still block",
  whitelist: "Allow them always",
};

/** Three cards that are saved each on their own: verdicts, request scoring, challenge. The bands follow the threshold as it is typed. */
export function SettingsPage({ api, project }: ProjectPageProperties) {
  return (
    <>
      <PageTitle title="Settings" />
      <SettingsCard
        title="Verdicts"
        load={async () => flat(await api.scoring(project))}
        dependencies={[api, project]}
        save={(draft) => api.changeSettings(project, draft)}
        saved={() => "Saved: it applies from the next verdict on."}
        button="Save settings"
        ask={(change, dialog) => <SettingsConsequence api={api} project={project} change={change} {...dialog} />}
      >
        {(draft, change) => (
          <>
            <CheckField
              label="Allow verified bots before any rule is evaluated"
              value={draft.allow_verified}
              onChange={(allow_verified) => change({ allow_verified })}
            />
            <CheckField
              label="Evaluate rules for static resources too"
              value={draft.protect_static}
              onChange={(protect_static) => change({ protect_static })}
            />
            <ChoiceField
              label="Visitors who are logged in"
              options={choicesOf(policyWords)}
              value={draft.logged_in_policy}
              onChange={(logged_in_policy) => change({ logged_in_policy })}
              note="No policy protects definite and confident bots."
            />
            <NumberField
              label="Threshold: scores below it are bots"
              max={99}
              value={draft.likely_bot_threshold}
              onChange={(likely_bot_threshold) => change({ likely_bot_threshold })}
            />
            <Bands threshold={draft.likely_bot_threshold} />
          </>
        )}
      </SettingsCard>
      <RequestScoringCard api={api} project={project} />
      <ChallengeCard api={api} project={project} />
    </>
  );
}

function flat({ bot_settings, likely_bot_threshold }: SettingsAnswer) {
  return { ...bot_settings, likely_bot_threshold };
}

/** The scores of each band, found by asking the function that decides. */
function Bands({ threshold }: { readonly threshold: number }) {
  if (threshold < 1 || threshold > 99) return null;
  const scores = Array.from({ length: 99 }, (_, index) => index + 1);
  const bands = (["definite", "confident_automated", "likely_automated", "likely_human"] as const).map((band) => {
    const own = scores.filter((score) => bandOfScore(score, threshold) === band);
    return {
      band,
      range: own.length === 0 ? "no score" : own.length === 1 ? `${own[0]}` : `${own[0]} to ${own.at(-1)}`,
    };
  });
  return (
    <ul class="bands" aria-label="Bands with this threshold">
      {bands.map(({ band, range }) => (
        <li key={band}>
          <BandBadge band={band} /> {range}
        </li>
      ))}
    </ul>
  );
}
