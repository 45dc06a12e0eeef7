/**
 * Finds comparisons that never or always hold, for reasons that make no fault: such a rule is saved, and `rules/test` and the console say so. Pure.
 * "Never" and "always" are meant for a value that is present: a comparison with a missing one is false.
 */
import type { Comparison, Expression, Literal } from "./ast.js";
import { type Field, fieldOf, knownValues } from "./fields.js";
import { compileGlob } from "./glob.js";
import { printExpression } from "./print.js";

/** How a comparison or an expression comes out, if that is the same for every value. */
type Outcome = "never" | "always" | undefined;

/** Returns a sentence for each comparison, and each chain of comparisons of one field, with one outcome; and one if the whole never matches. */
export function warningsOf(expression: Expression): string[] {
  const found: string[] = [];
  const outcome = outcomeOf(expression, found);
  if (outcome === "never" && expression.type !== "cmp") found.unshift("The expression can never match.");
  if (outcome === "always" && expression.type !== "cmp") found.unshift("The expression always matches.");
  return [...new Set(found)];
}

function outcomeOf(node: Expression, found: string[]): Outcome {
  if (node.type === "cmp") return comparisonOutcome(node, found);
  if (node.type === "not") return negated(outcomeOf(node.node, found));
  const outcomes = node.nodes.map((each) => outcomeOf(each, found));
  const decisive = node.type === "and" ? "never" : "always";
  if (outcomes.includes(decisive)) return decisive;
  if (outcomes.every((each) => each === negated(decisive))) return negated(decisive);
  return chainOutcome(node.type, node.nodes, found);
}

function negated(outcome: Outcome): Outcome {
  return outcome === undefined ? undefined : outcome === "never" ? "always" : "never";
}

const words = { never: "never matches", always: "always matches" } as const;

function comparisonOutcome(comparison: Comparison, found: string[]): Outcome {
  const field = fieldOf(comparison.field)!;
  const judged = judge(field, comparison);
  if (judged === undefined) return undefined;
  const [outcome, reason] = judged;
  found.push(`${printExpression(comparison)} ${words[outcome]}: ${reason}.`);
  return outcome;
}

type Judged = readonly [outcome: "never" | "always", reason: string] | undefined;

function judge(field: Field, comparison: Comparison): Judged {
  switch (field.type) {
    case "integer":
      return judgeValues(field, comparison, `${field.name} is ${field.unit}`);
    case "band":
    case "category":
      if (field.name === "band")
        return judgeValues(field, comparison, "such a session is allowed before rules are asked");
      return undefined;
    case "string":
      return judgeText(field, comparison);
    default:
      return undefined;
  }
}

function judgeValues(field: Field, comparison: Comparison, reason: string): Judged {
  const all = allOf(field);
  const held = valuesOf(field, comparison);
  if (all === null || held === null) return undefined;
  if (isEmpty(intersection(all, held))) return ["never", reason];
  return isEmpty(intersection(all, complement(field, held))) ? ["always", reason] : undefined;
}

function judgeText(field: Field & { readonly type: "string" }, comparison: Comparison): Judged {
  const { op } = comparison;
  const spelt = [comparison.value].flat().map((each) => field.spelling?.(String(each), op) ?? String(each));
  const text = spelt[0]!;
  switch (op) {
    case "==":
    case "in":
    case "!=": {
      const reasons = spelt.map((each) =>
        each === "" ? "an empty value counts as missing" : field.never?.(each, "whole"),
      );
      const reason = reasons[0];
      if (reason === undefined || !reasons.every((each) => each !== undefined)) return undefined;
      return [op === "!=" ? "always" : "never", reason];
    }
    case "wildcard":
      if (/^[*]+$/.test(text)) return ["always", "* stands for anything"];
      return judgeKnown(field, compileGlob(text).matches) ?? judgePart(field, text, op);
    case "contains":
      if (text === "") return ["always", "every text contains the empty one"];
      return judgeKnown(field, (value) => value.includes(text)) ?? judgePart(field, text, op);
    case "starts_with":
      if (text === "") return ["always", "every text starts with the empty one"];
      return judgeKnown(field, (value) => value.startsWith(text)) ?? judgePart(field, text, op);
    case "ends_with":
      if (text === "") return ["always", "every text ends with the empty one"];
      return judgeKnown(field, (value) => value.endsWith(text)) ?? judgePart(field, text, op);
    default:
      return undefined;
  }
}

function judgeKnown(field: Field, test: (value: string) => boolean): Judged {
  const known = knownValues(field);
  if (known.length === 0) return undefined;
  const reason = `${field.name} is one of ${known.join(", ")}`;
  if (!known.some(test)) return ["never", reason];
  return known.every(test) ? ["always", reason] : undefined;
}

function judgePart(
  field: Field & { readonly type: "string" },
  text: string,
  op: "wildcard" | "contains" | "starts_with" | "ends_with",
): Judged {
  const reason = field.never?.(text, op);
  if (reason !== undefined) return ["never", reason];
  const always = field.always?.(text, op);
  return always === undefined ? undefined : ["always", always];
}

