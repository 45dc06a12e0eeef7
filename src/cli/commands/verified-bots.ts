/** `verdictd verified-bots list`, `import` and `reset`: the catalogue of bots that are allowed by who they are. */
import { isCatalogueFault } from "../../bots/catalogue-file.js";
import { scriptRunnersOf } from "../../bots/verified/catalogue.js";
import type { VerifiedBotCatalogue, VerifiedBotEntry } from "../../contract/bots/verified-bots.js";
import { VerifiedBotCatalogues } from "../../control-plane/lists/verified-bot-catalogue.js";
import type { StoreCommand } from "../command.js";
import { textOf } from "../given.js";
import { readJsonFile } from "../json-file.js";
import { CommandFailure } from "../output.js";
import {
  type ImportCounts,
  importCounts,
  importedFile,
  type Listing,
  listingLines,
  listingOf,
  resetCommand,
} from "./catalogue.js";

interface VerifiedListing extends Listing<VerifiedBotEntry> {
  /** Operators that are listed, and not verified: see `script_runners` of a catalogue. */
  readonly script_runners: readonly string[];
}

const cellsOf = ({ name, category, match_method, match_value }: VerifiedBotEntry): string[] => [
  name,
  category,
  match_method,
  match_value,
];

const list: StoreCommand<VerifiedListing> = {
  name: "verified-bots list",
  help: "show the verified bots; with --json, in the form that import accepts",
  onCluster: "same",
  worksOnMigrated: true,
  run: async (store) => {
    const catalogues = new VerifiedBotCatalogues(store);
    const catalogue = catalogues.read();
    return { ...listingOf(catalogue, catalogues.isImported), script_runners: [...scriptRunnersOf(catalogue)] };
  },
  show: (listing) => {
    const lines = listingLines(listing, ["NAME", "CATEGORY", "METHOD", "VALUE"], cellsOf);
    const { script_runners: runners } = listing;
    if (runners.length === 0) return lines;
    return `${lines}\nListed but not verified, because their addresses run anybody's scripts: ${runners.join(", ")}`;
  },
};

const importFile: StoreCommand<ImportCounts> = {
  name: "verified-bots import",
  help: "replace the catalogue with a file {version, entries}; a file with a bad entry is refused",
  onCluster: "same",
  positionals: importedFile,
  flags: [{ name: "merge", help: "add to the current catalogue instead of replacing it" }],
  run: async (store, given) => {
    const catalogue = await readCatalogue(textOf(given, "FILE"));
    const catalogues = new VerifiedBotCatalogues(store);
    const change =
      given["merge"] === undefined ? await catalogues.replace(catalogue) : await catalogues.merge(catalogue);
    if (isCatalogueFault(change)) throw new CommandFailure(change.message);
    return importCounts(change.before, change.after, cellsOf);
  },
};

const reset = resetCommand("verified-bots", (store) => new VerifiedBotCatalogues(store), cellsOf);

/** The checked catalogue of a file; throws a `CommandFailure` that names the first bad entry. */
async function readCatalogue(path: string): Promise<VerifiedBotCatalogue> {
  // Not loaded by other commands, as in `store.ts`.
  const { checkCatalogue } = await import("../../bots/verified/catalogue-check.js");
  const checked = checkCatalogue(readJsonFile(path));
  if (isCatalogueFault(checked)) throw new CommandFailure(`${path}: ${checked.message}`);
  return checked;
}

/** List, import and the way back to the shipped catalogue; `--merge` adds to the catalogue that is in force instead of replacing it. */
export const verifiedBotCommands: readonly StoreCommand[] = [list, importFile, reset];
