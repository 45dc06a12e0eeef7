/** Requests that nothing judges and nobody counts: CORS preflights, and the paths that a project skips. Pure. */

import { defaultRequestScoring, type ProjectSettings } from "../contract/sessions/session.js";
import { preflightNames, type VerdictQuestion } from "../contract/verdicts/judged-request.js";
import { failOpenVerdict, type NamedRule } from "./resolve.js";
import { isSkipped } from "./skipped-paths.js";
import { type VerdictText, verdictTextOf } from "./verdict-text.js";

/**
 * The answer to a request that is let in unjudged; null for one to judge. Preflights are whatever the project's settings are, until one of its active
 * rules asks for them; `skip_paths` count while request scoring is on. Only what the asking side says of the request counts, never the session's last.
 */
export function unjudged(
  { requestScoring = defaultRequestScoring }: ProjectSettings,
  { request: { context, headers } }: Pick<VerdictQuestion, "request">,
  rules: () => readonly NamedRule[],
): VerdictText | null {
  if (context.method === "OPTIONS" && isPreflight(headers)) {
    return rules().some(({ asksForPreflights }) => asksForPreflights === true) ? null : preflightText;
  }
  const { enabled, skipPaths = [] } = requestScoring;
  return enabled && context.path !== undefined && isSkipped(skipPaths, context.path) ? skippedText : null;
}

function isPreflight(headers: VerdictQuestion["request"]["headers"]): boolean {
  return preflightNames.every((name) => isSent(headers, name));
}

function isSent(headers: VerdictQuestion["request"]["headers"], wanted: string): boolean {
  return headers.some(
    ([name, value]) => name.length === wanted.length && value !== "" && name.toLowerCase() === wanted,
  );
}

const preflightText = verdictTextOf(failOpenVerdict("Allowed: a CORS preflight is not judged."));
const skippedText = verdictTextOf(failOpenVerdict("Allowed: the project skips this path (skip_paths)."));
