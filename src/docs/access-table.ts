/** Who may call what: the table of the API page, made of the route table. Pure; every text is escaped. */
import type { TokenNeed } from "../contract/api/access.js";
import type { DocumentedRoute } from "../contract/api/openapi.js";
import { httpMethodOf } from "../contract/api/operations.js";
import { code, escapeHtml, table } from "./html.js";

/** A row for each route of the API; pages and files that anybody may read are left out. */
export function accessTable(routes: readonly DocumentedRoute[]): string {
  const shown = routes.filter(({ credential, path }) => credential !== "none" || path.startsWith("/v1/"));
  return table(
    ["Route", "Credential", "Owner, admin, member", "Viewer", "Required ability", "Also"],
    shown.map((route) => [
      code(`${httpMethodOf(route.method)} ${route.path.replace(/:([a-z_]+)/g, "{$1}")}`),
      escapeHtml(credentials[route.credential]),
      ...powerCells(route),
      alsoCell(route),
    ]),
  );
}

const credentials: Readonly<Record<DocumentedRoute["credential"], string>> = {
  none: "none",
  token: "account token",
  project: "account token of the project's account",
  "private-key": "private key",
  "private-key-raw": "private key",
  "site-key": "site key",
};

/** By role, and what is asked of the token itself. */
function powerCells({ needs }: DocumentedRoute): [string, string, string] {
  if (needs === undefined) return ["", "", ""];
  const viewer = viewerMay(needs) ? "yes" : "no";
  if (needs === "any-token") return ["yes", viewer, "none"];
  if (needs === "writing-role") {
    return ["yes", viewer, `none; ${code("projects:write")} under ${code("--strict-abilities")}`];
  }
  if (needs === "administration") return ["owner and admin only", viewer, code("projects:write")];
  return ["yes", viewer, code(needs)];
}

function viewerMay(needs: TokenNeed): boolean {
  return needs === "any-token" || needs.endsWith(":read");
}

function alsoCell({ credential, needsSubscription, feature, doc }: DocumentedRoute): string {
  const isOfKey = credential !== "none" && credential !== "token" && credential !== "project";
  const parts: string[] = [];
  if (needsSubscription === true || (isOfKey && doc.refusesNobody !== true)) parts.push("an active subscription");
  if (feature !== undefined) parts.push(`a plan with ${code(feature)}`);
  return parts.join(", ");
}
