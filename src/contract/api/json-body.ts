/** Parses request bodies as JSON objects. Pure; the first step for any body. */
import { isUtf8 } from "node:buffer";
import { type Refusal, refuse } from "../../errors.js";

/** A body that is a JSON object, with nothing else checked yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Returns the body as a JSON object, or an `invalidPayload` refusal. */
export function parseJsonObject(body: Buffer): JsonObject | Refusal {
  return isUtf8(body) ? parseLenientJsonObject(body) : refuse("invalidPayload", "the body is not valid UTF-8");
}

/** The same, with U+FFFD for bytes that are not UTF-8: for a backend's bodies with copies of what a visitor sent. */
export function parseLenientJsonObject(body: Buffer): JsonObject | Refusal {
  return parseLenientJsonText(body.toString("utf8"));
}

/** The same for such a body's text. */
export function parseLenientJsonText(text: string): JsonObject | Refusal {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refuse("invalidPayload", "the body is not valid JSON");
  }
  return isJsonObject(value) ? value : refuse("invalidPayload", "the body must be a JSON object");
}

/** Whether it is an object, no list and not null. Does not check its values. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
