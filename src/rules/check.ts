/**
 * Types of the language: which operators and literals a field's type takes. The parser checks each comparison while it still has the tokens with
 * their positions. After that, nothing can fail on a type.
 */
import { parseAddressRange } from "./address.js";
import type { Literal, Operator } from "./ast.js";
import type { Field, FieldType } from "./fields.js";
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

/** Describes the literal that this field needs, for a message. */
export function expectedLiteral(field: Field): string {
  switch (field.type) {
    case "integer":
    case "id-set":
      return `an integer from ${integerMin} to ${maxOf(field)}`;
    case "string":
    case "string-set":
      return 'a string in double quotes (")';
    case "band":
    case "category":
      return `one of ${field.members.map((member) => `"${member}"`).join(", ")}`;
    case "boolean":
      return "true or false";
    case "ip":
      return 'an address or CIDR range in double quotes (")';
  }
}

/** Returns the token's value if it is a literal of the field's type and range, else undefined. */
export function literalFor(field: Field, token: Token): Literal | undefined {
  switch (field.type) {
    case "integer":
    case "id-set": {
      if (token.kind !== "integer") return undefined;
      const number = Number(token.value);
      if (number < integerMin || number > maxOf(field)) return undefined;
      return number === 0 ? 0 : number; // "-0" would print as "0"
    }
    case "string":
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
