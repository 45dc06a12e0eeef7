/** Settings of verdictd's own challenge: on or off, how hard it is, how long a pass holds, where its script is. */
import type { ChallengeDifficulty } from "../../contract/verdicts/challenge.js";
import { CheckField, ChoiceField, choicesOf, NumberField, TextField } from "../fields.js";
import type { ProjectPageProperties } from "../page-properties.js";
import { SettingsCard } from "./settings-card.js";

const difficultyWords: Readonly<Record<ChallengeDifficulty, string>> = {
  low: "Low: about 0.3 seconds on a five-year-old phone",
  normal: "Normal: about 1 second",
  high: "High: about 4 seconds",
};

/** The card of the page Settings with the switch, the difficulty, what a pass is valid for, and where browsers find the script. */
export function ChallengeCard({ api, project }: ProjectPageProperties) {
  return (
    <SettingsCard
      title="Challenge"
      about={
        <>
          A proof of work that the visitor’s browser does on its own: people see a short page, or nothing in a
          single-page application. It is shown if a rule’s action is challenge, once your middleware or proxy is set up
          for it. Passing it lets the session through for a while; a worse band ends that at once. While it is off,
          challenge is left to your own hook. <a href="/docs/challenge">How it works</a>
        </>
      }
      load={() => api.challenge(project)}
      dependencies={[api, project]}
      save={(draft) => api.changeChallenge(project, draft)}
      saved={({ enabled }) => `Saved: the challenge is ${enabled ? "on" : "off"}.`}
      button="Save challenge"
    >
      {(draft, change) => (
        <>
          <CheckField
            label="Use verdictd’s own challenge"
            value={draft.enabled}
            onChange={(enabled) => change({ enabled })}
          />
          <ChoiceField
            label="Difficulty"
            options={choicesOf(difficultyWords)}
            value={draft.difficulty}
            onChange={(difficulty) => change({ difficulty })}
            note="Sessions that score above the threshold get half of this, confident bots twice."
          />
          <NumberField
            label="Minutes that a pass is valid"
            max={1440}
            value={draft.clearance_minutes}
            onChange={(clearance_minutes) => change({ clearance_minutes })}
          />
          <NumberField
            label="Networks that a pass may be used from (IPv4 /16, IPv6 /32, counted separately)"
            max={16}
            value={draft.clearance_networks}
            onChange={(clearance_networks) => change({ clearance_networks })}
          />
          <TextField
            label="Origin of the script"
            value={draft.script_origin}
            onChange={(script_origin) => change({ script_origin })}
            note="Where visitors’ browsers find /challenge.js, such as https://verdictd.example. Empty: on your own site."
          />
          <TextField
            label="Path prefix"
            value={draft.path_prefix}
            onChange={(path_prefix) => change({ path_prefix })}
            note="What your proxy puts before verdictd’s paths there, such as /bots. Empty: nothing."
          />
        </>
      )}
    </SettingsCard>
  );
}
