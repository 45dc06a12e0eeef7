/** Holds that no visitor can write a context that makes a read fail: headers that fetch sends and a real verdictd answers. */
import fc from "fast-check";
import t from "tap";
import { createClient } from "../../src/client/client.js";
import { contextHeaders } from "../../src/client/context-headers.js";
import { startVerdictd } from "../middleware/verdictd-process.js";
import { anyCharacter, holds } from "../support/property.js";

t.test("the headers are valid and bounded, and lose nothing of usual values", async (t) => {
  t.same(contextHeaders({ path: "/a b//c?d", method: "GET", host: "h:1", ip: "::1", userAgent: "UA (X)\t1" }), {
    "X-Service-Request-Path": "/a%20b/c",
    "X-Service-Request-Method": "GET",
    "X-Service-Request-Host": "h:1",
    "X-Service-Client-IP": "::1",
    "X-Service-Client-UA": "UA (X) 1",
  });
  t.same(contextHeaders({}), {});
  t.same(contextHeaders({ path: "", host: "", userAgent: "\n" }), {});
  t.equal(contextHeaders({ userAgent: "é漢" })["X-Service-Client-UA"], "\xc3\xa9\xe6\xbc\xa2", "UTF-8");
  t.equal(
    contextHeaders({ userAgent: "\xc3\xa9" })["X-Service-Client-UA"],
    "\xc3\xa9",
    "bytes already, as servers hand them out",
  );
  const text = fc.string({ unit: anyCharacter, maxLength: 2000 });
  const context = fc.record({ path: text, method: text, host: text, ip: text, userAgent: text });
  holds(
    t,
    fc.property(context, (value) => {
      const headers = contextHeaders(value);
      // Throws on a value that fetch would refuse.
      new Headers(headers);
      return (
        Object.values(headers).join("").length < 2500 && Object.values(headers).every((value) => value === value.trim())
      );
    }),
  );
});

t.test("verdictd answers the longest context there is, and reads it as it was written", async (t) => {
  const { baseUrl, privateKey, sessionToken } = await startVerdictd(t);
  const client = createClient({
    baseUrl,
    privateKey,
    timeoutMs: 10_000,
    onError: (failure) => t.fail(failure.message),
  });
  for (const character of ["a", "%", " ", "é", "漢", "\uD800", "\n", "\0", "\x7f", "\x01", "\xff", "\u{1F600}"]) {
    const long = character.repeat(5000);
    const context = { path: `/block/${long}`, method: long, host: long, ip: long, userAgent: long };
    t.match(await client.verdict(sessionToken, context), { failed: null, action: "block" });
  }
  for (const agent of ["\x01curly", "é curly", "漢 curly \uD800", "\xff curly"]) {
    t.match(await client.verdict(sessionToken, { path: "/by-agent", userAgent: agent }), { action: "block" }, agent);
  }
  for (const path of ["//block", "/./block", "/x/../block", "/%62lock", "http://shop.example/block", "/block;x"]) {
    t.match(await client.verdict(sessionToken, { path }), { failed: null, action: "block" }, path);
  }
});
