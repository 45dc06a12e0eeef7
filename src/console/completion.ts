/** What may stand at a place of an expression: fields, operators, values, connectives, by the tokens before it. Pure. */
import { operatorsOfType } from "../rules/check.js";
import { type ExpressionUse, type Field, fieldOf, fieldsFor, knownValues } from "../rules/fields.js";
import { lex, type Token } from "../rules/lex.js";

/** One suggestion; `detail` says beside it what it means or which field it belongs to. */
interface Completion {
  /** What takes the place of `from` to `to` of the source. */
  readonly text: string;
  readonly detail: string;
}

/** Suggestions for one place. `from` and `to` are offsets in UTF-16 units, equal where nothing is written yet. */
export interface Completions {
  readonly from: number;
  readonly to: number;
  readonly options: readonly Completion[];
}

const shownMax = 8;
const none: Completions = { from: 0, to: 0, options: [] };
const connectives: readonly Completion[] = [
  { text: "AND", detail: "both must be true" },
  { text: "OR", detail: "at least one must be true" },
];
const isOperator = (text: string): boolean =>
  Object.values(operatorsOfType).some((operators) => operators.some((each) => each === text.toLowerCase()));
const isConnective = (text: string): boolean => ["and", "or", "not"].includes(text.toLowerCase());

/** What fits at `caret`; nothing while nothing of it is written, unless `isAsked`. */
export function completionsAt(
  source: string,
  caret: number,
  isAsked: boolean,
  use: ExpressionUse = "rule",
): Completions {
  const before = lex(source.slice(0, caret)).filter(({ kind }) => kind !== "end");
  const last = before.at(-1);
  // An unclosed text is a value under way.
  const isOpenText = last?.kind === "bad" && last.text.startsWith("`") && source[last.offset] === '"';
  if (last?.kind === "bad" && !isOpenText) return none;
  const isUnderWay = last !== undefined && (isOpenText || endOf(last) === caret) && last.kind !== "symbol";
  const tokens = isUnderWay ? before.slice(0, -1) : before;
  const from = isUnderWay ? last.offset : caret;
  const written = source.slice(from, caret);
  if (written === "" && !isAsked) return none;
  const options = candidates(tokens, use).filter(
    ({ text }) => text !== written && text.toLowerCase().startsWith(written.toLowerCase()),
  );
  return { from, to: caret, options: options.slice(0, shownMax) };
}

function candidates(tokens: readonly Token[], use: ExpressionUse): readonly Completion[] {
  const last = tokens.at(-1);
  if (last === undefined || isConnective(last.text) || last.text === "(") return starts(use);
  const field = fieldOf(last.text);
  if (last.kind === "word" && field !== undefined && !isValueOf(tokens)) {
    const operators = operatorsOfType[field.type].map((text) => ({ text, detail: field.name }));
    return field.type === "boolean" ? [...connectives, ...operators] : operators;
  }
  if (isOperator(last.text) || last.text === "{" || last.text === ",") return valuesOf(fieldBefore(tokens));
  return connectives;
}

function starts(use: ExpressionUse): Completion[] {
  const detailOf = ({ meaning, unit }: Field) => (unit === "" ? meaning : `${meaning} (${unit})`);
  return [
    ...fieldsFor(use).map((field) => ({ text: field.name, detail: detailOf(field) })),
    { text: "NOT", detail: "must not be true" },
  ];
}

/** Whether the last token stands behind an operator: `true`, which is no field, is told from one so. */
function isValueOf(tokens: readonly Token[]): boolean {
  return isOperator(tokens.at(-2)?.text ?? "");
}

/** The field that a comparison under way is about. */
function fieldBefore(tokens: readonly Token[]): Field | undefined {
  return tokens.flatMap(({ kind, text }) => (kind === "word" ? (fieldOf(text) ?? []) : [])).at(-1);
}

function valuesOf(field: Field | undefined): Completion[] {
  if (field === undefined) return [];
  if (field.type === "boolean") return ["true", "false"].map((text) => ({ text, detail: field.name }));
  const members = knownValues(field);
  return members.map((member) => ({ text: `"${member}"`, detail: field.name }));
}

const endOf = ({ offset, text }: Token): number => offset + text.length;
