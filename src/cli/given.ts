/** Reads the texts that a command was given; a bad value is a `UsageFailure` that names the flag. */

import { Refusal } from "../errors.js";
import type { Given } from "./flag.js";
import { CommandFailure, UsageFailure } from "./output.js";

/** A value that the parser made sure of: a required flag or an argument. */
export function textOf(given: Given, name: string): string {
  const text = given[name];
  if (text === undefined) throw new UsageFailure(`--${name} is required`);
  return text;
}

/** A positive whole number. */
export function idOf(given: Given, name: string): number {
  const text = textOf(given, name);
  if (!/^[1-9][0-9]{0,14}$/.test(text)) {
    throw new UsageFailure(`${labelOf(name)}: expected a positive whole number, got "${text}"`);
  }
  return Number(text);
}

/** One of `values`; without a value the fallback, where there is one. */
export function oneOf<T extends string>(given: Given, name: string, values: readonly T[], fallback?: T): T {
  const text = given[name];
  if (text === undefined && fallback !== undefined) return fallback;
  const value = values.find((each) => each === text);
  if (value === undefined) {
    throw new UsageFailure(`${labelOf(name)}: expected ${values.join(" or ")}, got "${text ?? ""}"`);
  }
  return value;
}

/** Some of `values`, as `a,b`; none when the flag is not given. */
export function someOf<T extends string>(given: Given, name: string, values: readonly T[]): readonly T[] {
  const texts = given[name]?.split(",").map((text) => text.trim()) ?? [];
  return texts.map((text) => oneOf({ [name]: text }, name, values));
}

/** Arguments are named in capitals, flags in small letters. */
function labelOf(name: string): string {
  return name === name.toUpperCase() ? name : `--${name}`;
}

/** The value, or the refusal as a failed command. Bad values are wrong usage, the rest is refused. */
export function expectDone<T>(value: T | Refusal): T {
  if (!(value instanceof Refusal)) return value;
  throw value.error === "invalidPayload" ? new UsageFailure(value.message) : new CommandFailure(value.message);
}
