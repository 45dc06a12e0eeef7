/** The verdict's reason: one or two plain-English sentences about what was found and what decided the action. */
import { neutralScore } from "../contract/evidence/evidence.js";
import type { Band } from "../contract/verdicts/verdict.js";

const bandWords: Record<Exclude<Band, "not_computed">, string> = {
  definite: "Definitely automated",
  confident_automated: "Almost certainly automated",
  likely_automated: "Likely automated",
  likely_human: "Likely human",
  verified: "Verified bot",
};

/** How many detections a reason names; the rest are counted. */
const namedMax = 3;

/** The reason in a fail-open body: the same for another project's token and an unknown one. */
export const failOpenReason = "No verdict yet: the session is unknown or has not been scored.";

/** The same when a cluster did not say in time whether there is such a session. */
export const unansweredReason = "No verdict: the store did not answer in time whether it has the session.";

/** Why a score is in a higher band than its number: JS detection enforces nothing alone. */
const cappedWords = "Capped: what the page shows of its environment never leads to a lower band alone.";

/**
 * Says what was found: the band, its score and the strongest detections by their meanings. Of a person whose score is below the neutral one, the first
 * lowered it. `isCapped`: the band is higher than the score's own.
 */
export function verdictReason(
  band: Exclude<Band, "not_computed">,
  score: number,
  meanings: readonly string[],
  isCapped = false,
): string {
  const head = score === 0 ? bandWords[band] : `${bandWords[band]} (score ${score})`;
  if (band === "likely_human") {
    const [first] = meanings;
    if (first === undefined || score >= neutralScore) return `${head}: no evidence of automation.`;
    return `${head}, although one thing is odd: ${asClause(first)}.`;
  }
  if (meanings.length === 0) return `${head}.`;
  // For a verified bot, its name.
  const named = meanings.slice(0, namedMax).map((each) => (band === "verified" ? each : asClause(each)));
  const more = meanings.length - namedMax;
  const found = `${head}: ${named.join("; ")}${more > 0 ? `; and ${more} more` : ""}.`;
  return isCapped ? `${found} ${cappedWords}` : found;
}

/** Names that a meaning may begin with; a second capital, a dot or a hyphen marks other names. */
const names = /^(?:Chromium|Origin|Playwright|Puppeteer|Selenium)\b/;

/** Makes a sentence of the catalogue part of another: a capital only in names, no full stop. */
function asClause(sentence: string): string {
  const bare = sentence.replace(/\.$/, "");
  const [first = ""] = bare.split(" ", 1);
  const isPlainWord = /^[A-Z][a-z]*(?:-[a-z]+)*(?:'s)?[,:]?$/.test(first) && !names.test(first);
  return isPlainWord ? bare.charAt(0).toLowerCase() + bare.slice(1) : bare;
}
