/** The API page of `/docs`, made of the OpenAPI document. Pure; every text is escaped. */
import type { JsonSchema } from "../contract/api/route-doc.js";
import { code, escapeHtml, prose, slugOf, table } from "./html.js";
import { schemaWords } from "./schema-words.js";

interface Operation {
  readonly path: string;
  readonly method: string;
  readonly doc: JsonSchema;
}

/** Operations by tag, then the types they take and give. */
export function apiReference(document: JsonSchema): string {
  const operations = operationsOf(document);
  const tags = (document["tags"] as readonly { readonly name: string }[]).map(({ name }) => name);
  const sections = tags.map((tag) => {
    const own = operations.filter(({ doc }) => (doc["tags"] as readonly string[]).includes(tag));
    return `<h2 id="${slugOf(tag)}">${escapeHtml(tag)}</h2>\n${own.map(operationSection).join("\n")}`;
  });
  const schemas = (document["components"] as { readonly schemas: Readonly<Record<string, JsonSchema>> }).schemas;
  const types = Object.entries(schemas).map(([name, schema]) => typeSection(name, schema));
  return `${overview(operations)}\n${sections.join("\n")}\n<h2 id="types">Types</h2>\n${types.join("\n")}`;
}

function operationsOf(document: JsonSchema): Operation[] {
  const paths = document["paths"] as Readonly<Record<string, Readonly<Record<string, JsonSchema>>>>;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, doc]) => ({ path, method: method.toUpperCase(), doc })),
  );
}

function idOf({ doc }: Operation): string {
  return `op-${escapeHtml(String(doc["operationId"]))}`;
}

function overview(operations: readonly Operation[]): string {
  const rows = operations.map((operation) => [
    `<a href="#${idOf(operation)}"><span class="method">${operation.method}</span> ${escapeHtml(operation.path)}</a>`,
    prose(String(operation.doc["summary"])),
    credentialWords(operation.doc),
  ]);
  return table(["Route", "What it does", "Credential"], rows);
}

function operationSection(operation: Operation): string {
  const { method, path, doc } = operation;
  const heading = `<h3 id="${idOf(operation)}"><span class="method">${method}</span> ${escapeHtml(path)}</h3>`;
  const parts: string[] = [];
  if (doc["description"] !== undefined) parts.push(`<p>${prose(String(doc["description"]))}</p>`);
  parts.push(`<p class="dim">Credential: ${credentialWords(doc)}</p>`);
  const parameters = (doc["parameters"] ?? []) as readonly JsonSchema[];
  if (parameters.length > 0) parts.push(table(["Parameter", "In", "Form", "Meaning"], parameters.map(parameterRow)));
  const body = doc["requestBody"] as JsonSchema | undefined;
  if (body !== undefined) parts.push(`<p>Body: ${contentWords(body)}</p>`);
  const answers = Object.entries(doc["responses"] as Readonly<Record<string, JsonSchema>>);
  parts.push(
    table(
      ["Status", "When", "Body"],
      answers.map(([status, answer]) => [status, prose(String(answer["description"])), contentWords(answer)]),
    ),
  );
  return folded(`${heading} ${prose(String(doc["summary"]))}`, parts.join("\n"));
}

/** Shown on demand: the page is long. A link to the heading leads to it, and opens it where scripts run. */
function folded(summary: string, html: string): string {
  return `<details class="folded"><summary>${summary}</summary>\n${html}\n</details>`;
}

function parameterRow({ name, in: place, schema, description }: JsonSchema): string[] {
  return [
    code(String(name)),
    escapeHtml(String(place)),
    schemaWords((schema ?? {}) as JsonSchema),
    prose(String(description ?? "")),
  ];
}

const credentialNames: Readonly<Record<string, string>> = {
  accountToken: "account token",
  siteKey: "site key",
  privateKey: "private key",
  privateKeyHeader: "private key in X-Service-Private-Key",
};

function credentialWords({ security }: JsonSchema): string {
  const ways = ((security ?? []) as readonly JsonSchema[]).flatMap((way) => Object.keys(way));
  return ways.length === 0 ? "none" : ways.map((way) => escapeHtml(credentialNames[way] ?? way)).join(", or ");
}

function contentWords({ content }: JsonSchema): string {
  const forms = Object.entries((content ?? {}) as Readonly<Record<string, { readonly schema?: JsonSchema }>>);
  if (forms.length === 0) return "none";
  return forms.map(([type, { schema }]) => `${schemaWords(schema ?? {})} as ${code(type)}`).join(", or ");
}

function typeSection(name: string, schema: JsonSchema): string {
  const heading = `<h3 id="type-${escapeHtml(name)}">${escapeHtml(name)}</h3>`;
  const words = schema["description"] === undefined ? "" : `<p>${prose(String(schema["description"]))}</p>`;
  const properties = Object.entries((schema["properties"] ?? {}) as Readonly<Record<string, JsonSchema>>);
  if (properties.length === 0) return folded(heading, `${words}\n<p>${schemaWords(schema)}</p>`);
  const required = new Set((schema["required"] ?? []) as readonly string[]);
  const rows = properties.map(([key, each]) => [
    code(key),
    required.has(key) ? "always" : "optional",
    schemaWords(each),
    prose(String(each["description"] ?? "")),
  ]);
  return folded(heading, `${words}\n${table(["Key", "There", "Form", "Meaning"], rows)}`);
}
