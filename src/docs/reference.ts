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
    prose(String(schema["description"] ?? keyMeanings[name] ?? "")),
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

/** Keys whose name says nearly all; the others are described where the type is declared. */
const keyMeanings: Readonly<Record<string, string>> = {
  path: "path of the page, without its query",
  host: "host of the page",
  referrer_host: "host, and only the host, of the page before",
  title_hash: "a hash of the page's title; accepted, but the SDK sends none",
  visible_ms: "how long the page was visible, ms; accepted, but the SDK sends none",
  active_ms: "how long there was input, ms; accepted, but the SDK sends none",
  idle_ms: "how long there was none, ms; accepted, but the SDK sends none",
  x: "CSS pixels from the left of the viewport",
  y: "CSS pixels from its top",
  dx: "difference to the position before",
  dy: "difference to the position before",
  button: "number of the button",
  buttons: "buttons held, as a bit mask",
  pressure: "of a pen or finger, 0 to 1",
  radius: "of a finger's contact, CSS pixels",
  target_tag: "kind of the element that was hit, such as `button`; never what it says",
  direction: "where a scroll went",
  backspaces: "how many times something was deleted",
  pastes: "how many times something was pasted; never what",
  field_count: "how many fields of a form were touched",
  fill_ms: "how long filling in the form took, ms",
  autofill: "the browser filled a field in",
  submit: "the form was sent",
  webdriver: "`navigator.webdriver`",
  user_agent: "`navigator.userAgent`",
  ua_mobile: "`navigator.userAgentData.mobile`",
  platform: "`navigator.platform`",
  languages: "`navigator.languages`",
  timezone: "the time zone's name",
  cpu: "`navigator.hardwareConcurrency`",
  memory: "`navigator.deviceMemory`, as coarse as the browser gives it",
  touch_points: "`navigator.maxTouchPoints`",
  mime_types: "count (or names) of `navigator.mimeTypes`",
  screen_w: "width of the screen",
  screen_h: "height of the screen",
  avail_w: "width that windows may have",
  avail_h: "height that windows may have",
  inner_w: "width of the viewport",
  inner_h: "height of the viewport",
  outer_w: "width of the window",
  outer_h: "height of the window",
  dpr: "device pixels per CSS pixel",
  color_depth: "bits per pixel",
  webgl_vendor: "name of the graphics vendor; nothing is drawn",
  webgl_renderer: "name of the renderer, to tell software rendering; nothing is drawn",
  ua_architecture: "`architecture` of the client hints",
  ua_bitness: "`bitness` of the client hints",
  ua_full_version: "`uaFullVersion` of the client hints",
  notification_permission: "`Notification.permission`",
  ttfb: "time to the first byte, ms",
  dcl: "time to DOMContentLoaded, ms",
  load: "time to the load event, ms",
  raf_mean: "mean time between animation frames, ms",
  raf_sd: "its standard deviation, ms",
};
