/**
 * The fields that a rule can name, one row each. Checking, compiling and the published list of fields derive from this table. A getter only reads: it
 * must not fail, and returns undefined for a missing value.
 */
import { agentCertainties } from "../contract/bots/agents.js";
import { botCategories } from "../contract/bots/bot-categories.js";
import { signatureStates } from "../contract/bots/signed-agents.js";
import { httpVersions } from "../contract/verdicts/judged-request.js";
import { actions, bands } from "../contract/verdicts/verdict.js";
import type { Address } from "./address.js";
import type { Expression } from "./ast.js";
import type { RuleInput } from "./input.js";
import { alwaysPath, type LiteralUse, neverHost, neverMethod, neverPath } from "./never-always.js";
import { hostSpelling, httpVersionSpelling, lowerCase, pathSpelling, type Spelling, upperCase } from "./spelling.js";

interface FieldRow<Type extends string, Value> {
  readonly name: string;
  readonly type: Type;
  /** Unit or range in words; "" if there is none. */
  readonly unit: string;
  readonly meaning: string;
  /**
   * Whether searches and backtests of stored sessions have it; `reread`: by the stored user agent, where a verdict has it only if requests are judged.
   * Default: those of `alwaysFields` are there, those of `requestFields` are not.
   */
  readonly inSessions?: boolean | "reread";
  /** Whether samples of judged requests have it; default: they do. */
  readonly inSamples?: boolean;
  readonly get: (input: RuleInput) => Value | undefined;
}

interface ClosedSetRow<Type extends string> extends FieldRow<Type, string> {
  /** The only values this field has; another one in a rule is a fault. */
  readonly members: readonly string[];
}

interface IntegerRow extends FieldRow<"integer", number> {
  /** The largest literal; default: that of signed 32 bits. */
  readonly max?: number;
  /** The values that its getter can return, for warnings; default: any. */
  readonly range?: readonly [least: number, most: number];
}

interface StringRow extends FieldRow<"string", string> {
  /** Converts literals to the one spelling that its getter returns. If absent, values stay as sent, and cases differ. */
  readonly spelling?: Spelling;
  /** All values that its getter returns, if they are a closed list: `==`, `!=` and `in` take no other, in any spelling. */
  readonly known?: readonly string[];
  /** The form of a value, if it has one: `==`, `!=` and `in` take no other. */
  readonly form?: { readonly pattern: RegExp; readonly expected: string };
  /** Says why a literal (in the spelling of values) never, or always, compares true, for warnings; undefined if it may do either. */
  readonly never?: (literal: string, op: LiteralUse) => string | undefined;
  readonly always?: (literal: string, op: LiteralUse) => string | undefined;
}

/** A row of the table; `type` decides which operators and literals the field takes (see `check.ts`). */
export type Field =
  | IntegerRow
  | StringRow
  | ClosedSetRow<"band">
  | ClosedSetRow<"category">
  | FieldRow<"boolean", boolean>
  | FieldRow<"ip", Address>
  | FieldRow<"id-set", readonly number[]>
  | FieldRow<"string-set", readonly string[]>;

/** The type of a field in the published list. */
export type FieldType = Field["type"];

