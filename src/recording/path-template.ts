/** Paths without what tells one visitor or thing from another: templates to count by, and paths that samples may keep. Pure. */

/** Segments of a template: what lies deeper counts to the same. */
const segmentsMax = 4;
/** Characters of a segment; a longer one is nobody's name for a page. */
const segmentCharactersMax = 64;
const placeholder = "*";

/**
 * Returns the first four segments of a path, with `*` for each that looks like an id, a UUID, a number, a token or an e-mail address: "4711"
 * in "/orders/4711/items". Path parameters (`;x`) and a final "/" are dropped. "" for no path. Takes the
 * spelling of `rulePath`.
 */
export function pathTemplate(path: string): string {
  return withSegments(path, segmentsMax, (segment) => isNumber(segment) || isSecret(segment) || isId(segment));
}

/** Returns a path with `*` for each segment that looks like a token, a UUID or an e-mail address. "" for no path. */
export function pathWithoutTokens(path: string): string {
  return withSegments(path, 2 ** 30, isSecret);
}

function withSegments(path: string, max: number, isReplaced: (segment: string) => boolean): string {
  if (!path.startsWith("/")) return path === "" ? "" : placeholder;
  const segments = path.split("/", max + 1).slice(1);
  const kept = segments.map((segment) => {
    const end = segment.indexOf(";");
    const name = end < 0 ? segment : segment.slice(0, end);
    return isReplaced(name) ? placeholder : name;
  });
  while (kept.length > 1 && kept.at(-1) === "") kept.pop();
  return `/${kept.join("/")}`;
}

/** Digits, also with signs between: `4711`, `2026-11-26`, `1.5`. */
function isNumber(segment: string): boolean {
  return /^[+-]?\d+(?:[.,:_-]\d+)*$/.test(segment);
}

/** `order-12345`, `ORD4711`, `a1b2c3d4` or a segment that is too long for a name. */
function isId(segment: string): boolean {
  if (segment.length > segmentCharactersMax) return true;
  return /\d{4}/.test(segment) || segment.split(separators).some((run) => isHex(run) && run.length >= 8);
}

const separators = /[^A-Za-z0-9]+/;

/** A token or an e-mail address: what may let somebody in, or tells who it is. */
function isSecret(segment: string): boolean {
  if (segment.length < 6) return false;
  if (/[^/]@[^/]*[^/.]\.[^/]/.test(segment) || /%40/.test(segment)) return true;
  return uuid.test(segment) || segment.split(separators).some(isRandom);
}

const uuid = /[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}/i;

/** A run of letters and digits in no order that a word has. */
function isRandom(run: string): boolean {
  if (run.length < 6) return false;
  const digits = run.match(/\d+/g)?.length ?? 0;
  const hasBothCases = /[a-z]/.test(run) && /[A-Z]/.test(run);
  if (hasBothCases && digits >= 2) return true;
  if (run.length >= 16 && digits >= 1 && /[A-Za-z]/.test(run)) return true;
  if (run.length >= 12 && digits >= 3) return true;
  if (run.length >= 20 && (run.match(/[a-z][A-Z]/g)?.length ?? 0) >= 4) return true;
  return run.length >= 32;
}

/** Hexadecimal with a digit and a letter in it. */
function isHex(run: string): boolean {
  return /^[0-9a-f]+$/i.test(run) && /\d/.test(run) && /[a-f]/i.test(run);
}
