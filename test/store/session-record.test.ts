/** The session record: sizes that fit pages, and what is read back whatever the size. Damage to records is tested with the fuzz properties. */
import { createHash, randomFillSync } from "node:crypto";
import t from "tap";
import type { ScoredState } from "../../src/contract/sessions/session.js";
import { decodeSessionToken, encodeSessionToken, mintSessionToken } from "../../src/contract/sessions/session-token.js";
import { decodeSession, encodeSession } from "../../src/store/session-record.js";
import { packUserAgent } from "../../src/store/user-agent-pieces.js";

const state: ScoredState = {
  scored: true,
  engineScores: { heuristics: 12, js_detection: null, behavioral: 60 },
  score: 12,
  detectionIds: [100_201, 300_128],
  verifiedBot: { name: "Crawler", category: "search" },
  firstSeenMs: 1_795_000_000_000,
  lastSeenMs: 1_795_000_060_000,
  loggedInAtMs: 0,
  clearance: null,
  eventCount: 20,
  last: { ip: "203.0.113.9", userAgent: "Mozilla/5.0", path: "/", host: "shop.example" },
};
const record = (featureBytes: number, last = state.last) => ({
  state: { ...state, last },
  seenIds: Buffer.alloc(80, 7),
  features: Buffer.alloc(featureBytes, 9),
});

t.test("a record is read back as it was, at every size around those that fit pages", async (t) => {
  const sizes = new Set<number>();
  for (let featureBytes = 0; featureBytes < 2200; featureBytes++) {
    const given = record(featureBytes);
    const bytes = Buffer.from(encodeSession(given));
    sizes.add(bytes.length);
    const back = decodeSession(bytes);
    if (back?.features.length !== featureBytes) t.fail(`${featureBytes} bytes of features: ${back?.features.length}`);
    if (featureBytes % 500 === 0) t.same(back, given);
  }
  t.ok([778, 982, 1321, 2000].every((size) => sizes.has(size)));
  t.ok(Math.min(...sizes) >= 777, "one byte is too little to say that it is padding");
});

t.test("the key of the first contact is read back at every size, and is padding to who does not know it", async (t) => {
  const contactKey = Buffer.from("0123456789abc");
  const sizes = new Set<number>();
  for (let featureBytes = 0; featureBytes < 2200; featureBytes++) {
    const bytes = Buffer.from(encodeSession({ ...record(featureBytes), contactKey }));
    sizes.add(bytes.length);
    const back = decodeSession(bytes);
    const isWhole = back?.features.length === featureBytes && back.contactKey?.equals(contactKey) === true;
    if (!isWhole) t.fail(`${featureBytes} bytes of features: ${back?.features.length}, ${back?.contactKey}`);
    // Builds before schema 7 know no flag 32.
    bytes[1]! &= ~32;
    if (featureBytes % 100 === 0) t.same(decodeSession(bytes), record(featureBytes));
  }
  t.ok([778, 982, 1321, 2000].every((size) => sizes.has(size)));
  const short = Buffer.from(encodeSession({ ...record(0), contactKey }));
  short.writeUInt16LE(14, short.length - 2);
  t.equal(decodeSession(short)?.contactKey, undefined, "less padding than the key takes");
});

t.test("a session that grows in small steps keeps its size most of the time", async (t) => {
  const sizes = Array.from({ length: 30 }, (_, batches) => encodeSession(record(200 + 15 * batches)).length);
  t.ok(new Set(sizes).size <= 3, [...new Set(sizes)].join());
});

t.test("texts beyond ASCII are read back, wherever they stand", async (t) => {
  for (const last of [
    { ...state.last, path: "/straße/日本/😀" },
    { ...state.last, host: "bücher.example", userAgent: "Ünïcode" },
    { ip: "", userAgent: "", path: "é", host: "" },
  ]) {
    t.same(decodeSession(Buffer.from(encodeSession(record(100, last))))?.state.last, last);
  }
});

