/** The control plane's resources as the API shows them: the border to snake_case. */
import type { TokenHolder } from "../../../auth/credentials.js";
import type { AccountAnswer, UserAnswer } from "../../../contract/configuration/account-answers.js";
import type { Account, Membership, Project, Rule, User } from "../../../contract/configuration/entities.js";
import type { GuardSettings, SettingsAnswer } from "../../../contract/configuration/project-answers.js";
import type { ListedRuleAnswer, RuleAnswer } from "../../../contract/configuration/rule-answers.js";
import { isExpired } from "../../../control-plane/rules/rules.js";
import { type Refusal, refuse } from "../../../errors.js";
import type { Expression } from "../../../rules/ast.js";

/** The account a token is bound to; `forbidden` when it is gone or its user no longer a member. */
export function boundAccount({ account, membership }: TokenHolder): Account | Refusal {
  return account === null || membership === null
    ? refuse("forbidden", "the token is not bound to an accessible account")
    : account;
}

/** As the API has times; null stays. */
export function isoTimeOf(atMs: number | null): string | null {
  return atMs === null ? null : new Date(atMs).toISOString();
}

/** The account with the role of the token's holder; null when not a member. */
export function accountView(account: Account, membership: Membership | null): AccountAnswer {
  const { id, name, slug, isPersonal } = account;
  return { id, name, slug, is_personal: isPersonal, role: membership?.role ?? null };
}

/** A user as `GET /user` shows it. */
export function userView({ id, name, email, createdAt }: User): UserAnswer {
  return { id, name, email, created_at: createdAt };
}

/** The guards; the policy is shown by the settings routes only, as the contract has it. */
export function guardsView({ botSettings }: Project): GuardSettings {
  return { allow_verified: botSettings.allowVerified, protect_static: botSettings.protectStatic };
}

/** Guards, logged-in policy and threshold of a project. */
export function settingsView(project: Project): SettingsAnswer {
  return {
    bot_settings: { ...guardsView(project), logged_in_policy: project.botSettings.loggedInPolicy },
    likely_bot_threshold: project.likelyBotThreshold,
  };
}

/** A rule as the list shows it: without the compiled tree. */
export function listedRuleView(rule: Rule, nowMs: number): ListedRuleAnswer {
  return {
    id: rule.id,
    project_id: rule.projectId,
    name: rule.name,
    expression_source: rule.expressionSource,
    action: rule.action,
    is_active: rule.isActive && !isExpired(rule, nowMs),
    sort_order: rule.sortOrder,
    created_at: rule.createdAt,
    updated_at: rule.updatedAt,
    ...(rule.expiresAt !== undefined && { expires_at: rule.expiresAt }),
  };
}

/** One rule with `expression` as the compiled tree, which whoever calls has made of its source. */
export function ruleView(rule: Rule, expression: Expression, nowMs: number): RuleAnswer {
  return { ...listedRuleView(rule, nowMs), expression };
}