/** Values of one field: of an integer intervals, of a text those named or all but those named. */
type Values =
  | { readonly type: "intervals"; readonly intervals: readonly (readonly [from: number, to: number])[] }
  | { readonly type: "texts"; readonly isAllBut: boolean; readonly texts: ReadonlySet<string> };

/** All values that the field can have; null where that is not known. */
function allOf(field: Field): Values | null {
  if (field.type === "integer") return { type: "intervals", intervals: [field.range ?? [-Infinity, Infinity]] };
  const known = knownValues(field).filter((each) => each !== "not_computed");
  if (field.type !== "string" && field.type !== "band" && field.type !== "category") return null;
  return known.length === 0
    ? { type: "texts", isAllBut: true, texts: new Set() }
    : { type: "texts", isAllBut: false, texts: new Set(known) };
}

/** The values with which a comparison holds; null for an operator that is not about whole values. */
function valuesOf(field: Field, { op, value }: Comparison): Values | null {
  const literals: readonly Literal[] = [value].flat();
  if (field.type === "integer") {
    const bound = Number(literals[0]);
    switch (op) {
      case "==":
      case "in":
        return { type: "intervals", intervals: literals.map((each) => [Number(each), Number(each)] as const) };
      case "!=":
        return {
          type: "intervals",
          intervals: [
            [-Infinity, bound - 1],
            [bound + 1, Infinity],
          ],
        };
      case "<":
        return { type: "intervals", intervals: [[-Infinity, bound - 1]] };
      case "<=":
        return { type: "intervals", intervals: [[-Infinity, bound]] };
      case ">":
        return { type: "intervals", intervals: [[bound + 1, Infinity]] };
      case ">=":
        return { type: "intervals", intervals: [[bound, Infinity]] };
      default:
        return null;
    }
  }
  if (op !== "==" && op !== "!=" && op !== "in") return null;
  const spelling = field.type === "string" ? field.spelling : undefined;
  const texts = new Set(literals.map((each) => spelling?.(String(each), op) ?? String(each)));
  return { type: "texts", isAllBut: op === "!=", texts };
}

function complement(field: Field, values: Values): Values {
  if (values.type === "texts") return { ...values, isAllBut: !values.isAllBut };
  const sorted = [...values.intervals].sort(([one], [other]) => one - other);
  const gaps: [number, number][] = [];
  let from = -Infinity;
  for (const [start, end] of sorted) {
    if (start > from) gaps.push([from, start - 1]);
    from = Math.max(from, end + 1);
  }
  if (from < Infinity) gaps.push([from, Infinity]);
  const all = allOf(field)!;
  return intersection(all, { type: "intervals", intervals: gaps });
}

function intersection(one: Values, other: Values): Values {
  if (one.type === "intervals" || other.type === "intervals") {
    if (one.type !== "intervals" || other.type !== "intervals") return one;
    const intervals = one.intervals.flatMap(([from, to]) =>
      other.intervals.map(([start, end]) => [Math.max(from, start), Math.min(to, end)] as const),
    );
    return { type: "intervals", intervals: intervals.filter(([from, to]) => from <= to) };
  }
  if (one.isAllBut && other.isAllBut)
    return { type: "texts", isAllBut: true, texts: new Set([...one.texts, ...other.texts]) };
  const [named, second] = one.isAllBut ? [other, one] : [one, other];
  const kept = [...named.texts].filter((each) => second.texts.has(each) !== second.isAllBut);
  return { type: "texts", isAllBut: false, texts: new Set(kept) };
}

function isEmpty(values: Values): boolean {
  return values.type === "intervals" ? values.intervals.length === 0 : !values.isAllBut && values.texts.size === 0;
}

/** Whether the comparisons of one field in a chain exclude each other (AND), or leave no value out (OR). */
function chainOutcome(type: "and" | "or", nodes: readonly Expression[], found: string[]): Outcome {
  const outcome = type === "and" ? "never" : "always";
  const byField = new Map<string, Comparison[]>();
  for (const node of nodes) {
    if (node.type === "cmp") byField.set(node.field, [...(byField.get(node.field) ?? []), node]);
  }
  for (const [name, comparisons] of byField) {
    const field = fieldOf(name)!;
    const all = allOf(field);
    if (comparisons.length < 2 || all === null) continue;
    const held = comparisons.map((each) => valuesOf(field, each)).filter((each) => each !== null);
    const left = held.reduce((rest, each) => intersection(rest, type === "and" ? each : complement(field, each)), all);
    if (held.length < 2 || !isEmpty(left)) continue;
    const text = comparisons.map(printExpression).join(type === "and" ? " AND " : " OR ");
    found.push(`${text} ${words[outcome]}: ${type === "and" ? "no value is both" : "every value is one of these"}.`);
    return outcome;
  }
  return undefined;
}
