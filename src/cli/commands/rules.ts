/** `verdictd rules export` and `rules apply`: a project's rules as a YAML file, diffable, applied without needless change. */
import type { RulesFile } from "../../contract/rules-file.js";
import { checkRulesFile } from "../../contract/validators.js";
import { Rules } from "../../control-plane/rules.js";
import { applyRules, exportRules } from "../../control-plane/rules-file.js";
import { parseYaml, yamlText } from "../../yaml-file.js";
import type { StoreCommand } from "../command.js";
import { expectDone, idOf, textOf } from "../given.js";
import { readTextFile } from "../json-file.js";
import { CommandFailure } from "../output.js";

const project = { name: "project", placeholder: "ID", help: "project id", isRequired: true } as const;

const exporting: StoreCommand<RulesFile> = {
  name: "rules export",
  help: "print the rules of a project as YAML, in the order of evaluation",
  flags: [project],
  run: async (store, given) => {
    const id = idOf(given, "project");
    if (store.projects.get(id) === undefined) throw new CommandFailure(`there is no project ${id}`);
    return exportRules(new Rules(store, Date.now), id);
  },
  show: (file) => yamlText(file).trimEnd(),
};

const applying: StoreCommand = {
  name: "rules apply",
  help: "make a project's rules those of a YAML file; rules are told apart by name",
  positionals: [{ name: "FILE", help: "what `rules export` prints" }],
  flags: [project],
  run: async (store, given) => {
    const file = readRulesFile(textOf(given, "FILE"));
    return expectDone(await applyRules(new Rules(store, Date.now), idOf(given, "project"), file));
  },
};

function readRulesFile(path: string): RulesFile {
  const read = parseYaml(readTextFile(path));
  if ("why" in read) throw new CommandFailure(`${path}:${read.line}: ${read.why}`);
  const checked = checkRulesFile(read.value);
  if ("value" in checked) return checked.value;
  throw new CommandFailure(`${path}: ${checked.path || "the file"} must be ${checked.expected}`);
}

export const ruleCommands: readonly StoreCommand[] = [exporting, applying];
