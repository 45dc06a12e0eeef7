/** verdictd's challenge through each proxy recipe and middleware, as a browser goes, without one; `test/long/challenge-fronts.test.ts` has the browsers. */
import t from "tap";
import { openShop, untilScored } from "../challenge/challenged-site.js";
import { fronts } from "../challenge/fronts.js";
import { ask } from "../support/ask.js";
import { batch, browserHeaders } from "../support/batches.js";
import { ChallengedVisitor } from "../support/challenges.js";
import { askUntil } from "../support/server.js";

const shop = await openShop(t);
const agent = browserHeaders["user-agent"];

for (const { name, open, missing } of fronts) {
  t.test(name, { skip: missing ?? false }, async (t) => {
    const port = Number(new URL(await open(t, shop)).port);
    const site = { ask: (...words: [method: string, path: string, what: object]) => ask(port, ...words) };
    const headersOfBatch = { ...browserHeaders, "x-service-site-key": shop.tenant.siteKey };
    // Sent again as the SDK does: a proxy that has just started may answer that verdictd is away.
    const { json } = await askUntil(
      () => site.ask("POST", "/v1/events", { headers: headersOfBatch, body: batch(`through-${name}`) }),
      ({ status }) => status < 500,
    );
    const session: string = json.session_token;
    await untilScored(shop, session);
    const headers = { "user-agent": agent, cookie: `service_session=${session}` };
    const html = { ...headers, accept: "text/html,*/*;q=0.8", "accept-language": "de-AT,de;q=0.9" };
    const asked = (method: string, path: string, sent: Record<string, string> = html) =>
      site.ask(method, path, { headers: sent });

    for (const [method, path] of [
      ["GET", "/c/page?a=b"],
      ["POST", "/c/form"],
    ] as const) {
      const page = await asked(method, path);
      t.equal(page.status, 403, path);
      t.equal(page.headers.get("x-verdict-action"), "challenge");
      t.equal(page.headers.get("cache-control"), "no-store");
      t.equal(page.headers.get("location"), null);
      t.match(page.headers.get("content-security-policy"), /script-src 'self'; connect-src 'self'; worker-src 'self'/);
      t.match(page.text, /<html lang="de" dir="ltr">/);
      t.ok(page.text.includes(`data-site-key="${shop.tenant.siteKey}"`), "the project's site key");
      t.ok(page.text.includes(`<p>127.0.0.1:${port}</p>`), "the site's name");
      t.equal(page.text.includes("data-form="), method === "POST", "a form is not lost silently");
    }
    const script = await asked("GET", "/c/data", { ...headers, accept: "application/json" });
    t.equal(script.status, 403);
    t.match(script.json, { error: String, message: String, code: "CHALLENGE_REQUIRED" });
    t.equal(script.headers.get("x-verdict-action"), "challenge");
    t.equal(script.headers.get("cache-control"), "no-store");

    t.match((await asked("GET", "/challenge.js")).headers.get("content-type"), /javascript/);
    t.equal((await new ChallengedVisitor(site, shop.tenant).pass(session)).status, 200);
    t.match((await asked("GET", "/c/page?a=b")).text, /You are in/);
    t.match((await asked("POST", "/c/form")).text, /Your form has arrived/);
    t.same((await asked("GET", "/c/data", headers)).json, { secret: 1 });
    t.equal((await asked("GET", "/c/data", { ...headers, "user-agent": `${agent} other` })).status, 403);
  });
}
