/** Properties as assertions: tap passes a test that asserts nothing, and an exception alone is no assertion. */
import fc, { type IAsyncProperty, type IProperty, type Parameters } from "fast-check";
import type { Test } from "tap";

/** Any character but a half surrogate, as a unit of strings. fast-check's own "binary" makes a table of all of them first: two seconds of processor time. */
export const anyCharacter: fc.Arbitrary<string> = fc
  .nat(0x10f7ff)
  .map((n) => String.fromCodePoint(n < 0xd800 ? n : n + 0x800));

/** Asserts that a property holds for many random values; a failure shows the smallest counterexample and the seed that finds it again. */
export function holds<Values extends [unknown, ...unknown[]]>(
  t: Test,
  property: IProperty<Values>,
  parameters: Parameters<Values> = {},
): void {
  const details = fc.check(property, parameters);
  t.equal(fc.defaultReportMessage(details), undefined, `holds for ${details.numRuns} values`);
}

/** The same of a property that takes its time. */
export async function holdsInTime<Values extends [unknown, ...unknown[]]>(
  t: Test,
  property: IAsyncProperty<Values>,
  parameters: Parameters<Values> = {},
): Promise<void> {
  const details = await fc.check(property, parameters);
  t.equal(await fc.asyncDefaultReportMessage(details), undefined, `holds for ${details.numRuns} values`);
}
