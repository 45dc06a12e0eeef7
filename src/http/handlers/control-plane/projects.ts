/** The projects of the token's account: `GET` and `POST /v1/projects`. */

import type { Project } from "../../../contract/configuration/entities.js";
import type { ProjectRow, ProjectsAnswer } from "../../../contract/configuration/project-answers.js";
import type { Projects } from "../../../control-plane/accounts/projects.js";
import { Refusal } from "../../../errors.js";
import { limits } from "../../../limits.js";
import type { AccountReads } from "../../../runtime/account-reads.js";
import { type Answered, type Asked, tokenRoute } from "../../operation-route.js";
import { json, refusal, unread } from "../../reply.js";
import type { TokenCall, TokenRoute } from "../../route.js";
import { boundAccount } from "./wire.js";

/** Reading by `projects:read`, creating by `projects:write`. */
export function projectRoutes(projects: Projects, reads: AccountReads): TokenRoute[] {
  return [
    tokenRoute("listProjects", {
      needs: "projects:read",
      doc: { tag: "control plane", summary: "The projects of the token's account", refusals: ["forbidden"] },
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
    }),
    tokenRoute("createProject", {
      needs: "projects:write",
      doc: {
        tag: "control plane",
        summary: "Create a project with its two inactive starter rules",
        description:
          "It has no keys until `POST /v1/projects/{project}/scoring` enables scoring. Names need not be unique. " +
          `409 where the account has ${limits.projectsPerAccountMax} projects.`,
        refusals: ["forbidden", "insufficientTokenAbility", "conflict"],
      },
      handle: (call) => createProject(projects, call),
    }),
  ];
}

async function createProject(
  projects: Projects,
  { holder, readBody }: Asked<"createProject", TokenCall>,
): Promise<Answered<"createProject">> {
  const account = boundAccount(holder);
  if (account instanceof Refusal) return refusal(account);
  const read = readBody();
  if (read instanceof Refusal) return refusal(read);
  const made = await projects.create(account.id, read.value.name, limits.projectsPerAccountMax);
  return made instanceof Refusal ? refusal(made) : json(200, view(made));
}

function view({ id, name, siteKey }: Project): ProjectRow {
  return { id, name, scoring_enabled: siteKey !== null };
}
