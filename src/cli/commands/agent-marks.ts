/** `verdictd agent-marks list` and `agent-marks import`: the traces by which agents are known in the pages they work in. */
import { checkAgentMarks } from "../../agent-marks/catalogue.js";
import type { AgentMarkEntry } from "../../contract/agent-marks.js";
import { isCatalogueFault } from "../../contract/catalogue-file.js";
import { AgentMarkCatalogues } from "../../control-plane/agent-mark-catalogue.js";
import type { StoreCommand } from "../command.js";
import { textOf } from "../given.js";
import { readJsonFile } from "../json-file.js";
import { CommandFailure } from "../output.js";
import { type ImportCounts, importCounts, importedFile, type Listing, listingLines, listingOf } from "./catalogue.js";

const cellsOf = ({ name, operator, category, kind, value, source }: AgentMarkEntry): string[] => [
  name,
  operator,
  category,
  kind,
  value,
  source,
];

const list: StoreCommand<Listing<AgentMarkEntry>> = {
  name: "agent-marks list",
  help: "show the traces by which agents are known in pages; with --json, in the form that import accepts",
  onCluster: "same",
  worksOnMigrated: true,
  run: async (store) => {
    const catalogues = new AgentMarkCatalogues(store);
    return listingOf(catalogues.read(), catalogues.isImported);
  },
  show: (listing) => listingLines(listing, ["NAME", "OPERATOR", "CATEGORY", "KIND", "VALUE", "SOURCE"], cellsOf),
};

const importFile: StoreCommand<ImportCounts> = {
  name: "agent-marks import",
  help: "replace the list with a file {version, entries}; a file with a bad entry, or too long for browsers, is refused",
  onCluster: "same",
  positionals: importedFile,
  run: async (store, given) => {
    const path = textOf(given, "FILE");
    const checked = checkAgentMarks(readJsonFile(path));
    if (isCatalogueFault(checked)) throw new CommandFailure(`${path}: ${checked.message}`);
    const { before, after } = await new AgentMarkCatalogues(store).replace(checked);
    return importCounts(before, after, cellsOf);
  },
};

/** List and import. An import replaces the whole list. */
export const agentMarkCommands: readonly StoreCommand[] = [list, importFile];
