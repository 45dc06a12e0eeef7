/** RESP: every reply survives any cut into chunks, every command reads back as it was given, bounds hold, nothing but `RespFault` is thrown. */
import assert from "node:assert/strict";
import fc from "fast-check";
import t from "tap";
import { type CommandPart, RespEncoder } from "../../src/cluster/resp-encoder.js";
import {
  defaultBounds,
  ErrorReply,
  type RespBounds,
  RespFault,
  RespParser,
  type RespReply,
} from "../../src/cluster/resp-parser.js";
import { holds } from "../support/property.js";

/** What the parser makes of these chunks. */
function parsed(chunks: readonly Buffer[], bounds: Partial<RespBounds> = {}) {
  const replies: RespReply[] = [];
  const parser = new RespParser((reply) => replies.push(copied(reply)), { ...defaultBounds, ...bounds });
  // Each chunk has memory of its own that is overwritten afterwards, as that of a socket may be.
  for (const chunk of chunks) parser.write(Buffer.from(chunk));
  return { replies, heldBytes: parser.heldBytes };
}

function copied(reply: RespReply): RespReply {
  if (Array.isArray(reply)) return reply.map(copied);
  return Buffer.isBuffer(reply) ? Buffer.from(reply) : reply;
}

const text = (bytes: string) => [Buffer.from(bytes)];

/** A reply as the server writes it. */
function written(reply: RespReply): Buffer {
  if (Buffer.isBuffer(reply)) return Buffer.concat([Buffer.from(`$${reply.length}\r\n`), reply, Buffer.from("\r\n")]);
  if (Array.isArray(reply)) return Buffer.concat([Buffer.from(`*${reply.length}\r\n`), ...reply.map(written)]);
  if (reply instanceof ErrorReply) return Buffer.from(`-${reply.message}\r\n`);
  if (reply === null) return Buffer.from("$-1\r\n");
  return Buffer.from(`${typeof reply === "string" ? "+" : ":"}${reply}\r\n`);
}

const line = fc.string({ maxLength: 40 }).map((each) => each.replace(/[\r\n]/g, ""));
const replyOf = fc.letrec<{ reply: RespReply }>((tie) => ({
  reply: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.uint8Array({ maxLength: 300 }).map((bytes): RespReply => Buffer.from(bytes)),
    line,
    line.map((each) => new ErrorReply(each)),
    // -0 is written as 0.
    fc.maxSafeInteger().map((each) => each + 0),
    fc.bigInt({ min: 2n ** 60n, max: 2n ** 63n - 1n }),
    fc.constant(null),
    fc.array(tie("reply"), { maxLength: 6 }),
  ),
})).reply;

