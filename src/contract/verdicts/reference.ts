/** What visitors see as a reference: the `X-Request-Id` of the answer that blocked or challenged them. */

/** As `request-id.ts` makes it; before, it had a counter at its end, as stored blocks still have. */
const forms = /^(?:[0-9a-f]{6}-[0-9a-f]{16}|[0-9a-f]{12}-[0-9a-z]+)$/i;

/** Whether a text has the form of a reference; letter case does not count, since people read it out. */
function isReference(text: string): boolean {
  return forms.test(text);
}

/** The reference in what people paste, such as the whole line of the page that they saw, in lower case; null: none. */
export function referenceIn(text: string): string | null {
  return (
    text
      .toLowerCase()
      .split(/[^0-9a-z-]+/)
      .find(isReference) ?? null
  );
}
