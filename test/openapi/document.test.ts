/** The OpenAPI document: the route table and nothing else, whole in itself, and of one mind with the checks of requests. */

import t, { type Test } from "tap";
import type { JsonObject } from "../../src/contract/api/json-body.js";
import { schemaOf } from "../../src/contract/api/openapi-schemas.js";
import { checkBody } from "../../src/contract/validators.js";
import { Refusal } from "../../src/errors.js";
import { checkBatch } from "../../src/ingest/decode-batch.js";
import { startService } from "../http/service.js";
import { event } from "../support/batches.js";
import { mistakesOf, type Schema } from "./json-schema.js";

// biome-ignore lint/suspicious/noExplicitAny: the document is looked at as the plain JSON it is
async function served(t: Test, flags = {}): Promise<{ document: any; rows: string[] }> {
  const service = await startService(t, flags);
  const answer = await service.ask("GET", "/openapi.json");
  const rows = service.server.routes.map(
    ({ method, path }) => `${method === "del" ? "delete" : method} ${path.replace(/:([a-z_]+)/g, "{$1}")}`,
  );
  return { document: answer.json, rows };
}

function operationsOf(document: { paths: Record<string, Record<string, Record<string, unknown>>> }) {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, path, operation })),
  );
}

const usual = await served(t, { demo: "false" });
const withDemo = await served(t, { demo: "true" });

for (const [demo, { document, rows }] of [
  ["true", withDemo],
  ["false", usual],
] as const) {
  t.test(`every route is in the document and nothing else (--demo ${demo})`, async (t) => {
    t.same(
      operationsOf(document)
        .map(({ name }) => name)
        .sort(),
      rows.toSorted(),
    );
    t.equal(rows.includes("get /demo"), demo === "true");
  });
}

t.test("the document is whole in itself", async (t) => {
  const { document } = usual;
  const operations = operationsOf(document);
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) => path!);
  t.ok(references.length > 50, "there are references");
  for (const reference of new Set(references)) {
    const target = reference.split("/").reduce((at, name) => at?.[name], document);
    t.ok(target, `${reference} leads somewhere`);
  }
  const ids = operations.map(({ operation }) => operation["operationId"]);
  t.equal(new Set(ids).size, ids.length, "operation ids are unique");
  const tags = new Set(document.tags.map(({ name }: { name: string }) => name));
  for (const { name, path, operation } of operations) {
    const parameters = (operation["parameters"] ?? []) as { in: string; name: string; required: boolean }[];
    const inPath = parameters.filter((each) => each.in === "path" && each.required).map((each) => each.name);
    t.same(
      inPath,
      [...path.matchAll(/\{([a-z_]+)\}/g)].map(([, each]) => each),
      `${name} lists its path's parameters`,
    );
    t.ok((operation["tags"] as string[]).every((tag) => tags.has(tag)));
    t.ok(operation["summary"], `${name} has a summary`);
    for (const scheme of (operation["security"] as object[]).flatMap(Object.keys)) {
      t.ok(document.components.securitySchemes[scheme], `${name}: ${scheme} is a security scheme`);
    }
  }
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    t.doesNotThrow(
      () => mistakesOf({}, schema as Schema, { components: document.components.schemas, closed: false }),
      name,
    );
  }
});

t.test("what a route needs is what the document says", async (t) => {
  const { document } = usual;
  const project = operationsOf(document).filter(({ path }) => path.startsWith("/v1/projects/"));
  t.ok(project.length > 10);
  for (const { name, operation } of project) {
    t.same(operation["security"], [{ accountToken: [] }], name);
    for (const status of ["401", "403", "404"])
      t.ok((operation["responses"] as object)[status as never], `${name} ${status}`);
  }
  t.same(document.paths["/v1/events"].post.security, [{ siteKey: [] }, {}]);
  for (const path of ["verdict", "logged-in"]) {
    const [operation] = Object.values<{ security: unknown }>(document.paths[`/v1/sessions/{session_token}/${path}`]);
    t.same(operation!.security, [{ privateKey: [] }, { privateKeyHeader: [] }]);
  }
  t.notOk(JSON.stringify(document.paths).includes('"429"'), "nothing is ever rate limited");
});