t.test("user agents are read back as they came, those of browsers from a quarter of their bytes", async (t) => {
  const webKit = "AppleWebKit/537.36 (KHTML, like Gecko)";
  const ofBrowsers = [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webKit} Chrome/156.0.0.0 Safari/537.36`,
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webKit} Chrome/156.0.0.0 Safari/537.36 Edg/156.0.0.0`,
    `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${webKit} Chrome/156.0.0.0 Safari/537.36`,
    `Mozilla/5.0 (Linux; Android 10; K) ${webKit} Chrome/156.0.0.0 Mobile Safari/537.36`,
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Mobile/15E148 Safari/604.1",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Safari/605.1.15",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:149.0) Gecko/20100101 Firefox/149.0",
    "Mozilla/5.0 (X11; Linux x86_64; rv:149.0) Gecko/20100101 Firefox/149.0",
  ];
  for (const userAgent of ofBrowsers) t.ok(packUserAgent(userAgent).length <= userAgent.length / 4, userAgent);
  const others = [
    "",
    "curl/8.5.0",
    "Mozilla/5.0",
    "Mozilla/5.0 (compatible; Example/1.0; +https://example.com/\u{1f916})",
    `${ofBrowsers[0]} ${ofBrowsers[0]}`,
    "\u0001156\u0017",
    `\t${ofBrowsers[0]}`,
    `${ofBrowsers[0]}${"x".repeat(500)}`,
  ];
  for (const userAgent of [...ofBrowsers, ...others]) {
    for (const path of ["/", "/straße"]) {
      const last = { ...state.last, path, userAgent };
      t.same(decodeSession(Buffer.from(encodeSession(record(100, last)))), record(100, last));
    }
  }
});

t.test("stored user agents keep their meaning: parts are only ever added at the end", async (t) => {
  const parts = Array.from({ length: 30 }, (_, index) => String.fromCharCode(1 + index)).join(" ");
  const bytes = Buffer.from(encodeSession(record(100, { ...state.last, userAgent: parts })));
  t.equal(bytes[0], 1, "a text with such characters is stored as it is");
  t.equal(decodeSession(bytes)?.state.last.userAgent, parts, "as records before schema 10 are");
  bytes[0] = 2;
  t.equal(
    createHash("sha256").update(decodeSession(bytes)!.state.last.userAgent).digest("hex"),
    "297c2ac21031c8f31b139ab8a5d573cd7a8e55f4dee1818f84ff8cf4abe910a9",
  );
});

t.test("padding that claims more than there is makes no record", async (t) => {
  const bytes = Buffer.from(encodeSession(record(100)));
  bytes.writeUInt16LE(bytes.length, bytes.length - 2);
  t.equal(decodeSession(bytes), null);
});

t.test("tokens sort by their time, to a 256th of a second", async (t) => {
  const first = mintSessionToken(1_795_000_000_000, (into) => into.fill(255));
  const next = mintSessionToken(1_795_000_000_004, (into) => into.fill(0));
  const last = mintSessionToken(1_795_000_000_999, (into) => into.fill(0));
  const second = mintSessionToken(1_795_000_001_000, (into) => into.fill(0));
  t.same([second, next, last, first].sort(Buffer.compare), [first, next, last, second]);
  let bytes = 0;
  mintSessionToken(0, (into) => {
    bytes = into.length;
  });
  t.equal(8 * bytes, 128, "random bits");
});

t.test("a token's text is its bytes, and no other character stands anywhere in it", async (t) => {
  const text = encodeSessionToken(mintSessionToken(1_795_000_000_000, randomFillSync));
  t.equal(encodeSessionToken(decodeSessionToken(text)!), text);
  for (const value of [0, 255, 0b01010101]) {
    const bytes = Buffer.alloc(21, value);
    t.same(decodeSessionToken(encodeSessionToken(bytes)), bytes);
  }
  const wrong: string[] = [];
  for (let at = 0; at < text.length; at++) {
    for (let code = 0; code < 400; code++) {
      const changed = text.slice(0, at) + String.fromCharCode(code) + text.slice(at + 1);
      const isToken = /^sess_[A-Za-z0-9_-]{28}$/.test(changed);
      if ((decodeSessionToken(changed) !== null) !== isToken) wrong.push(changed);
    }
  }
  t.same(wrong, []);
  t.equal(decodeSessionToken(text.slice(0, -1)), null);
  t.equal(decodeSessionToken(`${text}A`), null);
});
