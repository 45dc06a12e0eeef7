/** A rule where something names it: its number with its name, as a link. */
import type { ListedRuleAnswer } from "../../contract/configuration/rule-answers.js";
import { hashOf } from "../location.js";
import type { ProjectPageProperties } from "../page-properties.js";
import { useResource } from "../resource.js";

/** Names by the rules' ids; a deleted rule has none. */
export function ruleNames(rules: readonly ListedRuleAnswer[]): ReadonlyMap<number, string> {
  return new Map(rules.map(({ id, name }) => [id, name]));
}

/** The names of a project's rules; none until they are read. */
export function useRuleNames({ api, project }: ProjectPageProperties): ReadonlyMap<number, string> {
  const names = useResource(async () => ruleNames(await api.rules(project)), [api, project]);
  return names.value ?? noNames;
}

/** Where no rule is named. */
export const noNames: ReadonlyMap<number, string> = new Map();

/** The number and, while the rule exists, its name; leads to the rule's page. */
export function RuleLink({ id, names }: { readonly id: number; readonly names: ReadonlyMap<number, string> }) {
  const name = names.get(id);
  return (
    <a class="wrap" href={hashOf("rules", id)}>
      {id}
      {name === undefined ? "" : ` ${name}`}
    </a>
  );
}
