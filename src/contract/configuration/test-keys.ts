/**
 * Key pairs that always answer the same, for tests of a customer's own site. They are known to everybody and work only while a server runs with
 * `--test-keys`. Key texts of this form are never minted.
 */

/** What a pair always answers. `refused`: asked for a challenge, which never lets in. */
export const testOutcomes = ["human", "bot", "challenge", "refused"] as const;
/** One of `testOutcomes`. */
export type TestOutcome = (typeof testOutcomes)[number];

const sitePrefix = "pk_test_always_";
const privatePrefix = "sk_test_always_";

/** Returns both keys of a pair. */
export function testKeys(outcome: TestOutcome): { readonly siteKey: string; readonly privateKey: string } {
  return { siteKey: sitePrefix + outcome, privateKey: privatePrefix + outcome };
}

/** Returns what a key always answers; undefined for a key that is not a test key. */
export function testOutcomeOf(key: string): TestOutcome | undefined {
  if (!key.startsWith(sitePrefix) && !key.startsWith(privatePrefix)) return undefined;
  const name = key.slice(sitePrefix.length);
  return testOutcomes.find((outcome) => outcome === name);
}
