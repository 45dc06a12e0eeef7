/**
 * Checks catalogues of verified bots. The same check serves `verified-bots import` and, in a test, the shipped file; one bad entry refuses
 * the whole list, since whoever is on it is allowed without a look at the score.
 */

import { isJsonObject } from "../../contract/api/json-body.js";
import { matchMethods, type VerifiedBotCatalogue, type VerifiedBotEntry } from "../../contract/bots/verified-bots.js";
import { verifiedBotCategories } from "../../contract/verdicts/verdict.js";
import { limits } from "../../limits.js";
import { isCidrFault, parseCidr } from "../../net/cidr.js";
import { specialRange } from "../../net/special-ranges.js";
import {
  type CatalogueFault,
  checkFile,
  checkWord,
  cut,
  fault,
  isCatalogueFault,
  isLine,
  lineFault,
} from "../catalogue-file.js";
import { coverFault, withoutRepeats } from "./catalogue.js";
import { isPublicSuffix } from "./public-suffix.js";

/**
 * The catalogue with values in canonical spelling and repeats of one (name, category, method, value) dropped, or the first
 * fault found. Unknown keys are ignored. An empty list is fine: then nobody is verified.
 */
export function checkCatalogue(value: unknown): VerifiedBotCatalogue | CatalogueFault {
  const file = checkFile(value, "entries", limits.verifiedBotEntriesMax, checkEntry);
  if (isCatalogueFault(file)) return file;
  const runners = checkRunners((value as { readonly script_runners?: unknown }).script_runners);
  if (isCatalogueFault(runners)) return runners;
  const catalogue: VerifiedBotCatalogue = {
    version: file.version,
    entries: withoutRepeats(file.entries),
    ...runners,
  };
  return coverFault(catalogue.entries) ?? catalogue;
}

/** The operators named, once each; nothing when the file says nothing, and those that verdictd knows of count then. */
function checkRunners(names: unknown): { script_runners?: readonly string[] } | CatalogueFault {
  if (names === undefined) return {};
  if (!Array.isArray(names) || names.length > limits.verifiedBotEntriesMax) {
    return fault("script_runners", "must be a list of operators' names");
  }
  const odd = names.findIndex((name) => !isLine(name, limits.nameMax));
  if (odd !== -1) return fault(`script_runners[${odd}]`, `must be a text of 1 to ${limits.nameMax} characters`);
  return { script_runners: [...new Set(names as string[])] };
}

function checkEntry(entry: unknown, at: string): VerifiedBotEntry | CatalogueFault {
  if (!isJsonObject(entry)) return fault(at, "must be an object {name, category, match_method, match_value}");
  const { name, category, match_method, match_value } = entry;
  if (!isLine(name, limits.nameMax)) return lineFault(`${at}.name`, limits.nameMax);
  const knownCategory = checkWord(verifiedBotCategories, category, `${at}.category`);
  if (typeof knownCategory !== "string") return knownCategory;
  const method = checkWord(matchMethods, match_method, `${at}.match_method`);
  if (typeof method !== "string") return method;
  if (typeof match_value !== "string") return fault(`${at}.match_value`, "must be a text");
  const value = method === "ip_cidr" ? checkRange(match_value) : checkSuffix(match_value);
  if (typeof value !== "string")
    return fault(`${at}.match_value`, `${JSON.stringify(cut(match_value))} ${value.reason}`);
  return { name, category: knownCategory, match_method: method, match_value: value };
}

/** A range in canonical spelling, or why it is none. */
function checkRange(text: string): string | { reason: string } {
  const cidr = parseCidr(text);
  if (isCidrFault(cidr)) return cidr;
  const least = cidr.family === 4 ? limits.verifiedBotPrefixMinV4 : limits.verifiedBotPrefixMinV6;
  if (cidr.prefix < least) return { reason: `is too wide: IPv${cidr.family} ranges start at /${least}` };
  const special = specialRange(cidr);
  if (special !== null) return { reason: `is no range of the public internet: it overlaps ${special}` };
  return cidr.text;
}

/** A suffix in lower case without a trailing dot, or why it is none. One label alone (`.com`) would verify half the world. */
function checkSuffix(text: string): string | { reason: string } {
  const suffix = text.toLowerCase().replace(/\.$/, "");
  const labels = suffix.replace(/^\./, "").split(".");
  const isLabel = (label: string) => /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label);
  if (suffix.length > limits.hostnameMax || labels.length < 2 || !labels.every(isLabel)) {
    return { reason: "is not a hostname suffix of two labels or more, such as .googlebot.com" };
  }
  if (isPublicSuffix(labels.join("."))) return { reason: "is a public suffix, below which anybody may have a name" };
  if (/^\d+$/.test(labels.at(-1)!)) return { reason: "is an address, not a hostname suffix such as .googlebot.com" };
  return suffix;
}
