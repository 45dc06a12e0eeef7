/** Values of a request context that accept only certain texts; any other text counts as missing. */

/** Returns 1 to 20 ASCII letters in capitals; undefined for anything that is no method. */
export function goodMethod(text: string): string | undefined {
  return /^[A-Za-z]{1,20}$/.test(text) ? text.toUpperCase() : undefined;
}
