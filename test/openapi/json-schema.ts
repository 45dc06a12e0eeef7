/**
 * A JSON Schema (2020-12) validator for exactly the keywords the OpenAPI document uses; any other keyword throws, so that nothing
 * is passed over in silence.
 */

export type Schema = Readonly<Record<string, unknown>>;

interface ValidatorOptions {
  /** Component schemas by name. */
  readonly components: Readonly<Record<string, Schema>>;
  /** Whether a key that an object's schema does not list is a mistake: for answers, which hold no surprises. */
  readonly closed: boolean;
}

/** A value in a mistake, cut: tap takes minutes over one of a megabyte. */
function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "undefined";
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

/** What is wrong with the value: a line a mistake, empty for none. */
export function mistakesOf(value: unknown, schema: Schema, options: ValidatorOptions, at = "$"): string[] {
  const mistakes: string[] = [];
  for (const [keyword, operand] of Object.entries(schema)) {
    const rule = keywords[keyword];
    if (rule === undefined) throw new Error(`unknown keyword "${keyword}" at ${at}`);
    for (const mistake of rule({ value, operand, schema, options, at })) mistakes.push(mistake);
  }
  return mistakes;
}

interface Asked {
  readonly value: unknown;
  // biome-ignore lint/suspicious/noExplicitAny: each keyword knows the form of its operand
  readonly operand: any;
  readonly schema: Schema;
  readonly options: ValidatorOptions;
  readonly at: string;
}

type Rule = (asked: Asked) => string[];

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  null: (value) => value === null,
  boolean: (value) => typeof value === "boolean",
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number" && Number.isFinite(value),
  integer: (value) => Number.isInteger(value),
  array: Array.isArray,
  object: isObject,
};

const formats: Readonly<Record<string, RegExp>> = {
  "date-time": /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/,
};

const ifNumber = (holds: (value: number, bound: number) => boolean): Rule => {
  return ({ value, operand, at }) =>
    typeof value !== "number" || holds(value, operand) ? [] : [`${at}: ${value} against the bound ${operand}`];
};
const ifString = (holds: (value: string, bound: number) => boolean): Rule => {
  return ({ value, operand, at }) =>
    typeof value !== "string" || holds(value, operand) ? [] : [`${at}: length against the bound ${operand}`];
};
const ifArray = (holds: (value: unknown[], bound: number) => boolean): Rule => {
  return ({ value, operand, at }) =>
    !Array.isArray(value) || holds(value, operand) ? [] : [`${at}: items against the bound ${operand}`];
};

const silent: Rule = () => [];

const keywords: Readonly<Record<string, Rule>> = {
  description: silent,
  title: silent,
  default: silent,
  $ref: ({ value, operand, options, at }) => {
    const target = options.components[String(operand).replace("#/components/schemas/", "")];
    if (target === undefined) throw new Error(`${operand} leads nowhere`);
    return mistakesOf(value, target, options, at);
  },
  type: ({ value, operand, at }) => (types[operand]!(value) ? [] : [`${at} is no ${operand}: ${shown(value)}`]),
  enum: ({ value, operand, at }) => (operand.includes(value) ? [] : [`${at}: ${value} is none of ${operand}`]),
  const: ({ value, operand, at }) => (value === operand ? [] : [`${at}: ${value} is not ${operand}`]),
  required: ({ value, operand, at }) =>
    isObject(value)
      ? operand.filter((name: string) => !Object.hasOwn(value, name)).map((name: string) => `${at}.${name} is missing`)
      : [],
  properties: ({ value, operand, schema, options, at }) => {
    if (!isObject(value)) return [];
    return Object.entries(value).flatMap(([name, each]) => {
      if (Object.hasOwn(operand, name)) return mistakesOf(each, operand[name], options, `${at}.${name}`);
      const isOpen = "additionalProperties" in schema || "$ref" in schema || !options.closed;
      return isOpen ? [] : [`${at}.${name} is not in the schema`];
    });
  },
  additionalProperties: ({ value, operand, schema, options, at }) => {
    if (!isObject(value)) return [];
    const listed = (schema["properties"] ?? {}) as object;
    const others = Object.entries(value).filter(([name]) => !Object.hasOwn(listed, name));
    if (operand === false) return others.map(([name]) => `${at}.${name} is not allowed`);
    return others.flatMap(([name, each]) => mistakesOf(each, operand, options, `${at}.${name}`));
  },
  prefixItems: ({ value, operand, options, at }) =>
    Array.isArray(value)
      ? operand.flatMap((each: Schema, index: number) =>
          index < value.length ? mistakesOf(value[index], each, options, `${at}[${index}]`) : [],
        )
      : [],
  items: ({ value, operand, schema, options, at }) => {
    if (!Array.isArray(value)) return [];
    const from = ((schema["prefixItems"] ?? []) as unknown[]).length;
    const rest = value.slice(from);
    if (operand === false) return rest.length === 0 ? [] : [`${at} has more than ${from} items`];
    return rest.flatMap((each, index) => mistakesOf(each, operand, options, `${at}[${from + index}]`));
  },
  oneOf: ({ value, operand, options, at }) => {
    const fits = operand.filter((each: Schema) => mistakesOf(value, each, options, at).length === 0).length;
    return fits === 1 ? [] : [`${at} fits ${fits} of ${operand.length} alternatives: ${shown(value)}`];
  },
  not: ({ value, operand, options, at }) =>
    mistakesOf(value, operand, options, at).length === 0 ? [`${at} is what it must not be`] : [],
  minimum: ifNumber((value, bound) => value >= bound),
  maximum: ifNumber((value, bound) => value <= bound),
  minLength: ifString((value, bound) => [...value].length >= bound),
  maxLength: ifString((value, bound) => [...value].length <= bound),
  minItems: ifArray((value, bound) => value.length >= bound),
  maxItems: ifArray((value, bound) => value.length <= bound),
  pattern: ({ value, operand, at }) =>
    typeof value !== "string" || new RegExp(operand, "u").test(value) ? [] : [`${at}: "${value}" is not ${operand}`],
  format: ({ value, operand, at }) => {
    const form = formats[operand];
    if (form === undefined) throw new Error(`unknown format "${operand}"`);
    return typeof value !== "string" || form.test(value) ? [] : [`${at}: "${value}" is no ${operand}`];
  },
};
