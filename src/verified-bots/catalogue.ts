/**
 * Checks, merges and loads catalogues of verified bots. The same check serves `verified-bots import` and the shipped file;
 * one bad entry refuses the whole list, since whoever is on it is allowed without a look at the score.
 */
import { readAsset } from "../assets.js";
import { type CatalogueFault, cut, fault, isCatalogueFault, isLine, isRecord } from "../contract/catalogue-file.js";
import { verifiedBotCategories } from "../contract/verdict.js";
import { matchMethods, type VerifiedBotCatalogue, type VerifiedBotEntry } from "../contract/verified-bots.js";
import { limits } from "../limits.js";
import { type Cidr, isCidrFault, parseCidr } from "../net/cidr.js";
import { specialRange } from "../net/special-ranges.js";
// Only for the compiler, which then copies the file beside the compiled module; it is read below, when it is asked for.
import type shippedFile from "./catalogue.json";
import { isPublicSuffix } from "./public-suffix.js";

/**
 * The catalogue with values in canonical spelling and repeats of one (name, category, method, value) dropped, or the first
 * fault found. Unknown keys are ignored. An empty list is fine: then nobody is verified.
 */
export function checkCatalogue(value: unknown): VerifiedBotCatalogue | CatalogueFault {
  if (!isRecord(value)) return fault("catalogue", "must be an object {version, entries}");
  const file = value;
  const { version, entries } = file;
  if (!isLine(version, limits.catalogueVersionMax)) {
    return fault("version", `must be a text of 1 to ${limits.catalogueVersionMax} characters`);
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
  const runners = checkRunners(file["script_runners"]);
  if (isCatalogueFault(runners)) return runners;
  const catalogue: VerifiedBotCatalogue = { version, entries: withoutRepeats(checked), ...runners };
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

/** A fault when all ranges together cover more of the address space than crawlers can have. */
function coverFault(entries: readonly VerifiedBotEntry[]): CatalogueFault | null {
  const ranges = entries
    .filter(({ match_method }) => match_method === "ip_cidr")
    .map(({ match_value }) => parseCidr(match_value))
    .filter((cidr): cidr is Cidr => !isCidrFault(cidr));
  for (const [family, bits, prefix] of [
    [4, 32, limits.verifiedBotCoverMinV4],
    [6, 128, limits.verifiedBotCoverMinV6],
  ] as const) {
    const own = ranges.filter((range) => range.family === family);
    if (coveredBy(own) > 1n << BigInt(bits - prefix)) {
      return fault("entries", `cover more IPv${family} addresses together than a /${prefix} has`);
    }
  }
  return null;
}

/** How many addresses lie in at least one of the ranges. */
function coveredBy(ranges: readonly Cidr[]): bigint {
  let sum = 0n;
  let end = -1n;
  for (const { first, last } of [...ranges].sort((one, other) => (one.first < other.first ? -1 : 1))) {
    if (last <= end) continue;
    sum += last - (first > end ? first - 1n : end);
    end = last;
  }
  return sum;
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
  const script_runners = added.script_runners ?? current.script_runners;
  return (
    coverFault(entries) ?? {
      version: added.version,
      entries,
      ...(script_runners !== undefined && { script_runners }),
    }
  );
}

/** The operators of a catalogue whose addresses run scripts of anybody's: its own list, or the one that comes with verdictd. */
export function scriptRunnersOf({ script_runners }: VerifiedBotCatalogue): ReadonlySet<string> {
  return new Set(script_runners ?? shippedScriptRunners);
}

/**
 * Synthetic monitoring: customers run browser scripts of their own from these operators' addresses, so an address there says nothing of who
 * is behind it. By the operators' own documentation of browser checks; sources of the addresses are in `SOURCES.md`.
 */
const shippedScriptRunners = ["Better Stack", "Checkly", "Datadog Synthetics", "New Relic Synthetics", "Pingdom"];

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

function withoutRepeats(entries: readonly VerifiedBotEntry[]): VerifiedBotEntry[] {
  const seen = new Set<string>();
  return entries.filter((entry) => {
    const key = JSON.stringify([entry.name, entry.category, entry.match_method, entry.match_value]);
    return !seen.has(key) && seen.add(key);
  });
}
