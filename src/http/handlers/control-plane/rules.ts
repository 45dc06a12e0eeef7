/** The rules of a project: list, create, change (PATCH, and PUT as its alias), delete. */

import type { RuleChangeBody } from "../../../contract/configuration/control.js";
import type { Rule } from "../../../contract/configuration/entities.js";
import { isoTimeText } from "../../../contract/values/iso-time.js";
import type { NewRule } from "../../../control-plane/rules/rule-changes.js";
import { compiledTree, type Rules } from "../../../control-plane/rules/rules.js";
import { Refusal, refuse } from "../../../errors.js";
import type { Expression } from "../../../rules/ast.js";
import type { AccountReads } from "../../../runtime/account-reads.js";
import { type Answered, type Asked, projectRoute } from "../../operation-route.js";
import { json, refusal, unread } from "../../reply.js";
import type { ProjectRoute } from "../../route.js";
import { positiveInteger } from "../../server.js";
import { listedRuleView, ruleView } from "./wire.js";

/** The rules, and what is said of one that is saved. */
interface RuleServices {
  readonly rules: Rules;
  readonly warnings: (expression: Expression) => readonly string[];
  readonly reads: AccountReads;
  readonly now: () => number;
}

/** The list by any token of the account; changes by a role that may write, with `--strict-abilities` also `projects:write`. */
export function ruleRoutes(services: RuleServices): ProjectRoute[] {
  const { rules, reads, now } = services;
  const change = (call: Asked<"changeRule" | "putRule">) => changeRule(services, call);
  return [
    projectRoute("listRules", {
      needs: "any-token",
      doc: { tag: "control plane", summary: "The rules of a project in the order of evaluation" },
      handle: async ({ project, isAborted }) => {
        const list = await reads.run(project.accountId, isAborted, (slices) => rules.listInSlices(project.id, slices));
        return list === null
          ? unread
          : json(
              200,
              list.map((rule) => listedRuleView(rule, now())),
            );
      },
    }),
    projectRoute("createRule", {
      needs: "writing-role",
      doc: {
        tag: "control plane",
        summary: "Create a rule",
        description:
          "The expression is compiled and checked before anything is stored. `warnings` says what of it never or always matches, and which agents' names nobody has; absent for nothing to say.",
      },
      handle: (call) => createRule(services, call),
    }),
    projectRoute("changeRule", {
      needs: "writing-role",
      doc: { ...changeDoc, summary: "Change a rule" },
      handle: change,
    }),
    projectRoute("putRule", {
      needs: "writing-role",
      doc: { ...changeDoc, summary: "Change a rule (an alias of PATCH)" },
      handle: change,
    }),
    projectRoute("deleteRule", {
      needs: "writing-role",
      doc: { tag: "control plane", summary: "Delete a rule" },
      handle: (call) => removeRule(rules, call),
    }),
  ];
}

const changeDoc = {
  tag: "control plane",
  description: "Send only what changes. A refused change leaves the stored rule untouched.",
} as const;

async function createRule(
  services: RuleServices,
  { project, readBody }: Asked<"createRule">,
): Promise<Answered<"createRule">> {
  const read = readBody();
  if (read instanceof Refusal) return refusal(read);
  const { name, expression, action, is_active, sort_order, expires_at } = read.value;
  const expiresAt = expiryOf(expires_at);
  if (expiresAt instanceof Refusal) return refusal(expiresAt);
  const created = await services.rules.create(project.id, {
    name,
    expressionSource: expression,
    action,
    isActive: is_active ?? true,
    sortOrder: sort_order ?? 0,
    expiresAt,
  });
  return created instanceof Refusal ? refusal(created) : shown(created, 201, services);
}

async function changeRule(
  services: RuleServices,
  { project, params, readBody }: Asked<"changeRule" | "putRule">,
): Promise<Answered<"changeRule">> {
  const { rules } = services;
  const id = positiveInteger(params[1]);
  if (id === null || rules.find(project.id, id) === null) return missing;
  const read = readBody();
  if (read instanceof Refusal) return refusal(read);
  const expiresAt = expiryOf(read.value.expires_at);
  if (expiresAt instanceof Refusal) return refusal(expiresAt);
  const expiry = read.value.expires_at === undefined ? {} : { expiresAt };
  const changed = await rules.change(project.id, id, { ...changeOf(read.value), ...expiry });
  return changed instanceof Refusal ? refusal(changed) : shown(changed, 200, services);
}

/** Only what was sent: an absent key must not overwrite. */
function changeOf({ name, expression, action, is_active, sort_order }: RuleChangeBody): Partial<NewRule> {
  return {
    ...(name !== undefined && { name }),
    ...(expression !== undefined && { expressionSource: expression }),
    ...(action !== undefined && { action }),
    ...(is_active !== undefined && { isActive: is_active }),
    ...(sort_order !== undefined && { sortOrder: sort_order }),
  };
}

/** The time in the form that is stored; undefined for none. */
function expiryOf(given: string | null | undefined): string | undefined | Refusal {
  if (given === undefined || given === null) return;
  return isoTimeText(given) ?? refuse("invalidPayload", "expires_at must be an ISO 8601 time, or null");
}

async function removeRule(rules: Rules, { project, params }: Asked<"deleteRule">): Promise<Answered<"deleteRule">> {
  const id = positiveInteger(params[1]);
  if (id === null) return missing;
  const removed = await rules.remove(project.id, id);
  return removed instanceof Refusal ? refusal(removed) : { status: 204 };
}

/** The full rule, with its tree derived from the stored source. */
function shown(rule: Rule, status: number, { warnings: warningsOf, now }: RuleServices): Answered<"createRule"> {
  const tree = compiledTree(rule.expressionSource, "stored");
  if (tree instanceof Refusal) return refusal(tree);
  const warnings = [...warningsOf(tree)];
  return json(status, { ...ruleView(rule, tree, now()), ...(warnings.length > 0 && { warnings }) });
}

const missing = refusal(refuse("notFound", "the project has no such rule"));
