/** What commands print: one JSON value with `--json`, lines for people without; one line on stderr for what went wrong. */

/** Exit codes: done, refused or failed, wrong usage. */
export const exitCodes = { done: 0, failed: 1, usage: 2 } as const;

/** Refused or failed, as the user should read it: one line. */
export class CommandFailure extends Error {
  override readonly name = "CommandFailure";
}

/** Wrong usage that only the command itself can tell, such as a bad value; one line a mistake. */
export class UsageFailure extends Error {
  override readonly name = "UsageFailure";
}

/** Prints `value` as JSON, or as `key: value` lines. */
export function print(value: object, asJson: boolean): void {
  if (asJson) {
    console.log(JSON.stringify(value));
    return;
  }
  for (const [key, each] of Object.entries(value)) {
    console.log(`${key}: ${typeof each === "object" ? JSON.stringify(each) : each}`);
  }
}
