/**
 * The paths that a project's request scoring leaves alone (`skip_paths`): webhooks, probes, feeds. Whoever matches is let in unjudged, so a path whose
 * meaning routers disagree on matches nothing. Pure.
 */
import { rulePath } from "../contract/verdicts/visitor-request.js";
import { limits } from "../limits.js";

/** Says why no path can match a pattern, for the owner; null for one that can. Its length is checked elsewhere. */
export function skipPathFault(pattern: string): string | null {
  if (!/^[/*]/.test(pattern)) return "must begin with / or *: a pattern is that of the whole path";
  if (/[?#]/.test(pattern)) return "must hold no query: only the path counts";
  return isAmbiguous(pattern) ? "must hold no ; and no encoded delimiter: such a path is never skipped" : null;
}

/** Whether one of the patterns matches the whole of a normalised path; `*` stands for any characters, also none. */
export function isSkipped(patterns: readonly string[], path: string): boolean {
  if (patterns.length === 0 || path.length >= limits.contextValueMax || isAmbiguous(path)) return false;
  let compiled = compiledPatterns.get(patterns);
  if (compiled === undefined) {
    compiled = patterns.map(partsOf);
    compiledPatterns.set(patterns, compiled);
  }
  return compiled.some((parts) => matches(parts, path));
}

const compiledPatterns = new WeakMap<readonly string[], readonly (readonly string[])[]>();

/** Some routers cut `;…` off, or read `%2F` as `/`: what the application serves there is another path. */
function isAmbiguous(path: string): boolean {
  return /;|%(?:2F|5C|25|3F|23|3B|[01][\dA-F]|7F)/i.test(path);
}

/** The texts between the stars, in the spelling of normalised paths. */
function partsOf(pattern: string): readonly string[] {
  const normalised = pattern.startsWith("/") ? rulePath(pattern) : rulePath(`/${pattern}`)?.slice(1);
  return (normalised ?? pattern).split("*");
}

/** Finds each part as far to the front as possible, which leaves the most room to the rest. */
function matches(parts: readonly string[], path: string): boolean {
  const [first = "", ...rest] = parts;
  const last = rest.pop();
  if (last === undefined) return path === first;
  if (!path.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = path.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return path.length - last.length >= at && path.endsWith(last);
}
