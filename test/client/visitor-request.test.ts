/** Holds how the session token and the path are read from a visitor's request. */
import fc from "fast-check";
import t from "tap";
import { sessionTokenOf } from "../../src/contract/sessions/session-cookie.js";
import { headerPath, rulePath } from "../../src/contract/verdicts/visitor-request.js";
import { anyCharacter, holds } from "../support/property.js";

t.test("the token comes from the header, else from the cookie, and only when it is well formed", async (t) => {
  t.equal(sessionTokenOf("sess_header", "service_session=sess_cookie"), "sess_header");
  t.equal(sessionTokenOf("nonsense", "service_session=sess_cookie"), "sess_cookie");
  t.equal(sessionTokenOf(null, 'a=b; service_session="sess_quoted"; c=d'), "sess_quoted");
  t.equal(sessionTokenOf(null, "service_session=bad; service_session=sess_second"), "sess_second");
  t.equal(sessionTokenOf(null, "other=sess_x", "other"), "sess_x");
  for (const cookie of ["", ";;", "service_session", "service_session=", "xservice_session=sess_x", "a=sess_x"]) {
    t.equal(sessionTokenOf(undefined, cookie), null, cookie);
  }
  t.equal(sessionTokenOf(`sess_${"a".repeat(129)}`, null), null, "too long");
  t.equal(sessionTokenOf("sess_a/../../x", null), null, "not a path");
});

t.test("of headers that were sent twice and joined, the first well-formed one counts", async (t) => {
  t.equal(sessionTokenOf("sess_a, sess_b", null), "sess_a");
  t.equal(sessionTokenOf("x, sess_b", "service_session=sess_cookie"), "sess_b");
  t.equal(sessionTokenOf(", ,", "service_session=sess_cookie"), "sess_cookie");
});

t.test("the path that rules see can't be disguised", async (t) => {
  const cases: readonly (readonly [target: string, path: string | undefined])[] = [
    ["/", "/"],
    ["/login", "/login"],
    ["/login?next=/", "/login"],
    ["/login#x", "/login"],
    ["/?/login", "/"],
    ["/lo%67in", "/login"],
    ["/LO%47in", "/LOGin"],
    ["/%6c%6F%67%69%6E", "/login"],
    ["/a/../login", "/login"],
    ["/a/%2e%2E/login", "/login"],
    ["/a/.%2e/login", "/login"],
    ["/../../login", "/login"],
    ["/./login", "/login"],
    ["//login", "/login"],
    ["///login//", "/login/"],
    ["/a//../login", "/login"],
    ["/a/%2e/b", "/a/b"],
    ["/a/.", "/a/"],
    ["/a/b/..", "/a/"],
    ["/..", "/"],
    ["/a/..", "/"],
    ["/login/", "/login/"],
    ["http://shop.example/login?x", "/login"],
    ["HTTPS://shop.example:8443//login", "/login"],
    ["http://shop.example", "/"],
    ["http://shop.example?x", "/"],
    ["http:///login", "/login"],
    ["http://user@shop.example/a/../login", "/login"],
    ["\\login", "/login"],
    ["/x\\..\\login", "/login"],
    ["http:\\\\shop.example\\login", "/login"],
    ["/a%2Fb", "/a%2Fb"],
    ["/a%2f..%5cb", "/a%2F..%5Cb"],
    ["/%252e%252e/login", "/%252e%252e/login"],
    ["/lo%2567in", "/lo%2567in"],
    ["/lo%6%37in", "/login"],
    ["/lo%%36%37in", "/login"],
    ["/caf%c3%a9", "/café"],
    ["/café", "/café"],
    ["/caf%C3%%41%39", "/café"],
    ["/%40a%3Ab%7Cc", "/@a:b|c"],
    ["/a%20b%22", '/a b"'],
    ["/%2f%5c%25%3f%23%3b%00%1f%7f", "/%2F%5C%25%3F%23%3B%00%1F%7F"],
    ["/%c2%85\u0085", "/%C2%85%C2%85"],
    ["/%f0%9f%98%80", "/😀"],
    ["/%e9", "/%E9"],
    ["/%c3", "/%C3"],
    ["/%c3x%a9", "/%C3x%A9"],
    ["/%a9", "/%A9"],
    ["/%c0%af", "/%C0%AF"],
    ["/%e0%80%af", "/%E0%80%AF"],
    ["/%ed%a0%80", "/%ED%A0%80"],
    ["/%f4%90%80%80", "/%F4%90%80%80"],
    ["/%f5%80%80%80", "/%F5%80%80%80"],
    ["/%e2%82%c3%a9", "/%E2%82é"],
    ["/%80%80%80%80%80", "/%80%80%80%80%80"],
    ['/a "b"<c>', '/a "b"<c>'],
    ["/\0\n\x7f", "/%00%0A%7F"],
    ["/\uD83D\uDE00\uD83D", "/\uD83D\uDE00\uFFFD"],
    ["/LOGIN", "/LOGIN"],
    ["/login;x=1", "/login;x=1"],
    ["/x/..;/login", "/x/..;/login"],
    ["/a..b/.c", "/a..b/.c"],
    ["/%", "/%"],
    ["/%zz", "/%zz"],
    [`/${"x/../".repeat(2000)}login`, "/login"],
    [`/${"/".repeat(5000)}login`, "/login"],
    [`/${"a".repeat(600)}`, `/${"a".repeat(511)}`],
    [`/${"a".repeat(508)}/..b`, `/${"a".repeat(508)}/`],
    [`/${"a".repeat(509)}%2F`, `/${"a".repeat(509)}`],
    [`/${"a".repeat(510)}%2F`, `/${"a".repeat(510)}`],
    [`/${"a".repeat(508)}%2Fb`, `/${"a".repeat(508)}%2F`],
    [`/${"a".repeat(510)}%F0%9F%98%80`, `/${"a".repeat(510)}`],
    [`/${"%C3%A9".repeat(600)}`, `/${"é".repeat(511)}`],
    ["*", undefined],
    ["", undefined],
    ["login", undefined],
    ["?/login", undefined],
    ["host:443", undefined],
    ["about:blank", undefined],
  ];
  for (const [target, path] of cases) t.equal(rulePath(target), path, target.slice(0, 80));
});