const alwaysFields: readonly Field[] = [
  {
    name: "score",
    type: "integer",
    unit: "0 to 99",
    meaning: "the verdict's score; lower means more certainly a bot; 0 means not computed",
    range: [0, 99],
    get: (input) => input.facts.score,
  },
  {
    name: "band",
    type: "band",
    unit: "",
    members: bands,
    meaning:
      "the verdict's band; not_computed never matches, because such a session is allowed before rules are evaluated",
    get: (input) => (input.facts.band === "not_computed" ? undefined : input.facts.band),
  },
  {
    name: "verified_bot",
    type: "boolean",
    unit: "",
    meaning: "the visitor is a verified bot or a signed agent",
    get: (input) => input.facts.verifiedBot,
  },
  {
    name: "verified_bot_category",
    type: "category",
    unit: "",
    members: botCategories,
    meaning: "category of the verified bot or signed agent; missing for everybody else",
    get: (input) => input.facts.verifiedBotCategory,
  },
  {
    name: "path",
    type: "string",
    unit: "",
    meaning: "path of the visitor's request, compared in its decoded form",
    spelling: pathSpelling,
    never: neverPath,
    always: alwaysPath,
    get: (input) => input.path,
  },
  {
    name: "method",
    type: "string",
    unit: "",
    spelling: upperCase,
    form: { pattern: /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, expected: 'a method such as "POST" in double quotes' },
    never: neverMethod,
    inSessions: false,
    meaning: "method of the visitor's request, compared in upper case",
    get: (input) => input.method,
  },
  {
    name: "host",
    type: "string",
    unit: "",
    spelling: hostSpelling,
    never: neverHost,
    meaning:
      "host of the visitor's request, compared in lower case, without its port and a trailing dot, international names as A-labels",
    get: (input) => input.host,
  },
  {
    name: "user_agent",
    type: "string",
    unit: "",
    meaning: "user agent of the visitor's request",
    get: (input) => input.facts.userAgent || undefined,
  },
  {
    name: "ip",
    type: "ip",
    unit: "",
    meaning: "the visitor's address, compared with an address or a CIDR range",
    get: (input) => input.address,
  },
  {
    name: "static_resource",
    type: "boolean",
    unit: "",
    meaning: "the path is that of a static resource",
    get: (input) => input.facts.staticResource,
  },
  {
    name: "detection_ids",
    type: "id-set",
    unit: "",
    meaning: "ids of the detections behind the score",
    get: (input) => input.facts.detectionIds,
  },
  {
    name: "js_detected",
    type: "boolean",
    unit: "",
    meaning: "the JS detection engine found evidence",
    get: (input) => input.facts.jsDetected,
  },
  {
    name: "heuristics_score",
    type: "integer",
    unit: "1 to 99",
    meaning: "score of the heuristics engine; missing when it abstained",
    range: [1, 99],
    get: (input) => input.facts.heuristicsScore ?? undefined,
  },
  {
    name: "behavioral_score",
    type: "integer",
    unit: "1 to 99",
    meaning: "score of the behavioral engine; missing when it abstained",
    inSamples: false,
    range: [1, 99],
    get: (input) => input.facts.behavioralScore ?? undefined,
  },
  {
    name: "event_count",
    type: "integer",
    unit: "events",
    meaning: "events recorded for the session; missing without one",
    inSamples: false,
    range: [0, Number.POSITIVE_INFINITY],
    get: (input) => input.facts.eventCount,
  },
  {
    name: "session_age",
    type: "integer",
    unit: "seconds",
    meaning: "time since the session was first seen; missing without one",
    inSamples: false,
    range: [0, Number.POSITIVE_INFINITY],
    get: (input) => input.facts.sessionAgeSeconds,
  },
  {
    name: "likely_bot_threshold",
    type: "integer",
    unit: "1 to 99",
    meaning: "the project's boundary between bot and human",
    range: [1, 99],
    get: (input) => input.facts.likelyBotThreshold,
  },
  {
    name: "cleared",
    type: "boolean",
    unit: "",
    meaning: "the session passed verdictd's own challenge, and the pass is valid for this request",
    get: (input) => input.facts.isCleared?.() ?? false,
  },
  {
    name: "has_session",
    type: "boolean",
    unit: "",
    meaning: "the token names a session of this project",
    get: (input) => input.facts.hasSession ?? false,
  },
  {
    name: "country",
    type: "string",
    unit: "",
    spelling: upperCase,
    form: { pattern: /^[A-Za-z]{2}$/, expected: 'a country of two letters such as "DE" in double quotes' },
    meaning: "country of the address, ISO 3166-1 alpha-2, compared in upper case",
    get: (input) => input.network.country,
  },
  {
    name: "asn",
    type: "integer",
    unit: "",
    max: 2 ** 32 - 1,
    meaning: "number of the autonomous system that the address belongs to",
    range: [0, 2 ** 32 - 1],
    get: (input) => input.network.asn,
  },
  {
    name: "as_name",
    type: "string",
    unit: "",
    meaning: "name of the autonomous system that the address belongs to",
    get: (input) => input.network.asName,
  },
  {
    name: "ip_lists",
    type: "string-set",
    unit: "",
    meaning: "names of the operator's own lists that contain the address",
    get: (input) => input.ipLists,
  },
  {
    name: "agent",
    type: "string",
    unit: "",
    meaning: "name of the agent, crawler or library that the visitor is; missing where none is known",
    get: (input) => input.agent?.name,
  },
  {
    name: "agent_category",
    type: "string",
    unit: botCategories.join(", "),
    known: botCategories,
    meaning: "what that agent is for",
    get: (input) => input.agent?.category,
  },
  {
    name: "agent_certainty",
    type: "string",
    unit: agentCertainties.join(", "),
    known: agentCertainties,
    meaning: "how sure it is who the agent is, by what it is known",
    get: (input) => input.agent?.certainty,
  },
];

