/** verdictd's own challenge of a project: read and change its settings. */
import type { ChallengeSettingsAnswer } from "../../../contract/api-answers.js";
import { defaultChallengeSettings, defaultClearanceNetworks } from "../../../contract/challenge.js";
import type { Project } from "../../../contract/entities.js";
import { checkChallengeSettings } from "../../../contract/validators.js";
import type { Projects } from "../../../control-plane/projects.js";
import type { ProjectRoute } from "../../route.js";
import { settingsRoutes } from "./settings-routes.js";

/** `GET` and `PUT …/challenge`, by `projects:read` and `projects:write`. */
export function challengeSettingsRoutes(projects: Projects): ProjectRoute[] {
  return settingsRoutes({
    path: "challenge",
    id: "ChallengeSettings",
    body: "ChallengeSettingsBody",
    answer: "ChallengeSettingsAnswer",
    of: "verdictd's own challenge",
    description: "While `enabled` is false, the action `challenge` is left to the site's own hook.",
    check: checkChallengeSettings,
    given: ({ enabled, difficulty, clearance_minutes: clearanceMinutes, clearance_networks: clearanceNetworks }) => ({
      enabled,
      difficulty,
      clearanceMinutes,
      clearanceNetworks,
    }),
    change: (projectId, given) => projects.changeChallenge(projectId, given),
    view,
  });
}

function view({ challenge = defaultChallengeSettings }: Project): ChallengeSettingsAnswer {
  const { enabled, difficulty, clearanceMinutes, clearanceNetworks = defaultClearanceNetworks } = challenge;
  return { enabled, difficulty, clearance_minutes: clearanceMinutes, clearance_networks: clearanceNetworks };
}
