/** `verdictd declared-bots list` and `declared-bots import`: the bots that are known by what their user agent says. */
import { isCatalogueFault } from "../../contract/catalogue-file.js";
import type { DeclaredBotCatalogue, DeclaredBotEntry } from "../../contract/declared-bots.js";
import { DeclaredBotCatalogues } from "../../control-plane/declared-bot-catalogue.js";
import { checkDeclaredBots } from "../../declared-bots/catalogue.js";
import type { StoreCommand } from "../command.js";
import { textOf } from "../given.js";
import { readJsonFile } from "../json-file.js";
import { CommandFailure, columns } from "../output.js";

interface Listing {
  readonly version: string;
  readonly source: "imported" | "shipped";
  readonly count: number;
  readonly entries: readonly DeclaredBotEntry[];
}

interface ImportCounts {
  readonly version: string;
  readonly count: number;
  readonly added: number;
  readonly removed: number;
}

const list: StoreCommand<Listing> = {
  name: "declared-bots list",
  help: "show the bots known by their user agent; with --json in the form that import takes",
  run: async (store) => {
    const catalogues = new DeclaredBotCatalogues(store);
    const { version, entries } = catalogues.read();
    return { version, source: catalogues.isImported ? "imported" : "shipped", count: entries.length, entries };
  },
  show: ({ version, source, count, entries }) => {
    const rows = entries.map((entry) => [entry.name, entry.operator, entry.category, entry.token]);
    return `${columns([["NAME", "OPERATOR", "CATEGORY", "TOKEN"], ...rows])}\n\n${count} entries, version ${version}, ${source}`;
  },
};

const importFile: StoreCommand<ImportCounts> = {
  name: "declared-bots import",
  help: "replace the list by a file {version, entries}; one bad entry refuses the file",
  positionals: [{ name: "FILE", help: "JSON file" }],
  run: async (store, given) => {
    const path = textOf(given, "FILE");
    const checked = checkDeclaredBots(readJsonFile(path));
    if (isCatalogueFault(checked)) throw new CommandFailure(`${path}: ${checked.message}`);
    const { before, after } = await new DeclaredBotCatalogues(store).replace(checked);
    return {
      version: after.version,
      count: after.entries.length,
      added: countMissing(after, before),
      removed: countMissing(before, after),
    };
  },
};

/** Entries of `one` that are not in `other`. */
function countMissing(one: DeclaredBotCatalogue, other: DeclaredBotCatalogue): number {
  const keyOf = ({ name, operator, category, token }: DeclaredBotEntry) =>
    JSON.stringify([name, operator, category, token]);
  const known = new Set(other.entries.map(keyOf));
  return one.entries.filter((entry) => !known.has(keyOf(entry))).length;
}

export const declaredBotCommands: readonly StoreCommand[] = [list, importFile];
