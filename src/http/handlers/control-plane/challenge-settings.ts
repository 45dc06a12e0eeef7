/** verdictd's own challenge of a project: read and change its settings. */
import type { ChallengeSettingsAnswer } from "../../../contract/api-answers.js";
import { defaultChallengeSettings } from "../../../contract/challenge.js";
import type { Project } from "../../../contract/entities.js";
import { checkChallengeSettings } from "../../../contract/validators.js";
import type { Projects } from "../../../control-plane/projects.js";
import { Refusal } from "../../../errors.js";
import { json, type Reply, refusal } from "../../reply.js";
import type { ProjectCall, ProjectRoute } from "../../route.js";
import { readBodyAs } from "./wire.js";

const path = "/v1/projects/:project/challenge";

export function challengeSettingsRoutes(projects: Projects): ProjectRoute[] {
  return [
    {
      method: "get",
      path,
      credential: "project",
      needs: "projects:read",
      doc: {
        id: "getChallengeSettings",
        tag: "control plane",
        summary: "The settings of verdictd's own challenge",
        description: "While `enabled` is false, the action `challenge` is left to a hook of the site's own.",
        answers: { 200: "ChallengeSettingsAnswer" },
      },
      handle: ({ project }) => json(200, view(project)),
    },
    {
      method: "put",
      path,
      credential: "project",
      needs: "projects:write",
      readsBody: true,
      doc: {
        id: "changeChallengeSettings",
        tag: "control plane",
        summary: "Change the settings of verdictd's own challenge",
        description: "Send only what changes; it takes effect at once.",
        body: "ChallengeSettingsBody",
        bodyOptional: true,
        answers: { 200: "ChallengeSettingsAnswer" },
      },
      handle: (call) => change(projects, call),
    },
  ];
}

async function change(projects: Projects, { project, body }: ProjectCall): Promise<Reply> {
  const read = readBodyAs(body, checkChallengeSettings, {});
  if (read instanceof Refusal) return refusal(read);
  const { enabled, difficulty, clearance_minutes: clearanceMinutes } = read.value;
  const given = { enabled, difficulty, clearanceMinutes };
  const isChange = Object.values(given).some((value) => value !== undefined);
  const changed = isChange ? await projects.changeChallenge(project.id, given) : project;
  return changed instanceof Refusal ? refusal(changed) : json(200, view(changed));
}

function view({ challenge = defaultChallengeSettings }: Project): ChallengeSettingsAnswer {
  const { enabled, difficulty, clearanceMinutes } = challenge;
  return { enabled, difficulty, clearance_minutes: clearanceMinutes };
}
