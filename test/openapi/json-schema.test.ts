/** The validator of these tests says no where it must: else a test that uses it could not fail. */
import t from "tap";
import { mistakesOf, type Schema } from "./json-schema.js";

const components: Record<string, Schema> = {
  Row: { type: "object", properties: { id: { type: "integer", minimum: 1 } }, required: ["id"] },
};
const options = { components, closed: true };
const row = { $ref: "#/components/schemas/Row" };

const cases: readonly [claim: string, schema: Schema, good: unknown, bad: unknown][] = [
  ["type", { type: "string" }, "a", 1],
  ["integer", { type: "integer" }, 1, 1.5],
  ["null is no object", { type: "object" }, {}, null],
  ["enum", { enum: ["a"] }, "a", "b"],
  ["const", { const: true }, true, false],
  ["a required key", row, { id: 1 }, {}],
  ["a key that is not listed", row, { id: 1 }, { id: 1, more: 2 }],
  ["a bound behind a reference", row, { id: 1 }, { id: 0 }],
  ["keys beside a reference", { ...row, properties: { id: { const: 2 } } }, { id: 2 }, { id: 3 }],
  ["an unlisted key beside a reference", { ...row, properties: {} }, { id: 2 }, { id: 2, more: 3 }],
  ["any key's value", { type: "object", additionalProperties: { type: "number" } }, { a: 1 }, { a: "1" }],
  ["no other key", { properties: { a: {} }, additionalProperties: false }, { a: 1 }, { b: 1 }],
  ["items", { type: "array", items: row }, [{ id: 1 }], [{ id: 1 }, {}]],
  ["a tuple's end", { prefixItems: [{ type: "number" }], items: false }, [1], [1, 2]],
  ["a tuple's member", { prefixItems: [{ type: "number" }], items: false }, [1], ["1"]],
  ["oneOf takes exactly one", { oneOf: [{ type: "number" }, { type: "integer" }] }, 1.5, 1],
  ["not", { not: { required: ["code"] } }, {}, { code: "A" }],
  ["maximum", { maximum: 2 }, 2, 3],
  ["minLength", { minLength: 1 }, "a", ""],
  ["maxLength counts characters", { maxLength: 1 }, "😀", "ab"],
  ["minItems", { minItems: 1 }, [1], []],
  ["maxItems", { maxItems: 1 }, [1], [1, 2]],
  ["pattern", { pattern: "^a$" }, "a", "b"],
  ["format", { format: "date-time" }, "2026-11-21T00:00:00.000Z", "2026-11-21"],
];

t.test("each keyword passes what fits and refuses what does not", async (t) => {
  for (const [claim, schema, good, bad] of cases) {
    t.same(mistakesOf(good, schema, options), [], `${claim}: fits`);
    t.ok(mistakesOf(bad, schema, options).length > 0, `${claim}: refused`);
  }
});

t.test("what the validator does not know is an error, not a pass", async (t) => {
  t.throws(() => mistakesOf(1, { multipleOf: 2 }, options), /multipleOf/);
  t.throws(() => mistakesOf("a", { format: "email" }, options), /email/);
  t.throws(() => mistakesOf(1, { $ref: "#/components/schemas/Nobody" }, options), /nowhere/);
});
