/** The kind of value of each payload key, for the one-pass reader (usual-batch.ts), by the schema of the types in `contract/events/events.ts`. */
import type { EventPayload, EventType } from "../contract/events/events.js";
import { apiSchemas } from "../contract/validators.js";

/**
 * `share` is a number of 0 to 1, `names` a text or a list of texts, `fact` a scalar or a list of scalars, `points` and `strokes` lists of
 * rows of three and of two numbers, `packed` the first of them as a text, `clicks` a text that stands for more events.
 */
export type PayloadKind =
  | "number"
  | "share"
  | "boolean"
  | "text"
  | "textOrNumber"
  | "names"
  | "fact"
  | "direction"
  | "points"
  | "packed"
  | "clicks"
  | "strokes";

/** What is used of a schema. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly oneOf?: readonly { readonly const?: string }[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

const schemas = apiSchemas.components.schemas as Readonly<Record<string, Schema>>;
const payload = schemas["EventPayload"]!.properties!;

/** Keys whose values are read in a way of their own. */
const ownKinds: Readonly<Partial<Record<string, PayloadKind>>> = {
  title_hash: "textOrNumber",
  direction: "direction",
  points: "points",
  packed_points: "packed",
  packed_clicks: "clicks",
  strokes: "strokes",
} satisfies Partial<Record<keyof EventPayload, PayloadKind>>;

/** Kinds by the name of a type, or by the type of JSON. */
const kindsOfTypes: Readonly<Partial<Record<string, PayloadKind>>> = {
  Text: "text",
  Names: "names",
  Fact: "fact",
  boolean: "boolean",
  number: "number",
};

/** Throws for a form that the reader does not know. */
function kindOf(key: string, schema: Schema): PayloadKind {
  const type = schema.$ref?.split("/").at(-1) ?? schema.type ?? "";
  const isBounded = Object.keys(schema).some((word) => /minimum|maximum|multiple/i.test(word));
  const isShare = schema.minimum === 0 && schema.maximum === 1;
  const kind = ownKinds[key] ?? (isShare ? "share" : isBounded ? undefined : kindsOfTypes[type]);
  if (kind === undefined) throw new Error(`there is no kind for the values of ${key}`);
  return kind;
}

function choices(schema: Schema | undefined): string[] {
  return (schema?.oneOf ?? []).map((choice) => choice.const!);
}

/** The kind of each known payload key; an unknown key refuses the batch. */
export const payloadKinds = Object.fromEntries(
  Object.entries(payload).map(([key, schema]) => [key, kindOf(key, schema)]),
) as Readonly<Record<keyof EventPayload, PayloadKind>>;

/** Every type of `EventType`. */
export const eventTypes = choices(schemas["EventType"]) as readonly EventType[];

/** The allowed values of `direction` in a payload. */
export const directions: readonly string[] = choices(payload["direction"]);
