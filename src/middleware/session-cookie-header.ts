/** Puts the cookie with a fresh session token into an answer, whatever else sets headers of it, and keeps shared caches from storing the answer. */

/** What is used of Node's `ServerResponse`. */
export interface HeaderWriter {
  getHeader(name: string): unknown;
  setHeader(name: string, value: string | readonly string[]): unknown;
  // biome-ignore lint/suspicious/noExplicitAny: Node's own has several forms
  writeHead(...args: any[]): unknown;
}

/** Returns the `Cache-Control` of an answer with a fresh token, where the application set this one. */
export function privateCaching(set: string): string {
  return /\bno-store\b/i.test(set) ? set : "private";
}

/** Adds the cookie when the answer's headers are written, so that nothing that the application sets later can lose it. */
export function addCookieOnWrite(response: HeaderWriter, setCookie: string): void {
  const writeHead = response.writeHead;
  response.writeHead = function (this: HeaderWriter, status: unknown, ...rest: unknown[]) {
    response.writeHead = writeHead;
    const reason = typeof rest[0] === "string" ? [rest[0]] : [];
    const given = rest[reason.length];
    for (const [name, value] of entriesOf(given)) response.setHeader(name, value);
    const cookies = textsOf(response.getHeader("set-cookie"));
    response.setHeader("Set-Cookie", [...cookies, setCookie]);
    response.setHeader("Cache-Control", privateCaching(textsOf(response.getHeader("cache-control")).join(", ")));
    return writeHead.call(this, status, ...reason);
  };
}

/** Headers as `writeHead` takes them: an object, a list of pairs, or names and values one after the other. Values of one name are kept together. */
function entriesOf(given: unknown): Iterable<readonly [string, string | readonly string[]]> {
  if (typeof given !== "object" || given === null) return [];
  const entries = new Map<string, string[]>();
  const add = (name: unknown, value: unknown): void => {
    const key = String(name).toLowerCase();
    entries.set(key, [...(entries.get(key) ?? []), ...textsOf(value)]);
  };
  if (!Array.isArray(given)) for (const [name, value] of Object.entries(given)) add(name, value);
  else if (given.every((each) => Array.isArray(each))) for (const [name, value] of given) add(name, value);
  else for (let at = 0; at + 1 < given.length; at += 2) add(given[at], given[at + 1]);
  return [...entries].map(([name, values]) => [name, values.length === 1 ? values[0]! : values] as const);
}

function textsOf(value: unknown): string[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value.map(String) : [String(value)];
}
