/** Whether a project judges requests of visitors without a scored session: read and change the settings. */
import type { RequestScoringAnswer } from "../../../contract/api-answers.js";
import { canonicalHost } from "../../../contract/host.js";
import type { Mismatch } from "../../../contract/mismatch.js";
import { checkRequestScoring } from "../../../contract/validators.js";
import { type Projects, requestScoringRow } from "../../../control-plane/projects.js";
import { skipPathFault } from "../../../verdict/skipped-paths.js";
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
    check: (value) => {
      const checked = checkRequestScoring(value);
      return "value" in checked ? (skipPathsFault(checked.value.skip_paths ?? []) ?? checked) : checked;
    },
    given: ({ enabled, signed_agents: signedAgents, skip_paths: skipPaths, hosts, issue_tokens: issueTokens }) => ({
      enabled,
      signedAgents,
      skipPaths,
      hosts: hosts && ownHosts(hosts),
      issueTokens,
    }),
    change: (projectId, given) => projects.changeRequestScoring(projectId, given),
    view: (project) => requestScoringRow(project) satisfies RequestScoringAnswer,
  });
}

/** The first pattern that no path can match: it would silently let nobody in. */
function skipPathsFault(patterns: readonly string[]): Mismatch | null {
  for (const [index, pattern] of patterns.entries()) {
    const fault = skipPathFault(pattern);
    if (fault !== null) return { path: `skip_paths[${index}]`, fault };
  }
  return null;
}

/** In the one spelling in which hosts are compared, each once. */
function ownHosts(hosts: readonly string[]): string[] {
  const spelt = hosts.map((host) =>
    host.startsWith("*.") ? `*.${canonicalHost(host.slice(2))}` : canonicalHost(host),
  );
  return [...new Set(spelt)];
}
