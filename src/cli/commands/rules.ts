/** `verdictd rules export` and `rules apply`: a project's rules as a YAML file, diffable, applied without needless change. */

import { parseYaml, yamlText } from "../../config/yaml-file.js";
import type { RulesFile } from "../../contract/configuration/rules-file.js";
import { checkRulesFile } from "../../contract/validators.js";
import { changeLines, type RuleChange } from "../../control-plane/rules/rule-changes.js";
import { Rules } from "../../control-plane/rules/rules.js";
import { applyRules, exportRules } from "../../control-plane/rules/rules-file.js";
import { compileRule } from "../../rules/compile-rule.js";
import { isRuleFault } from "../../rules/fault.js";
import { unavailableFields } from "../../rules/fields.js";
import type { StoreCommand } from "../command.js";
import { expectDone, idOf, textOf } from "../given.js";
import { readTextFile } from "../json-file.js";
import { CommandFailure } from "../output.js";

const project = { name: "project", placeholder: "ID", help: "project id", isRequired: true } as const;

const exporting: StoreCommand<RulesFile> = {
  name: "rules export",
  help: "print the rules of a project as YAML, in the order of evaluation",
  onCluster: "same",
  worksOnMigrated: true,
  flags: [project],
  run: async (store, given) => {
    const id = idOf(given, "project");
    if (store.projects.get(id) === undefined) throw new CommandFailure(`there is no project ${id}`);
    return exportRules(new Rules(store, Date.now), id);
  },
  show: (file) => yamlText(file).trimEnd(),
};

/** Of an apply: the changes; of a dry run also the fields of new and changed rules that stored sessions don't have. */
interface Applied {
  readonly changes: readonly RuleChange[];
  readonly isDryRun: boolean;
  readonly unavailableFields: readonly string[];
}

const applying: StoreCommand<Applied> = {
  name: "rules apply",
  help: "replace a project's rules with those of a YAML file; rules are matched by name",
  onCluster: "same",
  positionals: [{ name: "FILE", help: "what `rules export` prints" }],
  flags: [project, { name: "dry-run", help: "show what would change, and change nothing" }],
  run: async (store, given) => {
    const file = readRulesFile(textOf(given, "FILE"));
    const isDryRun = given["dry-run"] !== undefined;
    const changes = expectDone(await applyRules(new Rules(store, Date.now), idOf(given, "project"), file, isDryRun));
    return { changes, isDryRun, unavailableFields: isDryRun ? unavailableIn(changes) : [] };
  },
  json: ({ changes, isDryRun, unavailableFields }) => ({
    ...countsOf(changes),
    ...(isDryRun && { unavailable_fields: unavailableFields }),
  }),
  show: ({ changes, isDryRun, unavailableFields }) => {
    const { created, changed, removed, unchanged } = countsOf(changes);
    const counts = `${created} created, ${changed} changed, ${removed} removed, ${unchanged} unchanged`;
    const lines = [...changeLines(changes), isDryRun ? `${counts} (dry run: nothing was changed)` : counts];
    if (unavailableFields.length > 0) {
      const them = unavailableFields.length === 1 ? "it" : "them";
      const names = unavailableFields.join(", ");
      lines.push(
        `Stored sessions don't have ${names}: in backtests and queries a comparison with ${them} is false, verdicts have the field.`,
      );
    }
    return lines.join("\n");
  },
};

function unavailableIn(changes: readonly RuleChange[]): readonly string[] {
  const names = changes.flatMap(({ change, after }) => {
    const compiled = change === "unchanged" || after === undefined ? null : compileRule(after.expressionSource);
    return compiled === null || isRuleFault(compiled) ? [] : unavailableFields(compiled.ast);
  });
  return [...new Set(names)];
}

function countsOf(changes: readonly RuleChange[]): Record<RuleChange["change"], number> {
  const counts = { created: 0, changed: 0, removed: 0, unchanged: 0 };
  for (const { change } of changes) counts[change]++;
  return counts;
}

function readRulesFile(path: string): RulesFile {
  const read = parseYaml(readTextFile(path));
  if ("why" in read) throw new CommandFailure(`${path}:${read.line}: ${read.why}`);
  const checked = checkRulesFile(read.value);
  if ("value" in checked) return checked.value;
  throw new CommandFailure(`${path}: ${checked.path || "the file"} ${checked.fault}`);
}

/** Export and apply; `--dry-run` of the latter prints the changes and makes none. */
export const ruleCommands: readonly StoreCommand[] = [exporting, applying];
