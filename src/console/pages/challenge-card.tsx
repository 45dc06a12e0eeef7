/** Settings of verdictd's own challenge: on or off, how hard it is, how long a pass holds. */
import { useEffect, useState } from "preact/hooks";
import type { ChallengeSettingsAnswer } from "../../contract/api-answers.js";
import type { ChallengeDifficulty } from "../../contract/challenge.js";
import type { ProjectPageProperties } from "../app.js";
import { Card, Fault, Loaded } from "../parts.js";
import { useResource, useTask } from "../resource.js";

const difficultyWords: Readonly<Record<ChallengeDifficulty, string>> = {
  low: "Low: about 0.3 seconds on a phone of five years ago",
  normal: "Normal: about 1 second",
  high: "High: about 4 seconds",
};

export function ChallengeCard({ api, project }: ProjectPageProperties) {
  const challenge = useResource(() => api.challenge(project), [api, project]);
  return (
    <Card title="Challenge">
      <p class="dim">
        A proof of work that the visitor’s browser does by itself: people see a short page, or nothing in a single-page
        application. It is shown where a rule’s action is challenge, once your middleware or proxy is set up for it.
        Passing it lets the session through for a while; a worse band ends that at once. While it is off, challenge is
        left to your own hook. <a href="/docs/challenge">How it works</a>
      </p>
      <Loaded from={challenge}>
        {(settings) => <Form api={api} project={project} settings={settings} reload={() => challenge.reload()} />}
      </Loaded>
    </Card>
  );
}

interface FormProperties extends ProjectPageProperties {
  readonly settings: ChallengeSettingsAnswer;
  readonly reload: () => Promise<void>;
}

function Form({ api, project, settings, reload }: FormProperties) {
  const [draft, setDraft] = useState(settings);
  const [said, setSaid] = useState("");
  const task = useTask();
  useEffect(() => setDraft(settings), [settings]);
  const change = (part: Partial<ChallengeSettingsAnswer>) => {
    setSaid("");
    setDraft((before) => ({ ...before, ...part }));
  };
  const save = (event: Event) => {
    event.preventDefault();
    void task.run(async () => {
      const { enabled } = await api.changeChallenge(project, draft);
      await reload();
      setSaid(`Saved: the challenge is ${enabled ? "on" : "off"}.`);
    });
  };
  return (
    <form class="settings" onSubmit={save}>
      <label class="check">
        <input
          type="checkbox"
          checked={draft.enabled}
          onChange={(event) => change({ enabled: event.currentTarget.checked })}
        />
        Use verdictd’s own challenge
      </label>
      <label>
        <span>Difficulty</span>
        <select
          value={draft.difficulty}
          onChange={(event) => change({ difficulty: event.currentTarget.value as ChallengeDifficulty })}
        >
          {(Object.keys(difficultyWords) as ChallengeDifficulty[]).map((difficulty) => (
            <option key={difficulty} value={difficulty}>
              {difficultyWords[difficulty]}
            </option>
          ))}
        </select>
        <span class="dim">Half of it for sessions that score above the threshold, twice for confident bots.</span>
      </label>
      <label>
        <span>Minutes that a pass holds, 1 to 1440</span>
        <input
          type="number"
          min={1}
          max={1440}
          step={1}
          required
          value={draft.clearance_minutes}
          onInput={(event) => change({ clearance_minutes: event.currentTarget.valueAsNumber || 0 })}
        />
      </label>
      <Fault of={task.fault} />
      <p class="buttons">
        <span class="said" role="status">
          {said}
        </span>
        <button type="submit" class="primary" aria-disabled={task.isRunning}>
          Save challenge
        </button>
      </p>
    </form>
  );
}
