/** Parameters of a query in one scan, decoded as the URL standard says (`application/x-www-form-urlencoded` parsing). */

/** Returns the first value of each of these parameters, in their order; undefined for a missing one. `query` is the text after the `?`. */
export function firstValues<Names extends readonly string[]>(
  query: string,
  names: Names,
): { -readonly [Index in keyof Names]: string | undefined } {
  const values: (string | undefined)[] = names.map(() => undefined);
  // As `URLSearchParams` does: drops another `?` at the start.
  let start = query.startsWith("?") ? 1 : 0;
  while (start < query.length) {
    const ampersand = query.indexOf("&", start);
    const end = ampersand === -1 ? query.length : ampersand;
    const equals = query.indexOf("=", start);
    const nameEnd = equals === -1 || equals > end ? end : equals;
    const index = names.indexOf(decodedForm(query.slice(start, nameEnd)));
    if (index !== -1) values[index] ??= decodedForm(query.slice(Math.min(nameEnd + 1, end), end));
    start = end + 1;
  }
  return values as { -readonly [Index in keyof Names]: string | undefined };
}

/** Decodes a name or value as forms encode it: `+` is a space, `%41` a byte of UTF-8; invalid UTF-8 becomes U+FFFD, any other `%` stays. */
function decodedForm(text: string): string {
  const spaced = text.includes("+") ? text.replaceAll("+", " ") : text;
  if (!spaced.includes("%")) return spaced;
  const bytes = Buffer.from(spaced);
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const high = bytes[at] === percent ? hexDigit(bytes[at + 1]) : -1;
    const low = high === -1 ? -1 : hexDigit(bytes[at + 2]);
    if (low === -1) bytes[length++] = bytes[at]!;
    else {
      bytes[length++] = 16 * high + low;
      at += 2;
    }
  }
  return bytes.toString("utf8", 0, length);
}

const percent = 0x25;

/** Returns -1 for anything but a hexadecimal digit. */
function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return -1;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : -1;
}
