/**
 * The tables of `/docs` that must never differ from the program: made, when the server starts, of the lists that the program itself
 * works by. Pure; every text is escaped.
 */
import { environmentName, serveOptions } from "../config/config.js";
import { componentSchemas } from "../contract/api/openapi-schemas.js";
import type { JsonSchema } from "../contract/api/route-doc.js";
import { detections, publicCatalogue } from "../detections/catalogue.js";
import { operatorsOfType } from "../rules/check.js";
import { fields } from "../rules/fields.js";
import { pagePartExtensions, staticExtensions } from "../verdict/static-resource.js";
import { code, escapeHtml, prose, table } from "./html.js";
import { schemaWords } from "./schema-words.js";

/** Fields of the rules language: type, unit, operators, meaning. */
export function fieldsTable(): string {
  return table(
    ["Field", "Type", "Values", "Operators", "Meaning"],
    fields.map((field) => [
      code(field.name),
      escapeHtml(field.type),
      "members" in field ? field.members.map(code).join(" ") : escapeHtml(field.unit),
      operatorsOfType[field.type].map(code).join(" "),
      prose(field.meaning),
    ]),
  );
}

/** Every detection, by id, with the source of its idea. */
export function detectionsTable(): string {
  const sources = new Map(detections.map(({ id, source }) => [id, source]));
  const subjects = new Map(detections.map(({ id, subjects }) => [id, subjects]));
  return table(
    ["Id", "Name", "Engine", "About", "Severity", "State", "Meaning", "Source"],
    publicCatalogue().map(({ id, slug, engine, severity, state, meaning }) => [
      `<span id="d${id}">${id}</span>`,
      code(slug),
      escapeHtml(engine),
      (subjects.get(id) ?? []).map((subject) => `${subject}s`).join(", "),
      severity,
      state,
      prose(meaning),
      prose(sources.get(id) ?? ""),
    ]),
  );
}

/** Options of `serve`: flag, environment twin, default on this machine. */
export function configurationTable(): string {
  return table(
    ["Flag", "Environment", "Default", "Meaning"],
    Object.entries(serveOptions).map(([name, { placeholder, fallback, help }]) => [
      code(placeholder === "" ? `--${name}` : `--${name} ${placeholder}`),
      code(environmentName(name)),
      escapeHtml(String(fallback) || "none"),
      prose(help),
    ]),
  );
}

/** Event types, and each key a payload may hold. */
export function eventsTable(): string {
  const schemas = componentSchemas();
  const properties = (schemas["EventPayload"]?.["properties"] ?? {}) as Readonly<Record<string, JsonSchema>>;
  const event = schemas["IngestEvent"]?.["properties"] as Readonly<Record<string, JsonSchema>> | undefined;
  const types = typesOf(event?.["type"], schemas);
  const rows = Object.entries(properties).map(([name, schema]) => [
    code(name),
    schemaWords(schema),
    prose(String(schema["description"] ?? "")),
  ]);
  return `<p>Event types: ${types.map(code).join(" ")}</p>\n${table(["Key", "Form", "Meaning"], rows)}`;
}

function typesOf(schema: JsonSchema | undefined, schemas: Readonly<Record<string, JsonSchema>>): readonly string[] {
  const name = String(schema?.["$ref"] ?? "").replace("#/components/schemas/", "");
  return ((name === "" ? schema : schemas[name])?.["enum"] ?? []) as readonly string[];
}

/** Extensions by which a path counts as a static resource. */
export function staticExtensionsList(): string {
  return extensionsList(staticExtensions);
}

/** Those by which a path counts as a part of a page. */
export function pagePartExtensionsList(): string {
  return extensionsList(pagePartExtensions);
}

function extensionsList(extensions: ReadonlySet<string>): string {
  return `<p>${[...extensions].map(code).join(" ")}</p>`;
}
