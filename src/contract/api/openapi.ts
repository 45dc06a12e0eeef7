/**
 * The OpenAPI 3.1 document, made from the route table: schemas come from the types that validate requests, everything else from each route's `doc`.
 * Pure; uses no handler.
 */
import { type ErrorKind, type ErrorName, errors } from "../../errors.js";
import type { TokenNeed } from "./access.js";
import { componentSchemas, schemaOf } from "./openapi-schemas.js";
import { type AnswerDoc, type JsonSchema, type ParameterDoc, type RouteDoc, routeTags } from "./route-doc.js";

/** The part of a route's row that the document needs. */
export interface DocumentedRoute {
  readonly method: "get" | "post" | "put" | "patch" | "del" | "options";
  /** With `:names`. */
  readonly path: string;
  readonly credential: "none" | "token" | "project" | "private-key" | "private-key-raw" | "site-key";
  /** For routes with an account token. */
  readonly needs?: TokenNeed;
  readonly needsSubscription?: boolean;
  readonly feature?: string;
  readonly doc: RouteDoc;
}

/** The document's version is the API's (`/v1`), not the program's. */
const apiVersion = "1";

/** The whole document as a JSON value. Throws when a route names a type that has no schema. */
export function openApiDocument(routes: readonly DocumentedRoute[]): JsonSchema {
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:([a-z_]+)/g, "{$1}");
    paths[path] ??= {};
    paths[path][route.method === "del" ? "delete" : route.method] = operation(route);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "verdictd",
      version: apiVersion,
      description: "Scores visitor sessions for bot-likelihood from interaction signals and says what to do with each.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    tags: routeTags.map((name) => ({ name })),
    paths,
    components: { schemas: componentSchemas(), securitySchemes, headers: { RequestId: requestIdHeader } },
  };
}

const securitySchemes = {
  accountToken: { type: "http", scheme: "bearer", description: "Account API token." },
  siteKey: { type: "apiKey", in: "header", name: "X-Service-Site-Key", description: "Public site key, `pk_…`." },
  privateKey: { type: "http", scheme: "bearer", description: "Private key, `sk_…`: server-side only." },
  privateKeyHeader: {
    type: "apiKey",
    in: "header",
    name: "X-Service-Private-Key",
    description: "The private key, in a header of its own.",
  },
} as const;

type SecurityScheme = keyof typeof securitySchemes;

/** Returns the alternatives by credential; `{}` if the body may contain the key instead. */
const security: Readonly<Record<DocumentedRoute["credential"], readonly { readonly [S in SecurityScheme]?: [] }[]>> = {
  none: [],
  token: [{ accountToken: [] }],
  project: [{ accountToken: [] }],
  "private-key": [{ privateKey: [] }, { privateKeyHeader: [] }],
  "private-key-raw": [{ privateKey: [] }, { privateKeyHeader: [] }],
  "site-key": [{ siteKey: [] }, {}],
};

const requestIdHeader = { description: "Names this request in the server's log.", schema: { type: "string" } };

const pathParameters: Readonly<Record<string, JsonSchema>> = {
  project: { type: "integer", minimum: 1 },
  rule: { type: "integer", minimum: 1 },
  token: { type: "integer", minimum: 1 },
  user: { type: "integer", minimum: 1 },
  session_token: { type: "string", pattern: "^sess_[A-Za-z0-9_-]{1,128}$" },
};

function operation(route: DocumentedRoute): JsonSchema {
  const { doc } = route;
  const description = [doc.description, powersOf(route)].filter((text) => text !== undefined).join("\n\n");
  const parameters = [...pathParametersOf(route.path), ...(doc.parameters ?? []).map(parameter)];
  return {
    operationId: doc.id,
    tags: [doc.tag],
    summary: doc.summary,
    ...(description !== "" && { description }),
    security: security[route.credential],
    ...(parameters.length > 0 && { parameters }),
    ...(doc.body !== undefined && { requestBody: requestBody(doc) }),
    responses: { ...successes(doc), ...failures(route) },
  };
}

