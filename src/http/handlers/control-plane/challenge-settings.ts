/** verdictd's own challenge of a project: read and change its settings. */
import { challengeRow, type Projects } from "../../../control-plane/accounts/projects.js";
import type { ProjectRoute } from "../../route.js";
import { settingsRoutes } from "./settings-routes.js";

/** `GET` and `PUT …/challenge`, by `projects:read` and `projects:write`. */
export function challengeSettingsRoutes(projects: Projects): ProjectRoute[] {
  return settingsRoutes({
    read: "getChallengeSettings",
    change: "changeChallengeSettings",
    of: "verdictd's own challenge",
    description: "While `enabled` is false, the action `challenge` is left to the site's own hook.",
    given: (sent) => ({
      enabled: sent.enabled,
      difficulty: sent.difficulty,
      clearanceMinutes: sent.clearance_minutes,
      clearanceNetworks: sent.clearance_networks,
      scriptOrigin: sent.script_origin,
      pathPrefix: sent.path_prefix,
    }),
    store: (projectId, given) => projects.changeChallenge(projectId, given),
    view: (project) => challengeRow(project),
  });
}
