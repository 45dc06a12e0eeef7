/** The schemas of `validators.ts` in the form that OpenAPI 3.1 tools read best. Pure; adds nothing to the types. */

import { apiSchemas } from "../validators.js";
import type { ApiTypeName } from "./api-types.js";
import type { JsonSchema } from "./route-doc.js";

/** The interface that lists all types by name: an internal helper, not part of the document. */
const listName = "ApiTypes";

/** Types that refuse unknown keys; all other types ignore them. */
const closed: ReadonlySet<string> = new Set(["IngestEvent", "EventPayload"]);

/** `components.schemas` of the document. */
export function componentSchemas(): Record<string, JsonSchema> {
  const schemas: Record<string, JsonSchema> = {};
  for (const [name, schema] of Object.entries(apiSchemas.components.schemas ?? {})) {
    if (name === listName) continue;
    const tidy = tidied(schema) as JsonSchema;
    schemas[name] = closed.has(name) ? { ...tidy, additionalProperties: false } : tidy;
  }
  return schemas;
}

/** Returns the schema of a body or answer: usually a reference into `componentSchemas`. */
export function schemaOf(name: ApiTypeName): JsonSchema {
  const list = apiSchemas.components.schemas?.[listName] as { properties?: Record<string, JsonSchema> } | undefined;
  const schema = list?.properties?.[name];
  if (schema === undefined) throw new Error(`there is no schema of ${name}`);
  return tidied(schema) as JsonSchema;
}

/**
 * Converts three spellings of typia's that tools understand less well: a choice of constants is an enumeration, a tuple of fixed length needs
 * `minItems` and `items: false` in JSON Schema 2020-12, and TypeScript's `readonly` is not OpenAPI's `readOnly`.
 */
function tidied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tidied);
  if (typeof value !== "object" || value === null) return value;
  const { oneOf, additionalItems, readOnly: _, ...rest } = value as Record<string, unknown>;
  const tidy: Record<string, unknown> = {};
  for (const [key, each] of Object.entries(rest)) tidy[key] = tidied(each);
  if (Array.isArray(rest["prefixItems"])) {
    tidy["items"] = additionalItems ?? false;
    tidy["minItems"] = rest["prefixItems"].length;
  }
  if (Array.isArray(oneOf)) Object.assign(tidy, choice(oneOf));
  return tidy;
}

function choice(options: readonly unknown[]): JsonSchema {
  const constants = options.map((option) => (option as { const?: unknown }).const);
  return constants.every((constant) => typeof constant === "string")
    ? { type: "string", enum: constants }
    : { oneOf: options.map(tidied) };
}
