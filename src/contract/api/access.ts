/** What a route requires of an account token besides being valid. The route table, the OpenAPI document and the docs share these words. */
import type { TokenAbility } from "../configuration/control.js";

/** What a call may ask for; a wildcard token has all that its holder's role permits. */
export type Ability = Exclude<TokenAbility, "*">;

/**
 * One of
 * - `any-token`: nothing more. Reads of the first specification, which gives them to every valid token.
 * - `writing-role`: a change by a route of the first specification. The holder's role must permit `projects:write`, always; the token
 *   itself must have it under `--strict-abilities` only, since that specification gives these routes to every valid token, too.
 * - `administration`: token and role must both have `projects:write`, and the role must be owner or admin.
 * - an ability: token and role must both have it, always. Every route that came later, and the export.
 */
export type TokenNeed = "any-token" | "writing-role" | "administration" | Ability;
