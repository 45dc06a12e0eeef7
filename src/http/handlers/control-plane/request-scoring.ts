/** Whether a project judges requests of visitors without a scored session: read and change the settings. */
import type { RequestScoringAnswer } from "../../../contract/api-answers.js";
import { checkRequestScoring } from "../../../contract/validators.js";
import type { Projects } from "../../../control-plane/projects.js";
import { Refusal } from "../../../errors.js";
import { json, type Reply, refusal } from "../../reply.js";
import type { ProjectCall, ProjectRoute } from "../../route.js";
import { readBodyAs, requestScoringView } from "./wire.js";

const path = "/v1/projects/:project/request-scoring";

export function requestScoringRoutes(projects: Projects): ProjectRoute[] {
  return [
    {
      method: "get",
      path,
      credential: "project",
      needs: "projects:read",
      doc: {
        id: "getRequestScoring",
        tag: "control plane",
        summary: "The settings of request scoring",
        answers: { 200: "RequestScoringAnswer" },
      },
      handle: ({ project }) => json(200, requestScoringView(project) satisfies RequestScoringAnswer),
    },
    {
      method: "put",
      path,
      credential: "project",
      needs: "projects:write",
      readsBody: true,
      doc: {
        id: "changeRequestScoring",
        tag: "control plane",
        summary: "Change the settings of request scoring",
        description: "Send only what changes. Takes effect at once.",
        body: "RequestScoringBody",
        bodyOptional: true,
        answers: { 200: "RequestScoringAnswer" },
      },
      handle: (call) => change(projects, call),
    },
  ];
}

async function change(projects: Projects, { project, body }: ProjectCall): Promise<Reply> {
  const read = readBodyAs(body, checkRequestScoring, {});
  if (read instanceof Refusal) return refusal(read);
  const { enabled, signed_agents: signedAgents } = read.value;
  const isChange = enabled !== undefined || signedAgents !== undefined;
  const changed = isChange ? await projects.changeRequestScoring(project.id, { enabled, signedAgents }) : project;
  return changed instanceof Refusal ? refusal(changed) : json(200, requestScoringView(changed));
}
