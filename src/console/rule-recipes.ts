/** Policies that people ask for, each a rule of one line. */
import type { Action } from "../contract/verdicts/verdict.js";
import { lex } from "../rules/lex.js";

/** A rule to begin with. Its expression is valid as it stands. */
export interface RuleRecipe {
  readonly name: string;
  readonly expression: string;
  readonly action: Action;
  /** What to know or to change before using it. */
  readonly note: string;
}

/** As the documentation has them (`docs/requests.md`). */
export const ruleRecipes: readonly RuleRecipe[] = [
  {
    name: "No AI crawlers",
    expression: 'declared_bot_category in {"ai_crawler", "ai_search"}',
    action: "block",
    note: "Verified crawlers are allowed before rules while the settings allow verified bots.",
  },
  {
    name: "Allow people’s AI agents, block AI crawlers",
    expression:
      'declared_bot_category in {"ai_crawler", "ai_search"} OR (declared_bot_category in {"ai_agent", "ai_assistant"} AND NOT verified_bot)',
    action: "block",
    note: "An agent passes if its address or signature proves it; its name is not enough. Verified crawlers are allowed as above.",
  },
  {
    name: "Let marked AI agents read, not buy",
    expression: 'agent_certainty == "marked" AND path starts_with "/checkout"',
    action: "block",
    note: "Replace the path with all that your orders are sent to. Marks are known from the SDK’s first reports on; a person in whose session an agent left one is stopped there too.",
  },
  {
    name: "A challenge for unknown AI agents at the checkout",
    expression: 'agent_certainty == "behavior" AND path starts_with "/checkout"',
    action: "challenge",
    note: "Replace the path with yours. verdictd’s own challenge costs a person nothing and an agent’s browser passes it: give it a step of your own that wants the person, as a code by mail.",
  },
  {
    name: "Keep AI agents from sending forms",
    expression: 'method == "POST" AND agent_certainty in {"marked", "behavior"}',
    action: "block",
    note: "Put it above the rules on bands, whose challenge an agent’s browser passes. It meets people too: whoever let an agent work in this session, and some with scripts or bookmarks of their own. Say on the block’s page how they get on. Agents known by signature, address or user agent pass.",
  },
  {
    name: "Let signed AI agents in",
    expression: 'agent_certainty == "signed"',
    action: "allow",
    note: "Put it above your other rules. A signature can’t be forged, so that a name alone never passes.",
  },
  {
    name: "Name all other AI agents in the log",
    expression: 'agent_category in {"ai_agent", "ai_assistant"}',
    action: "log",
    note: "Stops nobody. Explore groups sessions by agent.",
  },
  {
    name: "No HTTP libraries outside /api",
    expression: 'declared_bot_category == "library" AND NOT path starts_with "/api/"',
    action: "block",
    note: "Replace /api/ with the paths that your own programs use.",
  },
  {
    name: "A challenge for visitors without a session on /search",
    expression: 'NOT has_session AND NOT cleared AND path starts_with "/search"',
    action: "challenge",
    note: "Everybody’s first page view has no session: use it where people come from another of your pages.",
  },
  {
    name: "A challenge for forms and fast reading without a session",
    expression: 'NOT has_session AND NOT cleared AND (method == "POST" OR requests_per_minute > 5)',
    action: "challenge",
    note: "Let webhooks, probes and your own programs in above it. People who block scripts can’t pass: say on the page how else to reach you. Pictures count unless they are skipped.",
  },
  {
    name: "A challenge for calls of /api without a session",
    expression: 'NOT has_session AND NOT cleared AND path starts_with "/api/"',
    action: "challenge",
    note: "Only for an API that your own pages call: let them pass the challenge when it answers 403. Programs of others need a key, and a rule that allows them above this one.",
  },
  {
    name: "A challenge for visits whose pages run no script",
    expression: "visit_silent_pages >= 4 AND NOT cleared",
    action: "challenge",
    note: "Turn on issueToken (proxies: issue_tokens) first. People who block scripts have such pages too, and can’t pass: never block by it.",
  },
  {
    name: "A challenge for visits that keep no cookie",
    expression: "cookie_kept == false AND visit_pages > 5 AND NOT cleared",
    action: "challenge",
    note: "Turn on issueToken (proxies: issue_tokens) first. People who refuse cookies are challenged on every page: never block by it.",
  },
  {
    name: "A challenge for probable bots",
    expression: 'band in {"likely_automated", "confident_automated"}',
    action: "challenge",
    note: "Put Block definite bots above it. Sessions that are confident_automated are refused a pass; likely_automated ones pass if they do the work.",
  },
  {
    name: "More than 120 requests a minute from an address",
    expression: "requests_per_minute > 120",
    action: "block",
    note: "People behind one address, as in an office or a mobile network, are counted together.",
  },
  {
    name: "Only from these countries on /admin",
    expression: 'path starts_with "/admin" AND NOT country in {"DE", "AT", "CH"}',
    action: "block",
    note: "Replace the countries with yours. An address of unknown country is blocked too.",
  },
  {
    name: "A hosting network with a browser’s user agent",
    expression: 'ip_lists contains "hosting" AND user_agent starts_with "Mozilla/"',
    action: "challenge",
    note: "Import a list of that name first: verdictd ip-list import hosting FILE. Some people’s VPNs are in such networks too.",
  },
  {
    name: "Let webhooks in by path",
    expression: 'declared_bot_category == "webhook" AND method == "POST" AND path starts_with "/webhooks/"',
    action: "allow",
    note: "Put it above your other rules, with your own path. A name can be forged: let your application check the signature of each call, as the sender describes.",
  },
  {
    name: "Let webhooks in by the addresses that their sender publishes",
    expression: 'ip_lists contains "webhooks" AND path starts_with "/webhooks/"',
    action: "allow",
    note: "Put it above your other rules. Import the addresses first: verdictd ip-list import webhooks FILE.",
  },
  {
    name: "Let probes and uptime monitors in on /health",
    expression: 'declared_bot_category in {"probe", "monitoring"} AND path == "/health"',
    action: "allow",
    note: "Put it above your other rules, with the path that your probes ask for.",
  },
  {
    name: "Let link previews and feed readers read public pages",
    expression:
      'declared_bot_category in {"preview", "feed"} AND method in {"GET", "HEAD"} AND NOT path starts_with "/account"',
    action: "allow",
    note: "Put it above your other rules. A name can be forged: leave out what only people should see.",
  },
];

/** Whether an expression asks for `has_session`, which is true of every stored session. */
export function asksForSession(expression: string): boolean {
  return lex(expression).some(({ kind, text }) => kind === "word" && text === "has_session");
}
