/** Values of a request context that only some texts are good for; any other text counts as missing. */

/** 1 to 20 ASCII letters, in capitals; undefined for what is no method. */
export function goodMethod(text: string): string | undefined {
  return /^[A-Za-z]{1,20}$/.test(text) ? text.toUpperCase() : undefined;
}
