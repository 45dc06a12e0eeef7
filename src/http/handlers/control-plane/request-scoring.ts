/** Whether a project judges requests of visitors without a scored session: read and change the settings. */
import { canonicalHost } from "../../../contract/values/host.js";
import type { Mismatch } from "../../../contract/values/mismatch.js";
import { type Projects, requestScoringRow } from "../../../control-plane/accounts/projects.js";
import { skipPathFault } from "../../../verdict/skipped-paths.js";
import type { ProjectRoute } from "../../route.js";
import { settingsRoutes } from "./settings-routes.js";

/** `GET` and `PUT …/request-scoring`, by `projects:read` and `projects:write`. */
export function requestScoringRoutes(projects: Projects): ProjectRoute[] {
  return settingsRoutes({
    read: "getRequestScoring",
    change: "changeRequestScoring",
    of: "request scoring",
    faultIn: ({ skip_paths: skipPaths }) => skipPathsFault(skipPaths ?? []),
    given: ({ enabled, signed_agents: signedAgents, skip_paths: skipPaths, hosts, issue_tokens: issueTokens }) => ({
      enabled,
      signedAgents,
      skipPaths,
      hosts: hosts && ownHosts(hosts),
      issueTokens,
    }),
    store: (projectId, given) => projects.changeRequestScoring(projectId, given),
    view: (project) => requestScoringRow(project),
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
