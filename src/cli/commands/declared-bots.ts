/** `verdictd declared-bots list`, `import` and `reset`: the bots that are known by what their user agent says. */
import { isCatalogueFault } from "../../bots/catalogue-file.js";
import { checkDeclaredBots } from "../../bots/declared/catalogue.js";
import type { DeclaredBotEntry } from "../../contract/bots/declared-bots.js";
import { DeclaredBotCatalogues } from "../../control-plane/lists/declared-bot-catalogue.js";
import type { Store } from "../../store/store.js";
import type { StoreCommand } from "../command.js";
import { textOf } from "../given.js";
import { readJsonFile } from "../json-file.js";
import { CommandFailure } from "../output.js";
import { type ImportCounts, importCounts, importedFile, listCommand, resetCommand } from "./catalogue.js";

const cellsOf = ({ name, operator, category, token }: DeclaredBotEntry): string[] => [name, operator, category, token];

const cataloguesOf = (store: Store) => new DeclaredBotCatalogues(store);

const heads = ["NAME", "OPERATOR", "CATEGORY", "TOKEN"];
const list = listCommand("declared-bots", "show the bots recognised by their user agent", cataloguesOf, heads, cellsOf);

const importFile: StoreCommand<ImportCounts> = {
  name: "declared-bots import",
  help: "replace the list with a file {version, entries}; a file with a bad entry is refused",
  onCluster: "same",
  positionals: importedFile,
  run: async (store, given) => {
    const path = textOf(given, "FILE");
    const checked = checkDeclaredBots(readJsonFile(path));
    if (isCatalogueFault(checked)) throw new CommandFailure(`${path}: ${checked.message}`);
    const { before, after } = await cataloguesOf(store).replace(checked);
    return importCounts(before, after, cellsOf);
  },
};

const reset = resetCommand("declared-bots", cataloguesOf, cellsOf);

/** List, import and the way back to the shipped list. An import replaces the whole list. */
export const declaredBotCommands: readonly StoreCommand[] = [list, importFile, reset];
