/** A refused value is told in plain words what it has to be, with all bounds and not only the one that it breaks. */
import t from "tap";
import {
  checkBody,
  checkRulesFile,
  ingestEventsMismatch,
  storedRecordMismatch,
} from "../../../src/contract/validators.js";

const event = (payload: unknown) => [
  { request_id: "event-one", type: "page", received_at: "2026-11-21T12:00:00Z", payload },
];

const body = (name: Parameters<typeof checkBody>[0]) => (value: unknown) => checkBody(name, value);

/** What is checked by what, and how the fault reads: the place and the words. */
const faults: readonly (readonly [check: (value: unknown) => unknown, value: unknown, path: string, fault: string])[] =
  [
    [body("SettingsBody"), null, "", "must be an object"],
    [body("SettingsBody"), { likely_bot_threshold: 0 }, "likely_bot_threshold", "must be a whole number from 1 to 99"],
    [
      body("SettingsBody"),
      { likely_bot_threshold: 1.5 },
      "likely_bot_threshold",
      "must be a whole number from 1 to 99",
    ],
    [
      body("SettingsBody"),
      { likely_bot_threshold: "x" },
      "likely_bot_threshold",
      "must be a whole number from 1 to 99",
    ],
    [body("SettingsBody"), { allow_verified: 1 }, "allow_verified", "must be true or false"],
    [body("RotateBody"), { type: "site", overlap_hours: -1 }, "overlap_hours", "must be a whole number from 0 to 720"],
    [body("AlertBody"), { name: "x", when: { incident: false }, channel_ids: [] }, "when.incident", "must be true"],
    [
      body("AlertBody"),
      { name: "x", when: { incident: true }, channel_ids: [1, 1] },
      "channel_ids",
      "must be an array of at most 20 items, each once",
    ],
    [body("EndOldKeysBody"), {}, "type", 'must be "private" or "site"'],
    [body("RuleBody"), { name: "" }, "name", "must be a string of 1 to 255 characters"],
    [body("RuleBody"), { name: "x" }, "expression", "must be a string"],
    [
      body("RuleBody"),
      { name: "x", expression: "x", action: "log", sort_order: 2 ** 31 },
      "sort_order",
      "must be a whole number from -2147483648 to 2147483647",
    ],
    [
      body("RuleBody"),
      { name: "x", expression: "x", action: "ban" },
      "action",
      'must be one of "allow", "block", "challenge", "delay", "log"',
    ],
    [
      checkRulesFile,
      { rules: [{ name: "x", expression: "x", action: "log", note: "" }] },
      "rules[0].note",
      "is not an accepted key",
    ],
    [checkRulesFile, {}, "rules", "must be an array"],
    [body("SessionQueryBody"), { from: 3 }, "from", "must be a string"],
    [body("SessionDeletionBody"), { expression: "" }, "expression", "must be a string that is not empty"],
    [
      body("TokenBody"),
      { abilities: ["*"], name: "x".repeat(101) },
      "name",
      "must be a string of at most 100 characters",
    ],
    [
      body("TokenBody"),
      { abilities: [] },
      "abilities",
      'must be an array of 1 to 5 items, each one of "*", "content:read", "content:write", "projects:read", "projects:write"',
    ],
    [ingestEventsMismatch, event({ fractional: 3 }), "events[0].payload.fractional", "must be a number from 0 to 1"],
    [ingestEventsMismatch, event({ points: [[1]] }), "events[0].payload.points[0]", "must be an array of 3 numbers"],
    [ingestEventsMismatch, event({ points: [[1, 2, "x"]] }), "events[0].payload.points[0][2]", "must be a number"],
    [
      ingestEventsMismatch,
      event({ plugins: new Array(65).fill(1) }),
      "events[0].payload.plugins",
      "must be an array of at most 64 items or a string of at most 512 characters or true or false or a number",
    ],
    [ingestEventsMismatch, event({ "a b": 1 }), 'events[0].payload["a b"]', "is not an accepted key"],
    [(value) => storedRecordMismatch("account", value), { id: "1" }, "id", "must be a number"],
  ];

t.test("each fault names the place and says what has to be there", (t) => {
  for (const [check, value, path, fault] of faults) t.same(check(value), { path, fault }, `${path} ${fault}`);
  t.end();
});

t.test("the value is left as it was", (t) => {
  const events = event({ plugins: new Array(65).fill(1), path: "/" });
  const before = structuredClone(events);
  ingestEventsMismatch(events);
  t.same(events, before);
  t.end();
});