/** Fields that only a judged request has: the verdict read and stored sessions lack them. */
const requestFields: readonly Field[] = [
  {
    name: "request_score",
    type: "integer",
    unit: "1 to 99",
    meaning: "the request's own score, without its session's",
    range: [1, 99],
    get: (input) => input.requestScore,
  },
  {
    name: "requests_per_minute",
    type: "integer",
    unit: "requests",
    meaning: "requests judged for this address (IPv6: its /64) in this project in the last 60 s, including this one",
    range: [1, Number.POSITIVE_INFINITY],
    get: (input) => input.facts.request?.requestsPerMinute,
  },
  {
    name: "visit_pages",
    type: "integer",
    unit: "navigations",
    meaning: "navigations of this visit that were judged, including this one",
    range: [0, Number.POSITIVE_INFINITY],
    get: (input) => input.facts.request?.visit?.pages,
  },
  {
    name: "visit_silent_pages",
    type: "integer",
    unit: "navigations",
    meaning:
      "those of them, older than 5 s, for which a token was given or brought and after which the SDK has not reported",
    range: [0, Number.POSITIVE_INFINITY],
    get: (input) => input.facts.request?.visit?.silentPages,
  },
  {
    name: "visit_seconds",
    type: "integer",
    unit: "seconds",
    meaning: "time since the first of them",
    range: [0, Number.POSITIVE_INFINITY],
    get: (input) => input.facts.request?.visit?.seconds,
  },
  {
    name: "visit_posts",
    type: "integer",
    unit: "requests",
    meaning: "requests of this visit that were neither GET nor HEAD nor OPTIONS, including this one",
    range: [0, Number.POSITIVE_INFINITY],
    get: (input) => input.facts.request?.visit?.posts,
  },
  {
    name: "cookie_kept",
    type: "boolean",
    unit: "",
    meaning: "whether the token that this visit was given came back; missing until that could be seen",
    get: (input) => input.facts.request?.visit?.cookieKept,
  },
  {
    name: "ja4",
    type: "string",
    unit: "",
    meaning: "JA4 fingerprint of the visitor's TLS, as the backend or a trusted proxy reports it",
    inSamples: false,
    get: (input) => input.facts.request?.ja4,
  },
  {
    name: "http_version",
    type: "string",
    unit: "1.0, 1.1, 2 or 3; HTTP/2 and 2.0 count as 2",
    known: httpVersions,
    spelling: httpVersionSpelling,
    meaning: "HTTP version of the visitor's request",
    get: (input) => input.facts.request?.httpVersion,
  },
  {
    name: "declared_bot",
    type: "string",
    unit: "",
    meaning: "name of the bot, library or agent that the user agent names",
    inSessions: "reread",
    get: (input) => input.declaredBot?.name,
  },
  {
    name: "declared_bot_category",
    type: "string",
    unit: botCategories.join(", "),
    known: botCategories,
    meaning: "what that bot is for",
    inSessions: "reread",
    get: (input) => input.declaredBot?.category,
  },
  {
    name: "signed_agent",
    type: "string",
    unit: "",
    spelling: lowerCase,
    meaning: "host of the verified Signature-Agent, such as chatgpt.com",
    get: (input) => input.facts.request?.signedAgent?.host,
  },
  {
    name: "signature",
    type: "string",
    unit: "none, verified, unverified or invalid",
    known: signatureStates,
    meaning:
      "result of checking the request's signature; unverified: the key is unknown, or it covers something that was not reported",
    get: (input) => input.facts.request?.signature,
  },
];

