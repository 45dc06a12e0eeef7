/**
 * The compiled form of a rule's expression as the API shows it (`docs/rules.md`): plain JSON, made by `parse.ts`, read by
 * `compile.ts` and `print.ts`. Values stand as the author wrote them; nothing here is normalised for comparing.
 */

/** Every operator as the tree names it; a rule may write those that are words in any case. */
export const operators = [
  "==",
  "!=",
  "<",
  "<=",
  ">",
  ">=",
  "contains",
  "starts_with",
  "ends_with",
  "wildcard",
  "in",
] as const;
/** An operator as the tree names it; which fields take it is in `check.ts`. */
export type Operator = (typeof operators)[number];

/** A value as it was written. An integer is a number, an address or a member of a closed set a text. */
export type Literal = string | number | boolean;

/** `field op value`; a list for `in`, one literal otherwise. A bare boolean field is `== true`. */
export interface Comparison {
  readonly type: "cmp";
  readonly op: Operator;
  readonly field: string;
  readonly value: Literal | readonly Literal[];
}

/**
 * An unparenthesised chain of one connective, two nodes at least. Parentheses are kept: `(a AND b) AND c` is an `and` inside an `and`,
 * so that the printed form shows what the author grouped and every tree has exactly one text.
 */
export interface Chain {
  readonly type: "and" | "or";
  readonly nodes: readonly Expression[];
}

/** `NOT` before one operand. */
export interface Negation {
  readonly type: "not";
  readonly node: Expression;
}

/** A node of the tree, and the tree itself. */
export type Expression = Comparison | Chain | Negation;
