/**
 * Says in plain words why a value does not fit its type. typia reports it in TypeScript (`number & Minimum<1>`), and names only the broken bound; the
 * sender needs all of them: "must be a whole number from 1 to 99". Runs for refused values only.
 */

/**
 * The position of a wrong value: `path` as in `events[3].payload.x`, "" for the value itself. `fault` completes the sentence: `must be true or
 * false`.
 */
export interface Mismatch {
  readonly path: string;
  readonly fault: string;
}

/** A validator compiled by typia: its report has the first error of each position. */
export type Validate = (value: unknown) => { readonly success: true } | Failure;

interface Failure {
  readonly success: false;
  readonly errors: readonly ReportedError[];
}

interface ReportedError {
  /** Starts with `$input`. */
  readonly path: string;
  /** In TypeScript. */
  readonly expected: string;
}

/** Returns the first fault of a value that `validate` has refused. Cost: one more validation if a bound is broken. */
export function mismatchIn(value: unknown, report: Failure, validate: Validate, root = ""): Mismatch {
  const first = report.errors[0]!;
  const path = first.path.replace(root === "" ? /^\$input\.?/ : "$input", root);
  if (first.expected === "undefined") return { path, fault: "is not an accepted key" };
  const expected = isOneBound.test(first.expected) ? typeAt(value, first.path, validate) : null;
  return { path, fault: `must be ${typeInWords(expected ?? first.expected)}` };
}

/** `number & Minimum<1>`: the one broken bound. A whole type has parentheses around it. */
const isOneBound = /^(?:number|string|Array<>) & /;

/** The whole type of a position: typia reports it for a value that JSON can't contain. */
function typeAt(value: unknown, path: string, validate: Validate): string | null {
  const report = validate(withAlien(value, keysOf(path)));
  return report.success ? null : (report.errors.find((error) => error.path === path)?.expected ?? null);
}

function keysOf(path: string): string[] {
  const found = path.matchAll(/\.([\w$]+)|\[([0-9]+)\]|\["((?:[^"\\]|\\.)*)"\]/g);
  return [...found].map(([, name, index, quoted]) => name ?? index ?? quoted!);
}

function withAlien(value: unknown, [key, ...rest]: readonly string[]): unknown {
  if (key === undefined) return () => undefined;
  const copy = Array.isArray(value) ? [...value] : { ...(value as object) };
  const inside = withAlien((value as Readonly<Record<string, unknown>>)[key], rest);
  return Object.defineProperty(copy, key, { value: inside, enumerable: true });
}

/** Describes a TypeScript type in words: `((number & Type<"int32"> & Minimum<1>) | undefined)` is "a whole number of at least 1". */
function typeInWords(type: string): string {
  const parts = split(type, "|").filter((part) => part !== "undefined");
  const literals = parts.filter((part) => part.startsWith('"')).sort();
  const others = parts.filter((part) => !part.startsWith('"')).map(wordsOfPart);
  return [...(literals.length > 0 ? [oneOf(literals)] : []), ...new Set(others)].join(" or ");
}

function oneOf(literals: readonly string[]): string {
  return literals.length < 3 ? literals.join(" or ") : `one of ${literals.join(", ")}`;
}

const integerBounds: Readonly<Record<string, readonly [min: string, max?: string]>> = {
  int32: [String(-(2 ** 31)), String(2 ** 31 - 1)],
  uint32: ["0", String(2 ** 32 - 1)],
  uint64: ["0"],
};

function wordsOfPart(part: string): string {
  const [base = "", ...tags] = split(part, "&");
  const bound = (name: string): string | undefined =>
    tags.map((tag) => new RegExp(`^${name}<(.*)>$`).exec(tag)?.[1]).find((each) => each !== undefined);
  const range = (min: string | undefined, max: string | undefined, of = "", from = ""): string => {
    if (min !== undefined && max !== undefined) return ` ${from}${min} to ${max}${of}`;
    if (min !== undefined) return ` of at least ${min}${of}`;
    return max === undefined ? "" : ` of at most ${max}${of}`;
  };
  if (base === "number") {
    const integer = bound("Type")?.replaceAll('"', "");
    const [min, max] = integer === undefined ? [] : (integerBounds[integer] ?? []);
    const words = range(bound("Minimum") ?? min, bound("Maximum") ?? max, "", "from ");
    return `${integer === undefined ? "a number" : "a whole number"}${words}`;
  }
  if (base === "string") {
    if (bound("Format") === '"date-time"') return "an ISO-8601 date and time";
    const [min, max] = [bound("MinLength"), bound("MaxLength")];
    return min === "1" && max === undefined
      ? "a string that is not empty"
      : `a string${range(min, max, " characters", "of ")}`;
  }
  if (base.startsWith("Array<")) {
    const items = wordsOfItems(base.slice("Array<".length, -1));
    const once = bound("UniqueItems") === "true" ? ", each once" : "";
    return `an array${range(bound("MinItems"), bound("MaxItems"), " items", "of ")}${items}${once}`;
  }
  if (base.startsWith("[")) return `an array of ${split(base.slice(1, -1), ",").length} numbers`;
  if (base.endsWith("Row")) return "an array of numbers";
  if (base === "true" || base === "false") return base;
  return base === "boolean" ? "true or false" : base === "null" ? "null" : "an object";
}

/** Only items from a list of words are named. */
function wordsOfItems(type: string): string {
  return type.startsWith('"') ? `, each ${typeInWords(type)}` : "";
}

/** Splits a type at separators outside of brackets; removes brackets around all of it. */
function split(type: string, separator: string): string[] {
  const parts = [""];
  let depth = 0;
  let isQuoted = false;
  for (const character of type) {
    if (character === '"') isQuoted = !isQuoted;
    if (!isQuoted && "(<[".includes(character)) depth++;
    if (!isQuoted && ")>]".includes(character)) depth--;
    if (character === separator && depth === 0 && !isQuoted) parts.push("");
    else parts[parts.length - 1] += character;
  }
  const [only = ""] = parts;
  const isWrapped = parts.length === 1 && only.startsWith("(") && only.endsWith(")");
  return isWrapped ? split(only.slice(1, -1), separator) : parts.map((part) => part.trim());
}