/** What a token needs besides being valid. */
function powersOf({ feature, needs = "any-token" }: DocumentedRoute): string | undefined {
  const words: string[] = [];
  if (feature !== undefined) words.push(`Needs a plan with the feature \`${feature}\`.`);
  if (needs === "writing-role") {
    words.push(
      "Needs a role other than viewer, and under `--strict-abilities` a token with the ability `projects:write` as well.",
    );
  } else if (needs === "administration") {
    words.push("Needs a token of an owner or admin, with the ability `projects:write`.");
  } else if (needs !== "any-token")
    words.push(`Needs a token with the ability \`${needs}\`, within its holder's role.`);
  return words.length === 0 ? undefined : words.join(" ");
}

function pathParametersOf(path: string): JsonSchema[] {
  return [...path.matchAll(/:([a-z_]+)/g)].map(([, name]) => ({
    in: "path",
    name,
    required: true,
    schema: pathParameters[name!] ?? { type: "string" },
  }));
}

function parameter({ in: place, name, description, schema }: ParameterDoc): JsonSchema {
  return { in: place, name, required: false, description, schema };
}

function requestBody({ body, bodyOptional, bodyTypes = ["application/json"] }: RouteDoc): JsonSchema {
  const schema = schemaOf(body!);
  const content = Object.fromEntries(bodyTypes.map((type) => [type, { schema }]));
  return { required: bodyOptional !== true, content };
}

const headers = { "X-Request-Id": { $ref: "#/components/headers/RequestId" } };

function successes({ answers }: RouteDoc): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.entries(answers).map(([status, answer]) => [
      status,
      { description: successWords[status] ?? "Done", headers, ...content(answer) },
    ]),
  );
}

const successWords: Readonly<Record<string, string>> = {
  "201": "Created",
  "202": "Accepted and stored",
  "204": "Done; no body",
  "503": "Not ready",
};

function content(answer: AnswerDoc): { content?: JsonSchema } {
  if (answer === "empty") return {};
  if (typeof answer === "object") return { content: { [answer.contentType]: { schema: { type: "string" } } } };
  return { content: { "application/json": { schema: schemaOf(answer) } } };
}

/** The refusals for credential, path and body, and the route's own, one answer per status. */
function failures(route: DocumentedRoute): Record<string, JsonSchema> {
  const names = new Set<ErrorName>([...impliedRefusals(route), ...(route.doc.refusals ?? [])]);
  const byStatus = new Map<number, ErrorKind[]>();
  for (const name of names) {
    const kind: ErrorKind = errors[name];
    byStatus.set(kind.status, [...(byStatus.get(kind.status) ?? []), kind]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, kinds]) => [
      status,
      {
        description: kinds.map((kind) => (kind.code === undefined ? kind.title : `\`${kind.code}\``)).join(", "),
        headers,
        content: { "application/json": { schema: errorSchema(kinds) } },
      },
    ]),
  );
}

function impliedRefusals(route: DocumentedRoute): ErrorName[] {
  const implied: ErrorName[] = route.doc.body === undefined ? [] : ["invalidPayload"];
  if (route.credential === "none" || route.doc.refusesNobody === true) return implied;
  implied.push("unauthenticated", "internal");
  if (route.credential === "project") implied.push("forbidden", "notFound");
  else if (route.credential !== "token" || route.needsSubscription === true) implied.push("noActiveSubscription");
  if (route.feature !== undefined) implied.push("featureNotAvailable");
  if (route.needs !== undefined && route.needs !== "any-token") implied.push("insufficientTokenAbility");
  return implied;
}

/** Returns the error body with only the codes of this status. */
function errorSchema(kinds: readonly ErrorKind[]): JsonSchema {
  const $ref = schemaOf("ErrorAnswer")["$ref"];
  const codes = kinds.flatMap(({ code }) => (code === undefined ? [] : [code]));
  if (codes.length === 0) return { $ref, not: { required: ["code"] } };
  const schema = { $ref, properties: { code: { enum: codes } } };
  return codes.length === kinds.length ? { ...schema, required: ["code"] } : schema;
}