/** Cuts bytes at the given places. */
function cut(bytes: Buffer, at: readonly number[]): Buffer[] {
  const places = [0, ...at.map((each) => each % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return places.slice(1).map((to, index) => bytes.subarray(places[index], to));
}

t.test("replies are the same however they are cut into chunks", async (t) => {
  holds(
    t,
    fc.property(fc.array(replyOf, { maxLength: 8 }), fc.array(fc.nat(), { maxLength: 20 }), (replies, at) => {
      const { replies: seen, heldBytes } = parsed(cut(Buffer.concat(replies.map(written)), at));
      assert.deepEqual(seen, replies.map(copied));
      assert.equal(heldBytes, 0);
    }),
  );
});

t.test("byte by byte, with a bulk string that has line ends in it", async (t) => {
  const bytes = Buffer.from("*3\r\n$4\r\n\r\n\r\n\r\n:-42\r\n*2\r\n$0\r\n\r\n$-1\r\n+OK\r\n");
  const { replies } = parsed([...bytes].map((byte) => Buffer.from([byte])));
  t.same(replies, [[Buffer.from("\r\n\r\n"), -42, [Buffer.alloc(0), null]], "OK"]);
});

t.test("integers beyond what a number holds are bigint", async (t) => {
  const { replies } = parsed(text(":9007199254740991\r\n:9223372036854775807\r\n:-9223372036854775808\r\n"));
  t.same(replies, [9007199254740991, 9223372036854775807n, -9223372036854775808n]);
});

const malformed: Readonly<Record<string, string>> = {
  "an unknown type": "?1\r\n",
  "HTTP instead of RESP": "HTTP/1.1 400 Bad Request\r\n",
  "a length that is no number": "$abc\r\n",
  "an empty length": "$\r\n",
  "a bulk string with another end": "$2\r\nabcd",
  "a line without LF": "+OK\rx",
  "a negative array": "*-2\r\n",
  "an integer with a point": ":1.5\r\n",
  "a map of RESP3, for which nobody asked": "%1\r\n+a\r\n:1\r\n",
};
for (const [name, bytes] of Object.entries(malformed)) {
  t.test(`${name} is a fault`, async (t) => {
    t.throws(() => parsed(text(bytes)), RespFault);
    t.throws(() => parsed([...Buffer.from(bytes)].map((byte) => Buffer.from([byte]))), RespFault, "byte by byte too");
  });
}

t.test("bounds are kept before memory is taken", async (t) => {
  t.throws(() => parsed(text("$65\r\n"), { bulkBytesMax: 64 }), /bulk string of 65 bytes/);
  t.throws(() => parsed(text(`+${"a".repeat(65)}`), { lineBytesMax: 64 }), /line of more than 64 bytes/);
  t.throws(() => parsed(text("*1\r\n*1\r\n*1\r\n"), { depthMax: 2 }), /nested too deeply/);
  t.throws(() => parsed(text("*2\r\n*3\r\n"), { elementsMax: 4 }), /array of 3 elements/);
  t.throws(() => parsed(text("*3\r\n$4\r\naaaa\r\n$4\r\naaaa\r\n"), { replyBytesMax: 20 }), /too long/);
  t.equal(parsed(text("*4000000\r\n")).heldBytes, 0, "what is announced takes nothing");
  t.same(
    parsed(text("*1\r\n$4\r\naaaa\r\n".repeat(3)), { replyBytesMax: 20, elementsMax: 1 }).replies.length,
    3,
    "a reply",
  );
});

t.test("any bytes are replies or a fault", async (t) => {
  const alphabet = fc.constantFrom(..."*$+-:%_0123456789\r\n\r\n\r\nab".split("").map((each) => each.charCodeAt(0)));
  holds(
    t,
    fc.property(fc.array(alphabet, { maxLength: 200 }), fc.array(fc.nat(), { maxLength: 5 }), (bytes, at) => {
      try {
        parsed(cut(Buffer.from(bytes), at), { bulkBytesMax: 100 });
      } catch (error) {
        if (!(error instanceof RespFault)) throw error;
      }
    }),
    { numRuns: 2000 },
  );
});

t.test("a long bulk string in many chunks is put together once", async (t) => {
  const long = Buffer.alloc(20 * 1024 * 1024, "x");
  const bytes = Buffer.concat([Buffer.from(`*2\r\n$${long.length}\r\n`), long, Buffer.from("\r\n:1\r\n")]);
  const cuts = Array.from({ length: 5000 }, (_, index) => index * 4096);
  let concatenated = 0;
  const { concat } = Buffer;
  Buffer.concat = (list, length) => {
    concatenated += list.length > 0 ? 1 : 0;
    return concat(list, length);
  };
  t.teardown(() => {
    Buffer.concat = concat;
  });
  const { replies } = parsed(cut(bytes, cuts));
  t.equal((replies[0] as Buffer[])[0]!.equals(long), true);
  t.ok(concatenated < 10, `${concatenated} times`);
});

t.test("commands read back as they were given, many in one buffer", async (t) => {
  const part = fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 30 }),
    fc.uint8Array({ maxLength: 2000 }),
    fc.maxSafeInteger().map((each) => each + 0),
  );
  holds(
    t,
    fc.property(fc.array(fc.array(part, { minLength: 1, maxLength: 6 }), { maxLength: 30 }), (commands) => {
      const encoder = new RespEncoder();
      const bytes = commands.reduce((sum, command) => sum + encoder.add(command), 0);
      assert.equal(encoder.length, bytes);
      const { replies } = parsed([encoder.take()]);
      const bytesOf = (each: CommandPart) => (typeof each === "object" ? Buffer.from(each) : Buffer.from(String(each)));
      assert.deepEqual(
        replies,
        commands.map((command) => command.map(bytesOf)),
      );
    }),
  );
});

t.test("what was taken stays as it is unless it is released as out", async (t) => {
  const encoder = new RespEncoder();
  encoder.add(["GET", "first"]);
  const first = encoder.take();
  encoder.release(false);
  encoder.add(["GET", "other"]);
  t.match(first.toString(), "first");
  const second = encoder.take();
  encoder.release(true);
  encoder.add(["GET", "third"]);
  t.match(second.toString(), "third", "the same memory again");
});
