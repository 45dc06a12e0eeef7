/** Whether a project judges requests of visitors without a scored session: read and change the settings. */
import type { RequestScoringAnswer } from "../../../contract/api-answers.js";
import type { Project } from "../../../contract/entities.js";
import { defaultRequestScoring } from "../../../contract/session.js";
import { checkRequestScoring } from "../../../contract/validators.js";
import type { Projects } from "../../../control-plane/projects.js";
import type { ProjectRoute } from "../../route.js";
import { settingsRoutes } from "./settings-routes.js";

/** `GET` and `PUT …/request-scoring`, by `projects:read` and `projects:write`. */
export function requestScoringRoutes(projects: Projects): ProjectRoute[] {
  return settingsRoutes({
    path: "request-scoring",
    id: "RequestScoring",
    body: "RequestScoringBody",
    answer: "RequestScoringAnswer",
    of: "request scoring",
    check: checkRequestScoring,
    given: ({ enabled, signed_agents: signedAgents }) => ({ enabled, signedAgents }),
    change: (projectId, given) => projects.changeRequestScoring(projectId, given),
    view,
  });
}

function view({ requestScoring = defaultRequestScoring }: Project): RequestScoringAnswer {
  return { enabled: requestScoring.enabled, signed_agents: requestScoring.signedAgents };
}
