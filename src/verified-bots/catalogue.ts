/**
 * Checks, merges and loads catalogues of verified bots. The same check serves `verified-bots import` and the shipped file;
 * one bad entry refuses the whole list, since whoever is on it is allowed without a look at the score.
 */
import { readAsset } from "../assets.js";
import { verifiedBotCategories } from "../contract/verdict.js";
import { matchMethods, type VerifiedBotCatalogue, type VerifiedBotEntry } from "../contract/verified-bots.js";
import { limits } from "../limits.js";
// Only for the compiler, which then copies the file beside the compiled module; it is read below, when it is asked for.
import type shippedFile from "./catalogue.json";
import { isCidrFault, parseCidr } from "./cidr.js";

/** Why a catalogue is refused. */
export interface CatalogueFault {
  /** Where: `entries[17].match_value`, `version`. */
  readonly at: string;
  /** One line that names the place and what was expected. */
  readonly message: string;
}

export function isCatalogueFault(value: object): value is CatalogueFault {
  return "at" in value;
}

/**
 * The catalogue with values in canonical spelling and repeats of one (name, category, method, value) dropped, or the first
 * fault found. Unknown keys are ignored. An empty list is fine: then nobody is verified.
 */
export function checkCatalogue(value: unknown): VerifiedBotCatalogue | CatalogueFault {
  if (!isRecord(value)) return fault("catalogue", "must be an object {version, entries}");
  const { version, entries } = value;
  if (!isLine(version, limits.verifiedBotVersionMax)) {
    return fault("version", `must be a text of 1 to ${limits.verifiedBotVersionMax} characters`);
  }
  if (!Array.isArray(entries)) return fault("entries", "must be a list");
  if (entries.length > limits.verifiedBotEntriesMax) {
    return fault("entries", `has ${entries.length} entries: at most ${limits.verifiedBotEntriesMax} are allowed`);
  }
  const checked: VerifiedBotEntry[] = [];
  for (const [index, entry] of entries.entries()) {
    const result = checkEntry(entry, `entries[${index}]`);
    if (isCatalogueFault(result)) return result;
    checked.push(result);
  }
  return { version, entries: withoutRepeats(checked) };
}

/** Both catalogues' entries under the version of the added one, for `verified-bots import --merge`. Inputs are checked ones. */
export function mergeCatalogues(
  current: VerifiedBotCatalogue,
  added: VerifiedBotCatalogue,
): VerifiedBotCatalogue | CatalogueFault {
  const entries = withoutRepeats([...current.entries, ...added.entries]);
  if (entries.length > limits.verifiedBotEntriesMax) {
    return fault("entries", `would be ${entries.length} together: at most ${limits.verifiedBotEntriesMax} are allowed`);
  }
  return { version: added.version, entries };
}

/** The catalogue that comes with verdictd (`catalogue.json`; sources in `SOURCES.md`). Reads and checks the file: about 30 ms. */
export function shippedCatalogue(): VerifiedBotCatalogue {
  const file: typeof shippedFile = JSON.parse(readAsset("src/verified-bots/catalogue.json").toString("utf8"));
  const catalogue = checkCatalogue(file);
  if (isCatalogueFault(catalogue)) throw new Error(`the shipped catalogue is broken: ${catalogue.message}`);
  return catalogue;
}

function checkEntry(entry: unknown, at: string): VerifiedBotEntry | CatalogueFault {
  if (!isRecord(entry)) return fault(at, "must be an object {name, category, match_method, match_value}");
  const { name, category, match_method, match_value } = entry;
  if (!isLine(name, limits.nameMax)) {
    return fault(`${at}.name`, `must be a text of 1 to ${limits.nameMax} characters, without spaces around it`);
  }
  const knownCategory = verifiedBotCategories.find((known) => known === category);
  if (knownCategory === undefined) return fault(`${at}.category`, `must be one of ${verifiedBotCategories.join(", ")}`);
  const method = matchMethods.find((known) => known === match_method);
  if (method === undefined) return fault(`${at}.match_method`, `must be one of ${matchMethods.join(", ")}`);
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
  if (/^\d+$/.test(labels.at(-1)!)) return { reason: "is an address, not a hostname suffix such as .googlebot.com" };
  return suffix;
}

function withoutRepeats(entries: readonly VerifiedBotEntry[]): VerifiedBotEntry[] {
  const seen = new Set<string>();
  return entries.filter((entry) => {
    const key = JSON.stringify([entry.name, entry.category, entry.match_method, entry.match_value]);
    return !seen.has(key) && seen.add(key);
  });
}

function fault(at: string, expected: string): CatalogueFault {
  return { at, message: `${at} ${expected}` };
}

function cut(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

/** A text of one line, without white space around it: names are printed and compared. */
function isLine(value: unknown, lengthMax: number): value is string {
  if (typeof value !== "string" || value.length === 0 || value.length > lengthMax) return false;
  return value === value.trim() && !/\p{Cc}/u.test(value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