t.test("whatever the target is, its path is one path", async (t) => {
  const piece = fc.oneof(
    fc.constantFrom(
      "/",
      "//",
      ".",
      "..",
      "%2e",
      "%2E",
      "%2f",
      "%5c",
      "\\",
      "%",
      "%3",
      "3",
      "%33",
      ";x",
      "?",
      "#",
      "://",
      "%C3",
      "%a9",
      "%f0%9f%98%80",
    ),
    fc.string({ unit: anyCharacter, maxLength: 8 }),
  );
  const target = fc.array(piece, { maxLength: 300 }).map((pieces) => pieces.join(""));
  const property = fc.property(target, fc.boolean(), (text, isPath) => {
    const path = rulePath(isPath ? `/${text}` : text);
    if (path === undefined) return !isPath;
    const isNormal =
      path.startsWith("/") &&
      !/\/\/|\/\.{1,2}(?:\/|$)|[?#\\\p{Cc}\p{Cs}]/u.test(path) &&
      !/%(?:[2-7][0-9A-F])(?<!%(?:2[35F]|3[BF]|5C|7F))|%C[2-9A-F]%[AB]/.test(path);
    const header = headerPath(path);
    const isCarried = /^[\x21-\x7e]*$/.test(header) && rulePath(header) === path;
    return isNormal && isCarried && path.length <= 512 && rulePath(path) === path;
  });
  t.doesNotThrow(() => holds(t, property, { numRuns: 2000 }));
});

t.test("a long path with an escape in an escape costs no more than its length", async (t) => {
  // The least of several times: in each of them other programs may have had the processor.
  const took = (pieces: number): number => {
    const target = `/${"%3".repeat(pieces)}%33`;
    const times = Array.from({ length: 10 }, () => {
      const startMs = performance.now();
      for (let times = 0; times < 10; times++) rulePath(target);
      return performance.now() - startMs;
    });
    return Math.min(...times);
  };
  took(500);
  t.ok(took(16_000) < 400 * took(500), "32 times the length; its square would be a thousand times the time");
});
