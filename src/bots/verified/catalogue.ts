/** Merges and loads catalogues of verified bots. All are checked ones: `catalogue-check.ts` is no part of serving. */
import { readAsset } from "../../assets.js";
import type { VerifiedBotCatalogue, VerifiedBotEntry } from "../../contract/bots/verified-bots.js";
import { limits } from "../../limits.js";
import { type Cidr, isCidrFault, parseCidr } from "../../net/cidr.js";
import { type CatalogueFault, fault } from "../catalogue-file.js";
// Only for the compiler, which then copies the file beside the compiled module; it is read below, when it is asked for.
import type shippedFile from "./catalogue.json";

/** A fault when all ranges together cover more of the address space than crawlers can have. */
export function coverFault(entries: readonly VerifiedBotEntry[]): CatalogueFault | null {
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

/** The catalogue that comes with verdictd (`catalogue.json`; sources in `SOURCES.md`). Reads the file, which a test holds to the check. */
export function shippedCatalogue(): VerifiedBotCatalogue {
  const file: typeof shippedFile = JSON.parse(readAsset("src/bots/verified/catalogue.json").toString("utf8"));
  return file as VerifiedBotCatalogue;
}

/** Without those of one name, category, method and value that come again. */
export function withoutRepeats(entries: readonly VerifiedBotEntry[]): VerifiedBotEntry[] {
  const seen = new Set<string>();
  return entries.filter((entry) => {
    const key = JSON.stringify([entry.name, entry.category, entry.match_method, entry.match_value]);
    return !seen.has(key) && seen.add(key);
  });
}
