/**
 * Types of the language: which operators and literals a field's type takes. The parser checks each comparison while it still has the tokens with
 * their positions. After that, nothing can fail on a type.
 */
import { parseAddressRange } from "./address.js";
import type { Literal, Operator } from "./ast.js";
import { type ExpressionUse, type Field, type FieldType, isValueOf, knownValues } from "./fields.js";
import type { Token } from "./lex.js";

/** Range of an integer literal: signed 32 bits, unless its field has another; exact in JSON and in every client. */
const integerMin = -(2 ** 31);
const integerMax = 2 ** 31 - 1;

/** Operators by type of field; any other combination is a fault. */
export const operatorsOfType: Readonly<Record<FieldType, readonly Operator[]>> = {
  integer: ["==", "!=", "<", "<=", ">", ">=", "in"],
  string: ["==", "!=", "contains", "starts_with", "ends_with", "wildcard", "in"],
  band: ["==", "!=", "in"],
  category: ["==", "!=", "in"],
  boolean: ["==", "!="],
  ip: ["==", "!=", "in"],
  "id-set": ["contains"],
  "string-set": ["contains"],
};

/** Describes the literal that this field needs, for a message; `isText`: an operator that compares parts takes any text. */
export function expectedLiteral(field: Field, isText: boolean): string {
  switch (field.type) {
    case "integer":
    case "id-set":
      return `an integer from ${integerMin} to ${maxOf(field)}`;
    case "string":
    case "band":
    case "category":
      return isText || !isListed(field) ? 'a string in double quotes (")' : listed(field);
    case "string-set":
      return 'a string in double quotes (")';
    case "boolean":
      return "true or false";
    case "ip":
      return 'an address or CIDR range in double quotes (")';
  }
}

function isListed(field: Field): boolean {
  return knownValues(field).length > 0 || ("form" in field && field.form !== undefined);
}

function listed(field: Field): string {
  const known = knownValues(field);
  if (known.length > 0) return `one of ${known.map((member) => `"${member}"`).join(", ")}`;
  return "form" in field ? field.form!.expected : "";
}

/** Operators that compare a text with a part or a pattern, which no closed list has. */
const partOperators: ReadonlySet<Operator> = new Set(["contains", "starts_with", "ends_with", "wildcard"]);

/** Whether the operator takes any text, even of a field that has a closed list of values. */
export function takesAnyText(op: Operator): boolean {
  return partOperators.has(op);
}

/** Returns the token's value if it is a literal of the field's type and range, else undefined. */
export function literalFor(field: Field, token: Token, op: Operator, use: ExpressionUse): Literal | undefined {
  switch (field.type) {
    case "integer":
    case "id-set": {
      if (token.kind !== "integer") return undefined;
      const number = Number(token.value);
      if (number < integerMin || number > maxOf(field)) return undefined;
      return number === 0 ? 0 : number; // "-0" would print as "0"
    }
    case "string":
      if (token.kind !== "string") return undefined;
      return takesAnyText(op) || use === "stored" || isValueOf(field, token.value) ? token.value : undefined;
    case "string-set":
      return token.kind === "string" ? token.value : undefined;
    case "band":
    case "category":
      return token.kind === "string" && field.members.includes(token.value) ? token.value : undefined;
    case "boolean":
      if (token.kind !== "word" || (token.text !== "true" && token.text !== "false")) return undefined;
      return token.text === "true";
    case "ip":
      return token.kind === "string" && parseAddressRange(token.value) !== undefined ? token.value : undefined;
  }
}

function maxOf(field: Field): number {
  return (field.type === "integer" ? field.max : undefined) ?? integerMax;
}
