/** Holds that no visitor can write a context that makes reads fail: a real verdictd answers the longest ones. */
import fc from "fast-check";
import t from "tap";
import { createClient } from "../../src/client/client.js";
import { contextQuery } from "../../src/client/context-query.js";
import { startVerdictd } from "../middleware/verdictd-process.js";

t.test("the query is bounded and loses nothing of usual values", async (t) => {
  const path = `/${"%".repeat(511)}`;
  t.equal(
    new URLSearchParams(contextQuery({ path })).get("path"),
    path,
    "512 characters, each of which has to be encoded",
  );
  t.equal(contextQuery({}), "");
  t.equal(contextQuery({ path: "" }), "");
  const text = fc.string({ unit: "binary", maxLength: 2000 });
  const context = fc.record({ path: text, method: text, host: text, ip: text, userAgent: text });
  fc.assert(fc.property(context, (value) => contextQuery(value).length < 3000));
});

t.test("verdictd answers the longest context there is", async (t) => {
  const { baseUrl, privateKey, sessionToken } = await startVerdictd(t);
  const client = createClient({ baseUrl, privateKey, timeoutMs: 5000, onError: (failure) => t.fail(failure.message) });
  for (const character of ["a", "%", " ", "é", "漢", "\uD800", "\n", "\0"]) {
    const long = character.repeat(5000);
    const context = { path: `/${long}`, method: long, host: long, ip: long, userAgent: long };
    t.match(await client.verdict(sessionToken, context), { failed: null, verdict: /^(?!not_computed)/ });
  }
});
