/** Holds how the session token and the path are read from a visitor's request. */
import t from "tap";
import { rulePath, sessionTokenOf } from "../../src/contract/visitor-request.js";

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

t.test("the path that rules see can't be disguised", async (t) => {
  const cases: readonly (readonly [target: string, path: string | undefined])[] = [
    ["/login?next=/", "/login"],
    ["/login#x", "/login"],
    ["/lo%67in", "/login"],
    ["/LO%47in", "/LOGin"],
    ["/a/../login", "/login"],
    ["/a/%2e%2E/login", "/login"],
    ["/../../login", "/login"],
    ["/./login", "/login"],
    ["/a/.", "/a/"],
    ["/a/b/..", "/a/"],
    ["/..", "/"],
    ["/a%2Fb", "/a%2Fb"],
    ["/caf%C3%A9", "/caf%C3%A9"],
    ["/a..b/.c", "/a..b/.c"],
    ["//login", "//login"],
    ["/%", "/%"],
    ["/%zz", "/%zz"],
    ["*", undefined],
    ["", undefined],
    ["http://elsewhere/login", undefined],
  ];
  for (const [target, path] of cases) t.equal(rulePath(target), path, target);
});
