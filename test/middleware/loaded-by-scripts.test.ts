/** Requests that no page of a challenge can answer: pages loaded in advance, and server actions of Next.js. */
import t from "tap";
import { createGuard } from "../../src/middleware/fetch.js";
import { startVerdictd } from "./verdictd-process.js";

const running = await startVerdictd(t);
const client = {
  baseUrl: running.baseUrl,
  privateKey: running.privateKey,
  timeoutMs: 10_000,
  onError: () => undefined,
};
const session = { Cookie: `service_session=${running.sessionToken}` };
const own = createGuard({ client, challenge: "verdictd", siteKey: running.siteKey });

const answerOf = async (guard: typeof own, path: string, headers: Record<string, string>, method = "GET") => {
  const { response } = await guard(
    new Request(`http://shop.example${path}`, { method, headers: { ...session, ...headers } }),
  );
  return response === null ? null : { status: response.status, headers: response.headers, text: await response.text() };
};

t.test("what is loaded before anybody clicks is not challenged, and not let in", async (t) => {
  const accept = { Accept: "text/html" };
  for (const purpose of [
    { "Sec-Purpose": "prefetch" },
    { "Sec-Purpose": "prefetch;prerender" },
    { Purpose: "prefetch" },
    { "X-Moz": "prefetch" },
    { "Next-Router-Prefetch": "1" },
  ] as Record<string, string>[]) {
    const answer = await answerOf(own, "/challenge", { ...accept, ...purpose });
    t.equal(answer?.status, 403, JSON.stringify(purpose));
    t.equal(answer?.headers.get("cache-control"), "no-store");
    t.notMatch(answer?.text ?? "", /<|CHALLENGE/, "no challenge");
    t.equal(await answerOf(own, "/ok", { ...accept, ...purpose }), null, "what is not challenged is let in");
  }
  t.match((await answerOf(own, "/challenge", accept))?.text, /<html/i, "a click gets the challenge");
  const blocked = await answerOf(own, "/block", { ...accept, Purpose: "prefetch" });
  t.match(blocked?.text, /Access denied/, "a block is one all the same");
  const open = createGuard({ client });
  t.equal(await answerOf(open, "/challenge", { Purpose: "prefetch" }), null, "without a challenge everybody is let in");
});

t.test("a challenged server action has the page loaded, where the challenge is shown", async (t) => {
  const action = { "Next-Action": "7f", Accept: "text/x-component" };
  for (const guard of [own, createGuard({ client, challenge: "page" })]) {
    const answer = await answerOf(guard, "/challenge/cart?step=2;x", action, "POST");
    t.equal(answer?.status, 403);
    t.equal(answer?.headers.get("x-action-redirect"), "/challenge/cart?step=2%3Bx;replace");
    t.match(answer?.text, "CHALLENGE_REQUIRED");
  }
  t.equal((await answerOf(own, "/challenge", action, "GET"))?.headers.get("x-action-redirect"), null);
  t.equal((await answerOf(own, "/challenge", { Accept: "*/*" }, "POST"))?.headers.get("x-action-redirect"), null);
});