const draft = { name: "r", expression: "score < 5", action: "block" };
const bodies: readonly [
  name: Parameters<typeof schemaOf>[0],
  passes: (value: unknown) => boolean,
  values: unknown[],
][] = [
  [
    "RotateBody",
    (value) => "value" in checkBody("RotateBody", value),
    [{ type: "site" }, { type: "x" }, {}, { type: "private", more: 1 }],
  ],
  [
    "SettingsBody",
    (value) => "value" in checkBody("SettingsBody", value),
    [
      {},
      { likely_bot_threshold: 1 },
      { likely_bot_threshold: 0 },
      { likely_bot_threshold: 99.5 },
      { likely_bot_threshold: 100 },
      { likely_bot_threshold: null },
      { allow_verified: "true" },
      { logged_in_policy: "whitelist" },
      { logged_in_policy: "never" },
    ],
  ],
  [
    "RuleBody",
    (value) => "value" in checkBody("RuleBody", value),
    [
      draft,
      {},
      { ...draft, name: "" },
      { ...draft, name: "a".repeat(255) },
      { ...draft, name: "a".repeat(256) },
      { ...draft, action: "explode" },
      { ...draft, sort_order: -1 },
      { ...draft, sort_order: 1.5 },
      { ...draft, is_active: 1 },
    ],
  ],
  [
    "RuleChangeBody",
    (value) => "value" in checkBody("RuleChangeBody", value),
    [{}, { name: "b" }, { name: "" }, { action: "x" }],
  ],
  [
    "RuleTestBody",
    (value) => "value" in checkBody("RuleTestBody", value),
    [draft, { ...draft, limit: 0 }, { ...draft, limit: 1000 }, { ...draft, limit: 1001 }, { expression: "score < 5" }],
  ],
  [
    "TokenBody",
    (value) => "value" in checkBody("TokenBody", value),
    [
      { abilities: ["*"] },
      {},
      { abilities: [] },
      { abilities: ["x"] },
      { abilities: "*" },
      { abilities: Array(6).fill("*") },
    ],
  ],
  [
    "IngestBatch",
    (value) => !(checkBatch(value as JsonObject) instanceof Refusal),
    [
      [event("abcdefgh")],
      [],
      [{ ...event("abcdefgh"), more: 1 }],
      [event("short")],
      [event("abcdefgh", { password: "x" })],
      [event("abcdefgh", { points: [[0, 1, 2]] })],
      [event("abcdefgh", { points: [[0, 1, 2, 3]] })],
      [event("abcdefgh", { points: [[0, 1]] })],
      [event("abcdefgh", { depth: 1.1 })],
      [event("abcdefgh", { direction: "sideways" })],
      [event("abcdefgh", { languages: ["en", "de"], plugins: 3, platform: "x".repeat(513) })],
      [{ ...event("abcdefgh"), type: "telepathy" }],
      [{ ...event("abcdefgh"), received_at: "yesterday" }],
      Array.from({ length: 101 }, () => event("abcdefgh")),
    ].map((events) => ({ session_token: null, events })),
  ],
];

t.test("a body passes the document's schema just when it passes the check of requests", async (t) => {
  const { document } = usual;
  const options = { components: document.components.schemas, closed: false };
  for (const [name, passes, values] of bodies) {
    const outcomes = values.map((value) => passes(value));
    t.ok(outcomes.includes(true) && outcomes.includes(false), `${name}: there are good and bad bodies`);
    for (const [index, value] of values.entries()) {
      const mistakes = mistakesOf(value, schemaOf(name), options);
      t.equal(mistakes.length === 0, outcomes[index], `${name} ${index}: ${mistakes.join("; ") || "fits"}`);
    }
  }
});
