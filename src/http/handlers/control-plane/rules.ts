/** The rules of a project: list, create, change (PATCH, and PUT as its alias), delete. */

import type { RuleChangeBody } from "../../../contract/control.js";
import type { Rule } from "../../../contract/entities.js";
import { isoTimeText } from "../../../contract/iso-time.js";
import { checkRule, checkRuleChange } from "../../../contract/validators.js";
import type { NewRule } from "../../../control-plane/rule-changes.js";
import { compiledTree, type Rules } from "../../../control-plane/rules.js";
import { Refusal, refuse } from "../../../errors.js";
import type { AccountReads } from "../../../runtime/account-reads.js";
import { json, type Reply, refusal, unread } from "../../reply.js";
import type { ProjectCall, ProjectRoute } from "../../route.js";
import { positiveInteger } from "../../server.js";
import { listedRuleView, readBodyAs, ruleView } from "./wire.js";

const listPath = "/v1/projects/:project/rules";
const rulePath = "/v1/projects/:project/rules/:rule";

/** The list by any token of the account; changes by a role that may write, with `--strict-abilities` also `projects:write`. */
export function ruleRoutes(rules: Rules, reads: AccountReads, now: () => number): ProjectRoute[] {
  const change = (call: ProjectCall): Promise<Reply> => changeRule(rules, call, now);
  return [
    {
      method: "get",
      path: listPath,
      credential: "project",
      needs: "any-token",
      doc: {
        id: "listRules",
        tag: "control plane",
        summary: "The rules of a project in the order of evaluation",
        answers: { 200: "RulesAnswer" },
      },
      handle: async ({ project, isAborted }) => {
        const list = await reads.run(project.accountId, isAborted, (slices) => rules.listInSlices(project.id, slices));
        return list === null
          ? unread
          : json(
              200,
              list.map((rule) => listedRuleView(rule, now())),
            );
      },
    },
    {
      method: "post",
      path: listPath,
      credential: "project",
      needs: "writing-role",
      readsBody: true,
      doc: {
        id: "createRule",
        tag: "control plane",
        summary: "Create a rule",
        description: "The expression is compiled and checked before anything is stored.",
        body: "RuleBody",
        answers: { 201: "RuleAnswer" },
      },
      handle: (call) => createRule(rules, call, now),
    },
    {
      method: "patch",
      path: rulePath,
      credential: "project",
      needs: "writing-role",
      readsBody: true,
      doc: { ...changeDoc, id: "changeRule", summary: "Change a rule" },
      handle: change,
    },
    {
      method: "put",
      path: rulePath,
      credential: "project",
      needs: "writing-role",
      readsBody: true,
      doc: { ...changeDoc, id: "putRule", summary: "Change a rule (an alias of PATCH)" },
      handle: change,
    },
    {
      method: "del",
      path: rulePath,
      credential: "project",
      needs: "writing-role",
      doc: {
        id: "deleteRule",
        tag: "control plane",
        summary: "Delete a rule",
        answers: { 204: "empty" },
      },
      handle: (call) => removeRule(rules, call),
    },
  ];
}

const changeDoc = {
  tag: "control plane",
  description: "Send only what changes. A refused change leaves the stored rule untouched.",
  body: "RuleChangeBody",
  bodyOptional: true,
  answers: { 200: "RuleAnswer" },
} as const;

async function createRule(rules: Rules, { project, body }: ProjectCall, now: () => number): Promise<Reply> {
  const read = readBodyAs(body, checkRule);
  if (read instanceof Refusal) return refusal(read);
  const { name, expression, action, is_active, sort_order, expires_at } = read.value;
  const expiresAt = expiryOf(expires_at);
  if (expiresAt instanceof Refusal) return refusal(expiresAt);
  const created = await rules.create(project.id, {
    name,
    expressionSource: expression,
    action,
    isActive: is_active ?? true,
    sortOrder: sort_order ?? 0,
    expiresAt,
  });
  return created instanceof Refusal ? refusal(created) : shown(created, 201, now());
}

async function changeRule(rules: Rules, { project, params, body }: ProjectCall, now: () => number): Promise<Reply> {
  const id = positiveInteger(params[1]);
  if (id === null || rules.find(project.id, id) === null) return missing;
  const read = readBodyAs(body, checkRuleChange, {});
  if (read instanceof Refusal) return refusal(read);
  const expiresAt = expiryOf(read.value.expires_at);
  if (expiresAt instanceof Refusal) return refusal(expiresAt);
  const expiry = read.value.expires_at === undefined ? {} : { expiresAt };
  const changed = await rules.change(project.id, id, { ...changeOf(read.value), ...expiry });
  return changed instanceof Refusal ? refusal(changed) : shown(changed, 200, now());
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

async function removeRule(rules: Rules, { project, params }: ProjectCall): Promise<Reply> {
  const id = positiveInteger(params[1]);
  if (id === null) return missing;
  const removed = await rules.remove(project.id, id);
  return removed instanceof Refusal ? refusal(removed) : { status: 204 };
}

/** The full rule, with its tree derived from the stored source. */
function shown(rule: Rule, status: number, nowMs: number): Reply {
  const tree = compiledTree(rule.expressionSource, "stored");
  return tree instanceof Refusal ? refusal(tree) : json(status, ruleView(rule, tree, nowMs));
}

const missing = refusal(refuse("notFound", "the project has no such rule"));
