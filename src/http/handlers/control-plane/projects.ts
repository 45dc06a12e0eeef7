/** The projects of the token's account: `GET` and `POST /v1/projects`. */
import type { ProjectRow, ProjectsAnswer } from "../../../contract/api-answers.js";
import type { Project } from "../../../contract/entities.js";
import { checkProject } from "../../../contract/validators.js";
import type { Projects } from "../../../control-plane/projects.js";
import { Refusal } from "../../../errors.js";
import { limits } from "../../../limits.js";
import type { AccountReads } from "../../../runtime/account-reads.js";
import { json, type Reply, refusal, unread } from "../../reply.js";
import type { TokenCall, TokenRoute } from "../../route.js";
import { boundAccount, readBodyAs } from "./wire.js";

/** Reading by `projects:read`, creating by `projects:write`. */
export function projectRoutes(projects: Projects, reads: AccountReads): TokenRoute[] {
  return [
    {
      method: "get",
      path: "/v1/projects",
      credential: "token",
      needs: "projects:read",
      doc: {
        id: "listProjects",
        tag: "control plane",
        summary: "The projects of the token's account",
        answers: { 200: "ProjectsAnswer" },
        refusals: ["forbidden"],
      },
      handle: async ({ holder, isAborted }) => {
        const account = boundAccount(holder);
        if (account instanceof Refusal) return refusal(account);
        const data = await reads.run(account.id, isAborted, async (slices) => {
          const rows: ProjectRow[] = [];
          for (const project of projects.ofAccount(account.id)) {
            if (slices.isOver && !(await slices.next())) return null;
            rows.push(view(project));
          }
          return rows;
        });
        if (data === null) return unread;
        return json(200, { data, meta: { count: data.length } } satisfies ProjectsAnswer);
      },
    },
    {
      method: "post",
      path: "/v1/projects",
      credential: "token",
      needs: "projects:write",
      readsBody: true,
      doc: {
        id: "createProject",
        tag: "control plane",
        summary: "Create a project with its two inactive starter rules",
        description:
          "It has no keys until `POST /v1/projects/{project}/scoring` enables scoring. Names need not be unique. " +
          `409 where the account has ${limits.projectsPerAccountMax} projects.`,
        body: "ProjectBody",
        answers: { 200: "ProjectCreatedAnswer" },
        refusals: ["forbidden", "insufficientTokenAbility", "conflict"],
      },
      handle: (call) => createProject(projects, call),
    },
  ];
}

async function createProject(projects: Projects, { holder, body }: TokenCall): Promise<Reply> {
  const account = boundAccount(holder);
  if (account instanceof Refusal) return refusal(account);
  const read = readBodyAs(body, checkProject);
  if (read instanceof Refusal) return refusal(read);
  const made = await projects.create(account.id, read.value.name, limits.projectsPerAccountMax);
  return made instanceof Refusal ? refusal(made) : json(200, view(made));
}

function view({ id, name, siteKey }: Project): ProjectRow {
  return { id, name, scoring_enabled: siteKey !== null };
}
