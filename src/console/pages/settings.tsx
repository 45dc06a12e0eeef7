/** Settings: guards, logged-in policy, the threshold with the bands that it makes, and verdictd's own challenge. */
import { useEffect, useState } from "preact/hooks";
import type { SettingsAnswer } from "../../contract/api-answers.js";
import { type LoggedInPolicy, loggedInPolicies } from "../../contract/verdict.js";
import { bandOfScore } from "../../verdict/bands.js";
import type { ProjectPageProperties } from "../app.js";
import { BandBadge, Fault, Loaded, PageTitle } from "../parts.js";
import { useResource, useTask } from "../resource.js";
import { ChallengeCard } from "./challenge-card.js";

const policyWords: Readonly<Record<LoggedInPolicy, string>> = {
  observe: "Observe: treat them like everybody",
  never_block: "Never block: challenge instead",
  never_challenge: "Never challenge: allow instead, still block",
  whitelist: "Allow them always",
};

export function SettingsPage({ api, project }: ProjectPageProperties) {
  const scoring = useResource(() => api.scoring(project), [api, project]);
  return (
    <>
      <PageTitle title="Settings" />
      <Loaded from={scoring}>
        {(settings) => <Form api={api} project={project} settings={settings} reload={() => scoring.reload()} />}
      </Loaded>
      <ChallengeCard api={api} project={project} />
    </>
  );
}

interface FormProperties extends ProjectPageProperties {
  readonly settings: SettingsAnswer;
  readonly reload: () => Promise<void>;
}

function Form({ api, project, settings, reload }: FormProperties) {
  const [draft, setDraft] = useState(() => flat(settings));
  const [said, setSaid] = useState("");
  const task = useTask();
  useEffect(() => setDraft(flat(settings)), [settings]);
  const change = (part: Partial<typeof draft>) => {
    setSaid("");
    setDraft((before) => ({ ...before, ...part }));
  };
  const save = (event: Event) => {
    event.preventDefault();
    void task.run(async () => {
      await api.changeSettings(project, draft);
      await reload();
      setSaid("Saved: it applies from the next verdict on.");
    });
  };
  return (
    <form class="card settings" onSubmit={save}>
      <label class="check">
        <input
          type="checkbox"
          checked={draft.allow_verified}
          onChange={(event) => change({ allow_verified: event.currentTarget.checked })}
        />
        Allow verified bots before any rule is asked
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={draft.protect_static}
          onChange={(event) => change({ protect_static: event.currentTarget.checked })}
        />
        Ask the rules for static resources too
      </label>
      <label>
        <span>Visitors who are logged in</span>
        <select
          value={draft.logged_in_policy}
          onChange={(event) => change({ logged_in_policy: event.currentTarget.value as LoggedInPolicy })}
        >
          {loggedInPolicies.map((policy) => (
            <option key={policy} value={policy}>
              {policyWords[policy]}
            </option>
          ))}
        </select>
        <span class="dim">No policy shelters definite and confident bots.</span>
      </label>
      <label>
        <span>Threshold: scores below it are bots, 1 to 99</span>
        <input
          type="number"
          min={1}
          max={99}
          step={1}
          required
          value={draft.likely_bot_threshold}
          onInput={(event) => change({ likely_bot_threshold: event.currentTarget.valueAsNumber || 0 })}
        />
      </label>
      <Bands threshold={draft.likely_bot_threshold} />
      <Fault of={task.fault} />
      <p class="buttons">
        <span class="said" role="status">
          {said}
        </span>
        <button type="submit" class="primary" aria-disabled={task.isRunning}>
          Save settings
        </button>
      </p>
    </form>
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
    <ul class="bands" aria-label="Bands that this threshold makes">
      {bands.map(({ band, range }) => (
        <li key={band}>
          <BandBadge band={band} /> {range}
        </li>
      ))}
    </ul>
  );
}
