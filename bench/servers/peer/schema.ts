/**
 * The peer's check of an ingest body: the types of the published OpenAPI document, in the dialect of JSON Schema that Fastify's Ajv compiles
 * (draft 7), so that both servers refuse the same bodies.
 */
import { componentSchemas } from "../../../src/contract/api/openapi-schemas.js";

const name = "contract";
const ofDocument = "#/components/schemas/";

/** All types by name, for `addSchema`. */
export const contractSchema = { $id: name, definitions: inDraft7(componentSchemas()) };

/** The body of `POST /v1/events`. */
export const batchSchema = { $ref: `${name}#/definitions/IngestBatch` };

/** The answer of a verdict read: what Fastify serialises by. */
export const verdictSchema = {
  type: "object",
  properties: {
    verdict: { type: "string" },
    score: { type: "integer" },
    action: { type: "string" },
    detection_ids: { type: "array", items: { type: "integer" } },
    reason: { type: "string" },
  },
} as const;

/** The answer of ingest. */
export const ingestSchema = {
  type: "object",
  properties: {
    session_token: { type: "string" },
    accepted: { type: "integer" },
    duplicates: { type: "integer" },
  },
} as const;

/** Tuples are `items` there and references lead into one schema; what only documents is left out. */
function inDraft7(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inDraft7);
  if (typeof value !== "object" || value === null) return value;
  const { prefixItems, items, $ref, description: _, ...rest } = value as Record<string, unknown>;
  const own: Record<string, unknown> = {};
  for (const [key, each] of Object.entries(rest)) own[key] = inDraft7(each);
  if (typeof $ref === "string") own["$ref"] = `#/definitions/${$ref.slice(ofDocument.length)}`;
  if (prefixItems !== undefined) {
    own["items"] = inDraft7(prefixItems);
    own["additionalItems"] = false;
  } else if (items !== undefined) own["items"] = inDraft7(items);
  return own;
}