/** Every field of the language, in the order of the documentation. */
export const fields: readonly Field[] = [
  ...alwaysFields,
  ...requestFields.map((field) => ({
    inSessions: false,
    ...field,
    meaning: `${field.meaning}; only where requests are judged`,
  })),
];

/** Fields that only searches of stored sessions have: a rule can't depend on what the rules decide. */
const searchFields: readonly Field[] = [
  {
    name: "action",
    type: "category",
    unit: "",
    members: actions,
    meaning: "what the current rules would do with the session; only in searches",
    get: (input) => input.facts.search?.outcome().action,
  },
  {
    name: "rule_id",
    type: "integer",
    unit: "",
    meaning: "id of the rule behind that action; only in searches",
    get: (input) => input.facts.search?.outcome().ruleId ?? undefined,
  },
];

/**
 * Where an expression is used: in a rule, or in a search of stored sessions, which has more fields; `stored`: in a rule that was saved earlier, maybe
 * before its values were checked against closed lists.
 */
export type ExpressionUse = "rule" | "search" | "stored";

/** Returns the fields that an expression can name there. */
export function fieldsFor(use: ExpressionUse): readonly Field[] {
  return use === "search" ? [...fields, ...searchFields] : fields;
}

/** Returns the values that a field can have, if they are a closed list; otherwise none. */
export function knownValues(field: Field): readonly string[] {
  return ("members" in field ? field.members : "known" in field ? field.known : undefined) ?? [];
}

/** Whether `==`, `!=` and `in` take this text for a field of strings. */
export function isValueOf(field: Field, text: string): boolean {
  if (field.type !== "string") return true;
  const { known, form, spelling } = field;
  if (form !== undefined && !form.pattern.test(text)) return false;
  return known === undefined || known.includes(spelling?.(text, "==") ?? text);
}

/** Names of the fields that only a judged request has. */
export const requestFieldNames: ReadonlySet<string> = new Set(requestFields.map(({ name }) => name));

const byName: ReadonlyMap<string, Field> = new Map(fieldsFor("search").map((field) => [field.name, field]));
const searchFieldNames: ReadonlySet<string> = new Set(searchFields.map(({ name }) => name));

/** Returns the field with this exact name, including those of searches, or undefined; names inherited by objects (`constructor`) are no fields. */
export function fieldOf(name: string): Field | undefined {
  return byName.get(name);
}

/** Whether a field is one of `searchFields`, which no rule has. */
export function isSearchField(name: string): boolean {
  return searchFieldNames.has(name);
}

/** Returns the names of the fields that an expression compares, each once, in its order. */
export function comparedFields(expression: Expression): string[] {
  const names = new Set<string>();
  const visit = (node: Expression): void => {
    if (node.type === "cmp") names.add(node.field);
    else if (node.type === "not") visit(node.node);
    else for (const each of node.nodes) visit(each);
  };
  visit(expression);
  return [...names];
}

/** Returns the fields of an expression that searches and backtests of stored sessions treat as missing, each once, in its order. */
export function unavailableFields(expression: Expression): string[] {
  return comparedFields(expression).filter((name) => fieldOf(name)?.inSessions === false);
}

/** Returns the fields of an expression that are read from the stored user agent, but that a verdict has only if requests are judged. */
export function rereadFields(expression: Expression): string[] {
  return comparedFields(expression).filter((name) => fieldOf(name)?.inSessions === "reread");
}

/** Returns the fields of an expression that samples of judged requests don't have, each once, in its order. */
export function unsampledFields(expression: Expression): string[] {
  return comparedFields(expression).filter((name) => fieldOf(name)?.inSamples === false);
}
