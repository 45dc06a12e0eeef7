/**
 * A naive second reading of the language, for comparing: walks the tree, parses everything anew each time, and shares with the product
 * only the tree's types. Slow on purpose, and written from the decisions, not from the compiler.
 */
import ipaddr from "ipaddr.js";
import { canonicalHost, canonicalHostPart } from "../../src/contract/values/host.js";
import { rulePath, rulePathPart } from "../../src/contract/verdicts/visitor-request.js";
import type { Comparison, Expression, Literal } from "../../src/rules/ast.js";
import type { RuleFacts } from "../../src/rules/input.js";

type Value = string | number | boolean | readonly number[] | readonly string[] | null | undefined;

/** What a rule sees of these facts, by field. */
export function valuesOf(facts: RuleFacts): Record<string, Value> {
  const network = facts.ip ? facts.addresses?.networkOf(facts.ip) : undefined;
  const { request } = facts;
  return {
    score: facts.score,
    band: facts.band === "not_computed" ? undefined : facts.band,
    verified_bot: facts.verifiedBot,
    verified_bot_category: facts.verifiedBotCategory,
    path: (facts.path && (rulePath(facts.path) ?? facts.path)) || undefined,
    method: facts.method?.toUpperCase() || undefined,
    host: (facts.host && canonicalHost(facts.host)) || undefined,
    user_agent: facts.userAgent || undefined,
    ip: facts.ip !== undefined && ipaddr.isValid(facts.ip) ? facts.ip : undefined,
    static_resource: facts.staticResource,
    detection_ids: facts.detectionIds,
    js_detected: facts.jsDetected,
    heuristics_score: facts.heuristicsScore,
    behavioral_score: facts.behavioralScore,
    event_count: facts.eventCount,
    session_age: facts.sessionAgeSeconds,
    likely_bot_threshold: facts.likelyBotThreshold,
    cleared: facts.isCleared?.() ?? false,
    has_session: facts.hasSession ?? false,
    request_score: request && (request.score ?? 60),
    requests_per_minute: request?.requestsPerMinute,
    visit_pages: request?.visit?.pages,
    visit_silent_pages: request?.visit?.silentPages,
    visit_seconds: request?.visit?.seconds,
    visit_posts: request?.visit?.posts,
    cookie_kept: request?.visit?.cookieKept,
    country: network?.country,
    asn: network?.asn,
    as_name: network?.asName,
    ip_lists: facts.ip ? facts.addresses?.listsOf(facts.ip) : undefined,
    ja4: request?.ja4,
    http_version: request?.httpVersion,
    declared_bot: request?.declaredBot?.name,
    declared_bot_category: request?.declaredBot?.category,
    signed_agent: request?.signedAgent?.host,
    signature: request?.signature,
    agent: facts.agent?.()?.name,
    agent_category: facts.agent?.()?.category,
    agent_certainty: facts.agent?.()?.certainty,
  };
}

function bits(text: string): string {
  return ipaddr
    .process(text)
    .toByteArray()
    .map((byte) => byte.toString(2).padStart(8, "0"))
    .join("");
}

/** Whether the address is in the range, by comparing prefixes of strings of zeros and ones. */
function naiveInRange(address: string, range: string): boolean {
  const [base, prefix] = range.split("/") as [string, string?];
  const ours = bits(address);
  const theirs = bits(base);
  if (ours.length !== theirs.length) return false;
  const shortened = base.includes(":") && theirs.length === 32 ? 96 : 0;
  const length = prefix === undefined ? theirs.length : Number(prefix) - shortened;
  return ours.slice(0, length) === theirs.slice(0, length);
}

/** A glob by filling the whole table of (pattern prefix, text prefix). */
export function naiveGlob(pattern: string, text: string): boolean {
  const fold = (character: string): string => (/[A-Z]/.test(character) ? character.toLowerCase() : character);
  const characters = [...text].map(fold);
  let row = [true, ...characters.map(() => false)];
  for (const wanted of [...pattern].map(fold)) {
    const next = [wanted === "*" && row[0]!];
    for (const [index, character] of characters.entries()) {
      if (wanted === "*") next.push(next[index]! || row[index + 1]!);
      else next.push(row[index]! && (wanted === "?" || wanted === character));
    }
    row = next;
  }
  return row.at(-1)!;
}

function equal(field: string, value: Value, literal: Literal): boolean {
  if (field === "ip") return naiveInRange(value as string, literal as string);
  if (field === "path") return value === wholePath(literal as string);
  if (field === "host") return value === canonicalHost(literal as string);
  return value === (typeof literal === "string" ? cased(field, literal) : literal);
}

function wholePath(literal: string): string {
  return /[?#]/.test(literal) ? literal : (rulePath(literal) ?? rulePathPart(literal));
}

function cased(field: string, literal: string): string {
  if (field === "signed_agent") return literal.toLowerCase();
  if (field === "path") return rulePathPart(literal);
  return field === "method" || field === "country" ? literal.toUpperCase() : literal;
}

function holds({ op, field, value: literal }: Comparison, facts: RuleFacts): boolean {
  const value = valuesOf(facts)[field];
  if (value === undefined || value === null) return false;
  const text =
    field === "host" ? canonicalHostPart(String(literal), /ends|wild/.test(op)) : cased(field, String(literal));
  switch (op) {
    case "==":
      return equal(field, value, literal as Literal);
    case "!=":
      return !equal(field, value, literal as Literal);
    case "<":
      return (value as number) < (literal as number);
    case "<=":
      return (value as number) <= (literal as number);
    case ">":
      return (value as number) > (literal as number);
    case ">=":
      return (value as number) >= (literal as number);
    case "in":
      return (literal as readonly Literal[]).some((each) => equal(field, value, each));
    case "contains":
      if (Array.isArray(value)) return value.indexOf(literal as never) !== -1;
      return (value as string).indexOf(text) !== -1;
    case "starts_with":
      return (value as string).slice(0, text.length) === text;
    case "ends_with":
      return text === "" || (value as string).slice(-text.length) === text;
    case "wildcard":
      return naiveGlob(text, value as string);
  }
}

export function interpret(expression: Expression, facts: RuleFacts): boolean {
  switch (expression.type) {
    case "cmp":
      return holds(expression, facts);
    case "not":
      return !interpret(expression.node, facts);
    case "and":
      return expression.nodes.every((node) => interpret(node, facts));
    case "or":
      return expression.nodes.some((node) => interpret(node, facts));
  }
}
