/** A backend whose key is of another project than the key of its pages hears of it once, and nobody else does. */
import t from "tap";
import { KnownSessions } from "../../src/client/known-sessions.js";
import { storedToken } from "../support/stored-session.js";

const unknown = { verdict: "not_computed" } as const;
const tokens = Array.from({ length: 60 }, (_, number) => storedToken(0, number));

t.test("it is said once, when none of the first twenty sessions is known", async (t) => {
  const known = new KnownSessions();
  const said = tokens.map((token) => known.isNoneKnown(token, unknown));
  t.equal(said.indexOf(true), 19);
  t.equal(said.filter((each) => each).length, 1);
});

t.test("not for one session that is asked about again and again", async (t) => {
  const known = new KnownSessions();
  t.notOk(tokens.some(() => known.isNoneKnown(tokens[0]!, unknown)));
});

t.test("and never where a session was known", async (t) => {
  const known = new KnownSessions();
  for (const token of tokens.slice(0, 19)) t.notOk(known.isNoneKnown(token, unknown));
  t.notOk(known.isNoneKnown(tokens[0]!, { verdict: "likely_human" }));
  t.notOk(tokens.some((token) => known.isNoneKnown(token, unknown)));
});
