/**
 * Third stage: turns a checked tree into closures. All work that can be done once is done here (addresses parsed, cases folded, sets built);
 * evaluating a rule then costs a few comparisons. A predicate never throws. A missing value makes its comparison false, `!=` too (and so also the NOT
 * of that comparison true).
 */
import { addressSet, parseAddressRange } from "./address.js";
import type { Comparison, Expression, Literal } from "./ast.js";
import { type Field, fieldOf } from "./fields.js";
import { compileGlob } from "./glob.js";
import type { RuleInput } from "./input.js";
import type { Spelling } from "./spelling.js";
import { containsSearch } from "./text-search.js";

/** Whether a rule's expression holds for this input. Pure, except that the input derives values lazily and counts steps. */
export type Predicate = (input: RuleInput) => boolean;

/** Tests a value that is present. */
type Test<Value> = (value: Value) => boolean;

/** Steps of any comparison, whatever it compares: reading the field, checking that it is present. */
const comparisonSteps = 8;

/** Counts the cost before the test: the steps of an evaluation depend only on rules and input. */
function present<Value>(get: (input: RuleInput) => Value | undefined, test: Test<Value>): Predicate {
  return (input) => {
    const value = get(input);
    input.steps += comparisonSteps;
    return value !== undefined && test(value);
  };
}

/** The same for tests that read the whole value, with some steps for each of its units or members. */
function presentAtLength<Value extends string | readonly number[] | readonly string[]>(
  get: (input: RuleInput) => Value | undefined,
  test: Test<Value>,
  stepsEach: number,
): Predicate {
  return (input) => {
    const value = get(input);
    input.steps += comparisonSteps;
    if (value === undefined) return false;
    input.steps += stepsEach * value.length;
    return test(value);
  };
}

/** Throws for a tree that `check.ts` would refuse: a bug in the program, not a mistake of a rule's author. */
function unchecked(comparison: Comparison): never {
  throw new Error(`unchecked comparison: ${JSON.stringify(comparison)}`);
}

function literals(value: Comparison["value"]): readonly Literal[] {
  return Array.isArray(value) ? value : [value as Literal];
}

function equality<Value extends Literal>(comparison: Comparison, members: readonly Value[]): Test<Value> {
  const [only] = members;
  switch (comparison.op) {
    case "==":
      return (value) => value === only;
    case "!=":
      return (value) => value !== only;
    case "in": {
      const set = new Set(members);
      return (value) => set.has(value);
    }
    default:
      return unchecked(comparison);
  }
}

function integerTest(comparison: Comparison): Test<number> {
  const members = literals(comparison.value).map(Number);
  const bound = members[0]!;
  switch (comparison.op) {
    case "<":
      return (value) => value < bound;
    case "<=":
      return (value) => value <= bound;
    case ">":
      return (value) => value > bound;
    case ">=":
      return (value) => value >= bound;
    default:
      return equality(comparison, members);
  }
}

function compileText(
  comparison: Comparison,
  get: (input: RuleInput) => string | undefined,
  spelling: Spelling | undefined,
): Predicate {
  const members = literals(comparison.value).map((literal) => {
    const text = String(literal);
    return spelling === undefined ? text : spelling(text, comparison.op);
  });
  const part = members[0]!;
  switch (comparison.op) {
    case "contains":
      return presentAtLength(get, containsSearch(part), 1);
    case "starts_with":
      return present(get, (value) => value.startsWith(part));
    case "ends_with":
      return present(get, (value) => value.endsWith(part));
    case "wildcard": {
      const { matches, stepsPerUnit } = compileGlob(part);
      return presentAtLength(get, matches, stepsPerUnit);
    }
    default:
      return present(get, equality(comparison, members));
  }
}

function addressTest(comparison: Comparison): Test<Parameters<ReturnType<typeof addressSet>>[0]> {
  const inside = addressSet(
    literals(comparison.value).map((literal) => parseAddressRange(String(literal)) ?? unchecked(comparison)),
  );
  return comparison.op === "!=" ? (address) => !inside(address) : inside;
}

function compileComparison(comparison: Comparison, field: Field): Predicate {
  switch (field.type) {
    case "integer":
      return present(field.get, integerTest(comparison));
    case "string":
      return compileText(comparison, field.get, field.spelling);
    case "band":
    case "category":
      return present(field.get, equality(comparison, literals(comparison.value).map(String)));
    case "boolean":
      return present(field.get, equality(comparison, literals(comparison.value).map(Boolean)));
    case "ip":
      return present(field.get, addressTest(comparison));
    case "id-set": {
      const id = Number(comparison.value);
      return presentAtLength(field.get, (ids) => ids.includes(id), 1);
    }
    case "string-set": {
      const name = String(comparison.value);
      return presentAtLength(field.get, (names) => names.includes(name), 1);
    }
  }
}

/** Returns the predicate of a tree from `parse`. Throws only for other trees. */
export function compile(expression: Expression): Predicate {
  switch (expression.type) {
    case "cmp": {
      const field = fieldOf(expression.field);
      return field === undefined ? unchecked(expression) : compileComparison(expression, field);
    }
    case "not": {
      const inner = compile(expression.node);
      return (input) => !inner(input);
    }
    case "and": {
      const parts = expression.nodes.map(compile);
      return (input) => {
        for (const part of parts) if (!part(input)) return false;
        return true;
      };
    }
    case "or": {
      const parts = expression.nodes.map(compile);
      return (input) => {
        for (const part of parts) if (part(input)) return true;
        return false;
      };
    }
  }
}
