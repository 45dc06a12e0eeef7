/** `verdictd agent-marks list`, `import` and `reset`: the traces by which agents are known in the pages they work in. */

import { isCatalogueFault } from "../../bots/catalogue-file.js";
import { checkAgentMarks } from "../../bots/marks/catalogue.js";
import type { AgentMarkCatalogue, AgentMarkEntry } from "../../contract/bots/agent-marks.js";
import { AgentMarkCatalogues } from "../../control-plane/lists/agent-mark-catalogue.js";
import type { CatalogueChange } from "../../control-plane/lists/imported-catalogue.js";
import type { StoreCommand } from "../command.js";
import type { Flag, Given } from "../flag.js";
import { textOf } from "../given.js";
import { readJsonFile } from "../json-file.js";
import { CommandFailure, keyLines } from "../output.js";
import { type ImportCounts, importCounts, importedFile, listCommand, resetHelp } from "./catalogue.js";

const cellsOf = ({ name, operator, category, kind, value, source }: AgentMarkEntry): string[] => [
  name,
  operator,
  category,
  kind,
  value,
  source,
];

const list = listCommand(
  "agent-marks",
  "show the traces by which agents are recognised in pages",
  (store) => new AgentMarkCatalogues(store),
  ["NAME", "OPERATOR", "CATEGORY", "KIND", "VALUE", "SOURCE"],
  cellsOf,
);

const forget: Flag = {
  name: "forget",
  help: "sessions whose agent is known only by marks that leave the list lose it (default: they keep it)",
};

const importFile: StoreCommand<ImportCounts> = {
  name: "agent-marks import",
  help: "replace the whole list with a file {version, entries}; a file with a bad entry, or too long for browsers, is refused",
  onCluster: "same",
  positionals: importedFile,
  flags: [
    { name: "merge", help: "add to the current list instead of replacing it; the list then has the file's version" },
    forget,
    { name: "allow-empty", help: "accept a file without entries: then no agent is recognised by marks" },
  ],
  run: async (store, given) => {
    const path = textOf(given, "FILE");
    const checked = checkAgentMarks(readJsonFile(path));
    if (isCatalogueFault(checked)) throw new CommandFailure(`${path}: ${checked.message}`);
    if (checked.entries.length === 0 && given["allow-empty"] === undefined) {
      throw new CommandFailure(
        `${path}: has no entries, and nobody would be known by marks: --allow-empty if that is meant`,
      );
    }
    const how = { isMerged: given["merge"] !== undefined, isForgetting: isForgetting(given) };
    const change = await new AgentMarkCatalogues(store).take(checked, how);
    if (isCatalogueFault(change)) throw new CommandFailure(`${path}: ${change.message}`);
    return counts(change);
  },
  show: changeLines,
};

const reset: StoreCommand<ImportCounts> = {
  name: "agent-marks reset",
  help: resetHelp,
  onCluster: "same",
  flags: [forget],
  run: async (store, given) => counts(await new AgentMarkCatalogues(store).restore(isForgetting(given))),
  show: changeLines,
};

function counts({ before, after }: CatalogueChange<AgentMarkCatalogue>): ImportCounts {
  return importCounts(before, after, cellsOf);
}

/** The counts, and what becomes of the sessions that were known by what went out. */
function changeLines(change: ImportCounts, given: Given): string {
  if (change.removed === 0) return keyLines(change);
  const sessions = isForgetting(given) ? "have lost their agent" : "keep their agent";
  return `${keyLines(change)}\nBrowsers do not look for what was removed any more; sessions that were known by it ${sessions}.`;
}

function isForgetting(given: Given): boolean {
  return given["forget"] !== undefined;
}

/** List, import and the way back to the shipped list. */
export const agentMarkCommands: readonly StoreCommand[] = [list, importFile, reset];
