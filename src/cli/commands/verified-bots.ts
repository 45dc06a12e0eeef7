/** `verdictd verified-bots list` and `verified-bots import`: the catalogue of bots that are allowed by who they are. */
import { isCatalogueFault } from "../../contract/catalogue-file.js";
import type { VerifiedBotCatalogue, VerifiedBotEntry } from "../../contract/verified-bots.js";
import { VerifiedBotCatalogues } from "../../control-plane/verified-bot-catalogue.js";
import { checkCatalogue, scriptRunnersOf } from "../../verified-bots/catalogue.js";
import type { StoreCommand } from "../command.js";
import { textOf } from "../given.js";
import { readJsonFile } from "../json-file.js";
import { CommandFailure, columns } from "../output.js";

interface Listing {
  readonly version: string;
  readonly source: "imported" | "shipped";
  readonly count: number;
  readonly entries: readonly VerifiedBotEntry[];
  /** Operators that are listed, and not verified: see `script_runners` of a catalogue. */
  readonly script_runners: readonly string[];
}

interface ImportCounts {
  readonly version: string;
  readonly count: number;
  readonly added: number;
  readonly removed: number;
}

const list: StoreCommand<Listing> = {
  name: "verified-bots list",
  help: "show the verified bots; with --json in the form that import takes",
  run: async (store) => {
    const catalogues = new VerifiedBotCatalogues(store);
    const catalogue = catalogues.read();
    const { version, entries } = catalogue;
    const source = catalogues.isImported ? "imported" : "shipped";
    return { version, source, count: entries.length, entries, script_runners: [...scriptRunnersOf(catalogue)] };
  },
  show: ({ version, source, count, entries, script_runners: runners }) => {
    const rows = entries.map((entry) => [entry.name, entry.category, entry.match_method, entry.match_value]);
    const listing = `${columns([["NAME", "CATEGORY", "METHOD", "VALUE"], ...rows])}\n\n${count} entries, version ${version}, ${source}`;
    if (runners.length === 0) return listing;
    return `${listing}\nListed but not verified, since their addresses run anybody's scripts: ${runners.join(", ")}`;
  },
};

const importFile: StoreCommand<ImportCounts> = {
  name: "verified-bots import",
  help: "replace the catalogue by a file {version, entries}; one bad entry refuses the file",
  positionals: [{ name: "FILE", help: "JSON file" }],
  flags: [{ name: "merge", help: "add to the catalogue in force instead of replacing it" }],
  run: async (store, given) => {
    const catalogue = readCatalogue(textOf(given, "FILE"));
    const catalogues = new VerifiedBotCatalogues(store);
    const change =
      given["merge"] === undefined ? await catalogues.replace(catalogue) : await catalogues.merge(catalogue);
    if (isCatalogueFault(change)) throw new CommandFailure(change.message);
    const { before, after } = change;
    return {
      version: after.version,
      count: after.entries.length,
      added: countMissing(after, before),
      removed: countMissing(before, after),
    };
  },
};

/** The checked catalogue of a file; throws a `CommandFailure` that names the first bad entry. */
function readCatalogue(path: string): VerifiedBotCatalogue {
  const checked = checkCatalogue(readJsonFile(path));
  if (isCatalogueFault(checked)) throw new CommandFailure(`${path}: ${checked.message}`);
  return checked;
}

/** Entries of `one` that are not in `other`. */
function countMissing(one: VerifiedBotCatalogue, other: VerifiedBotCatalogue): number {
  const known = new Set(other.entries.map(entryKey));
  return one.entries.filter((entry) => !known.has(entryKey(entry))).length;
}

function entryKey({ name, category, match_method, match_value }: VerifiedBotEntry): string {
  return JSON.stringify([name, category, match_method, match_value]);
}

export const verifiedBotCommands: readonly StoreCommand[] = [list, importFile];
