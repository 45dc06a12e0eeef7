/** The form of `scenarios.json`, and how an answer is held to what a scenario expects. */

import type { Fault } from "./front.js";
import type { Command, Hooks } from "./protocol.js";

/** One scenario: a middleware that is made anew, and steps with it. */
export interface Scenario {
  /** A claim. */
  readonly name: string;
  /** Options of the middleware; `client` is completed with the address and the key. */
  readonly options?: { readonly client?: object; readonly [name: string]: unknown };
  readonly hooks?: Hooks;
  /** Why a client is not held to it, by the client's name. */
  readonly except?: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
}

/**
 * A step is one command, `visit` with what differs from `GET /ok` of an unknown visitor; what stands in for verdictd from then on; and what is expected.
 * With a list of targets or faults the command is given once for each; `$turn` is then its number, from 0 on. Each answer is held to what is expected.
 */
interface Step {
  readonly fault?: Fault | readonly Fault[];
  readonly create?: object;
  readonly visit?: {
    readonly method?: string;
    readonly target?: string | readonly string[];
    /** Name and value; with a number that many lines, `X0`, `X1`, … */
    readonly headers?: readonly (readonly [name: string, value: string, times?: number])[];
    readonly ip?: string;
    readonly secure?: boolean;
  };
  readonly loggedIn?: string | null;
  readonly advance?: number;
  /** How often; default once. */
  readonly times?: number;
  /** Short for what `gives` when the visitor is let in without a verdict: the failure, which is reported. */
  readonly unjudged?: string;
  /** With `unjudged`: what differs. */
  readonly gives?: object;
  /** What verdictd was asked in this step, all of it and in this order; absent: whatever. */
  readonly asked?: readonly object[];
  /** Texts that were sent in none of these requests. */
  readonly unsent?: readonly string[];
}

/** A step with one target and one fault. */
export interface Turn extends Omit<Step, "fault" | "visit"> {
  readonly fault?: Fault;
  readonly visit?: Omit<NonNullable<Step["visit"]>, "target"> & { readonly target?: string };
}

/** A step's turns, in their order. */
export function turnsOf(step: Step): Turn[] {
  const { fault, visit, times } = step;
  const faults = Array.isArray(fault) ? (fault as readonly Fault[]) : null;
  const targets = Array.isArray(visit?.target) ? (visit.target as readonly string[]) : null;
  const count = times ?? faults?.length ?? targets?.length ?? 1;
  for (const list of [faults, targets])
    if (list !== null && list.length !== count) throw new Error("a list for other turns");
  return Array.from({ length: count }, (_, turn) => {
    const single = { ...step };
    if (faults !== null) single.fault = faults[turn]!;
    if (targets !== null) single.visit = { ...visit, target: targets[turn]! };
    return filledIn(single, { turn: String(turn) }) as Turn;
  });
}

/** What an answer is held to. */
export function expectedOf({ unjudged, gives = {} }: Turn): object {
  if (unjudged === undefined) return gives;
  const verdict = {
    verdict: "not_computed",
    action: "allow",
    failed: unjudged,
    reason: `No verdict: ${unjudged}.`,
  };
  return { status: 200, reached: true, body: "ok", visit: { verdict }, failures: [unjudged], ...gives };
}

/** The command of a turn. */
export function commandOf(step: Turn, options: Scenario["options"], hooks: Hooks): Command {
  if (step.create !== undefined) return { do: "create", options: { ...options, ...step.create }, hooks };
  if (step.loggedIn !== undefined) return { do: "loggedIn", token: step.loggedIn };
  if (step.advance !== undefined) return { do: "advance", ms: step.advance };
  const { method = "GET", target = "/ok", headers = [], ip = "127.0.0.1", secure = false } = step.visit ?? {};
  return {
    do: "visit",
    request: { method, target, headers: [["Host", "shop.example"], ...headers.flatMap(linesOf)], ip, secure },
  };
}

function linesOf([name, value, times]: readonly [string, string, number?]): [string, string][] {
  if (times === undefined) return [[name, value]];
  return Array.from({ length: times }, (_, index) => [name + String(index), value]);
}

/** Replaces `$name` in all texts by its value, and `$8{ab}` by `ab`, eight times. */
export function filledIn<T>(value: T, names: Readonly<Record<string, string>>): T {
  const fill = (each: unknown): unknown => {
    if (typeof each === "string") {
      const repeated = each.replace(/\$([0-9]+)\{([^}]*)\}/g, (_, times, text) => text.repeat(Number(times)));
      return repeated.replace(/\$([a-z][A-Za-z]*)/g, (text, name) => names[name] ?? text);
    }
    if (Array.isArray(each)) return each.map(fill);
    if (typeof each !== "object" || each === null) return each;
    return Object.fromEntries(Object.entries(each).map(([name, inner]) => [name, fill(inner)]));
  };
  return fill(value) as T;
}

/**
 * The differences of a value from what is expected, each a line. Of objects only the members that are expected count; null expects null or nothing; a
 * text that begins with `~` is a regular expression.
 */
export function differences(value: unknown, expected: unknown, at = ""): string[] {
  const told = (): string[] => [`${at}: ${JSON.stringify(value)} instead of ${JSON.stringify(expected)}`];
  if (expected === null) return value === null || value === undefined ? [] : told();
  if (typeof expected === "string" && expected.startsWith("~")) {
    const text = Array.isArray(value) && value.length === 1 ? value[0] : value;
    return typeof text === "string" && new RegExp(expected.slice(1), "s").test(text) ? [] : told();
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(value) || value.length !== expected.length) return told();
    return expected.flatMap((each, index) => differences(value[index], each, `${at}[${index}]`));
  }
  if (typeof expected === "object") {
    if (typeof value !== "object" || value === null) return told();
    const members = value as Readonly<Record<string, unknown>>;
    return Object.entries(expected).flatMap(([name, each]) => differences(members[name], each, `${at}.${name}`));
  }
  return value === expected ? [] : told();
}

/** A message about options without what languages write differently: capitals and underscores. */
export function plainOptionNames(message: string): string {
  return message.replaceAll("_", "").toLowerCase();
}
