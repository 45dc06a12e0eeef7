/** A JSON schema in a few words, for tables. Pure; what it returns is HTML. */
import type { JsonSchema } from "../contract/api/route-doc.js";
import { code, escapeHtml } from "./html.js";

const refPrefix = "#/components/schemas/";

/** Form and bounds: "text, at most 512 characters". Names of types link to their table on the API page. */
export function schemaWords(schema: JsonSchema): string {
  const { $ref, type, enum: members, oneOf, anyOf } = schema;
  if (typeof $ref === "string") return typeLink($ref.replace(refPrefix, ""));
  if (Array.isArray(members)) return members.map((member) => code(JSON.stringify(member))).join(" ");
  if ("const" in schema) return code(JSON.stringify(schema["const"]));
  const choices = (oneOf ?? anyOf) as readonly JsonSchema[] | undefined;
  if (choices !== undefined) return choices.map(schemaWords).join(" or ");
  if (type === "array") return arrayWords(schema);
  if (type === "string") return `text${boundsOf(schema)}`;
  if (type === "object") return "object";
  return `${escapeHtml(String(type ?? "any value"))}${boundsOf(schema)}`;
}

/** A link to the type of this name on the page of the API. */
function typeLink(name: string): string {
  return `<a href="/docs/api#type-${escapeHtml(name)}">${escapeHtml(name)}</a>`;
}

function arrayWords({ items, prefixItems, maxItems }: JsonSchema): string {
  if (Array.isArray(prefixItems)) return `row of ${prefixItems.length} numbers`;
  const most = typeof maxItems === "number" ? `, at most ${maxItems}` : "";
  return `list of (${schemaWords((items ?? {}) as JsonSchema)})${most}`;
}

function boundsOf({ minimum, maximum, maxLength, pattern }: JsonSchema): string {
  const words = [
    minimum !== undefined && `from ${minimum}`,
    maximum !== undefined && `to ${maximum}`,
    maxLength !== undefined && `at most ${maxLength} characters`,
    pattern !== undefined && `pattern ${code(String(pattern))}`,
  ].filter((each) => typeof each === "string");
  return words.length === 0 ? "" : `, ${words.join(" ")}`;
}
