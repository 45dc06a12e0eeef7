/** A good value for every payload key, as JSON text. */
import type { EventPayload } from "../../src/contract/events/events.js";
import { type PayloadKind, payloadKinds } from "../../src/ingest/payload-kinds.js";

const goodValue: Readonly<Record<PayloadKind, readonly string[]>> = {
  number: ["0", "-0", "17", "-3.25"],
  share: ["0", "1", "0.5"],
  boolean: ["true", "false"],
  text: ['""', '"abc"'],
  textOrNumber: ['"abc"', "12"],
  names: ['"abc"', "[]", '["a","b"]'],
  fact: ["true", "3", '"abc"', "[]", '[true,1,"a"]'],
  direction: ['"up"', '"down"', '"left"', '"right"'],
  points: ["[]", "[[0,1.5,2]]", "[[0,1,2],[16.1,-3,4]]"],
  packed: ['"#"', '"#3A%"', '"$W$A%##C"', '"%+K+t#%"'],
  // None is good by itself, in an event of any type: see packed-points.test.ts.
  clicks: [],
  strokes: ["[]", "[[0,80],[120,75.5]]"],
};

/** `"key":value` for each key and each form its value may have. */
export function everyKeyText(): string[] {
  return Object.entries(payloadKinds).flatMap(([key, kind]) => goodValue[kind].map((value) => `"${key}":${value}`));
}

/** A payload with every key, but for those that stand for another one. */
export function everyKeyOnce(): EventPayload {
  const members = Object.entries(payloadKinds).flatMap(([key, kind]) => {
    const value = kind === "packed" ? undefined : goodValue[kind].at(-1);
    return value === undefined ? [] : [[key, JSON.parse(value)]];
  });
  return Object.fromEntries(members);
}
