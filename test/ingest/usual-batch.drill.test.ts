/** The one-pass reader of ingest bodies: what it takes, what it leaves to parse and typia, and that it never says otherwise than they. */
import t from "tap";
import { batchText } from "../../bench/load/batches.js";
import { parseJsonObject } from "../../src/contract/api/json-body.js";
import { Refusal } from "../../src/errors.js";
import { checkBatch } from "../../src/ingest/decode-batch.js";
import { readUsualBatch, readUsualHead } from "../../src/ingest/usual-batch.js";
import { everyKeyText } from "./every-key.js";
import { bothWaysAgree } from "./usual-batch-properties.js";

const head = '{"session_token":null,"site_key":"pk_abc","events":[';
const event = (payload: string): string =>
  `{"request_id":"usual-000","type":"mouse","received_at":"2026-11-21T10:00:00.000Z","payload":${payload}}`;
const body = (payload: string): Buffer => Buffer.from(`${head}${event(payload)}]}`);
const reference = (bytes: Buffer): unknown => {
  const parsed = parseJsonObject(bytes);
  return parsed instanceof Refusal ? parsed : checkBatch(parsed);
};

t.test("batches as the SDK sends them are read in one pass", async (t) => {
  for (const size of [1, 10, 100]) {
    const bytes = Buffer.from(batchText(size, 7, size === 1));
    t.strictSame(readUsualBatch(bytes)?.batch, reference(bytes), `${size} events`);
  }
});

t.test("every payload key is read in one pass, to the same value", async (t) => {
  for (const member of everyKeyText()) {
    const bytes = body(`{${member}}`);
    t.strictSame(readUsualBatch(bytes)?.batch, reference(bytes), member);
  }
});

t.test("the head of a body is what the whole of it says", async (t) => {
  for (const bytes of [Buffer.from(batchText(3, 7, true)), Buffer.from(batchText(3, 7, false)), body("{}")]) {
    const whole = readUsualBatch(bytes);
    t.strictSame(readUsualHead(bytes), { token: whole?.batch.session_token, siteKey: whole?.siteKey });
  }
  const long = "x".repeat(300);
  for (const text of ["", "{}", '{"events":[]}', '{"session_token":7}', `{"session_token":"${long}","events":[]}`]) {
    t.equal(readUsualHead(Buffer.from(text)), null, text.slice(0, 40));
  }
});

t.test("the site key of the body comes along", async (t) => {
  t.equal(readUsualBatch(body("{}"))?.siteKey, "pk_abc");
});

t.test(
  "numbers that need more than digits and a dot, or more digits than JavaScript writes, are left to JSON.parse",
  async (t) => {
    for (const text of ["1e3", "1E3", "1e400", `0.${"3".repeat(25)}`, "1".repeat(26), "01", "1.", "-", ".5"]) {
      t.equal(readUsualBatch(body(`{"x":${text}}`)), null, text);
    }
    // The last three: not rounded by whoever sent them, and more than is exact.
    for (const text of [
      ..."-0 -0.0 0.1 123456789012345 -99999.9999999999".split(" "),
      ..."200.41000366210938 -0.30000000000000004 9007199254740993".split(" "),
    ]) {
      const x = readUsualBatch(body(`{"x":${text}}`))?.batch.events[0]?.payload.x;
      t.ok(Object.is(x, JSON.parse(text)), text);
    }
  },
);

t.test("a key that stands twice, an unknown one and one of a prototype are left alone", async (t) => {
  for (const payload of ['{"x":1,"x":2}', '{"zz":1}', '{"__proto__":{}}', '{"__proto__":1}', '{"x":1,"y":2,"x":1}']) {
    t.equal(readUsualBatch(body(payload)), null, payload);
  }
  t.ok(readUsualBatch(body('{"x":1,"y":2}')), "the reader takes what is once there");
});

t.test("bytes beyond printable ASCII, escapes, white space and trailing bytes are left alone", async (t) => {
  const good = body('{"path":"/a"}').toString("latin1");
  t.ok(readUsualBatch(Buffer.from(good)));
  for (const bad of [
    good.replace("/a", "/é"),
    good.replace("/a", "/\xff"),
    good.replace("/a", "\\u0061"),
    good.replace("/a", "/\u0007"),
    good.replace(":", ": "),
    `${good} `,
    `${good}}`,
    good.slice(0, -1),
  ]) {
    t.equal(readUsualBatch(Buffer.from(bad, "latin1")), null, JSON.stringify(bad));
  }
});

t.test("the reader and parse with typia agree on any body", async (t) => {
  const seen = bothWaysAgree(t, 15_000);
  t.ok(seen.usual > 1000 && seen.accepted - seen.usual > 100 && seen.refused > 1000, JSON.stringify(seen));
});
