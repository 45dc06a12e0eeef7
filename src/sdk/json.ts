/**
 * JSON as `JSON.stringify` would write it on an untouched page: old libraries put a `toJSON` on the prototypes of arrays and objects, which it
 * would call. For texts, numbers, booleans, null, and lists and plain objects of them; what is undefined is left out.
 */
export function jsonOf(value: unknown): string {
  // The `toJSON` of a primitive's prototype is not asked.
  if (typeof value !== "object" || !value) return JSON.stringify(value);
  let text = "";
  const isList = Array.isArray(value);
  for (const [key, each] of Object.entries(value)) {
    if (each !== undefined) text += (text && ",") + (isList ? "" : `${jsonOf(key)}:`) + jsonOf(each);
  }
  return isList ? `[${text}]` : `{${text}}`;
}
