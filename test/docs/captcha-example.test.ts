/**
 * The documentation's hook for a CAPTCHA, run as it stands there: the real Express, a real verdictd whose rule challenges, and a stand-in for the
 * provider's siteverify over HTTP.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import express from "express";
import t, { type Test } from "tap";
import { createClient } from "../../src/client/client.js";
import { verdictd } from "../../src/middleware/express.js";
import { batch, browserHeaders } from "../support/batches.js";
import { listening } from "../support/listening.js";
import { askUntil, firstTenant, startServer } from "../support/server.js";
import { blocksMarked } from "./readme-commands.js";

type Handler = express.RequestHandler;
interface CaptchaOptions {
  readonly provider: "turnstile" | "hcaptcha";
  readonly siteKey: string;
  readonly secret: string;
  readonly cookieSecret: string;
  readonly verifyUrl: string;
}
type Captcha = (options: CaptchaOptions) => { hook: Handler; routes: express.Router };

const markdown = readFileSync(fileURLToPath(new URL("../../../src/docs/challenge.md", import.meta.url)), "utf8");
const [example] = blocksMarked(markdown, "example captcha.js");
// Below the project's folder, so that the example's imports are found as in a customer's.
const file = join(t.testdir(), "captcha.mjs");
writeFileSync(file, example?.source ?? "");
const { captcha } = (await import(pathToFileURL(file).href)) as { captcha: Captcha };

async function listen(t: Test, listener: RequestListener): Promise<string> {
  return `http://${await listening(t, createServer(listener))}`;
}

const server = await startServer(t, ["--verdict-ttl", "0"]);
const { siteKey, privateKey, projectId, token } = await firstTenant(server);
const client = createClient({ baseUrl: `http://127.0.0.1:${server.port}`, privateKey, timeoutMs: 10_000 });
// Everything is challenged, the captcha's own page too.
for (const [action, expression] of [
  ["block", 'path starts_with "/block"'],
  ["challenge", 'path starts_with "/"'],
]) {
  await server.ask("POST", `/v1/projects/${projectId}/rules`, { token, body: { name: action, expression, action } });
}

async function newSession(name: string): Promise<string> {
  const headers = { ...browserHeaders, "x-service-site-key": siteKey };
  const { session_token } = (await server.ask("POST", "/v1/events", { headers, body: batch(name) })).json;
  await askUntil(
    () => server.ask("GET", `/v1/projects/${projectId}/sessions/${session_token}`, { token }),
    ({ json }) => json.verdict !== "not_computed",
  );
  return session_token;
}

const known = await newSession("known");
const another = await newSession("another");
const fields = { turnstile: "cf-turnstile-response", hcaptcha: "h-captcha-response" } as const;
const html = { accept: "text/html", "user-agent": "example/1" };

for (const provider of ["turnstile", "hcaptcha"] as const) {
  t.test(`the example with ${provider}`, async (t) => {
    const asked: Record<string, string>[] = [];
    let isDown = false;
    const verify = express();
    verify.post("/siteverify", express.urlencoded({ extended: false }), (req, res) => {
      asked.push(req.body);
      if (isDown) return void res.status(500).send("no");
      // As the providers do: the secret, and a token that counts once.
      const { secret, response } = req.body;
      const isNew = asked.filter((each) => each["response"] === response).length === 1;
      return void res.json({ success: secret === "the secret" && response.startsWith("good") && isNew });
    });
    const check = captcha({
      provider,
      siteKey: "the-site-key",
      secret: "the secret",
      cookieSecret: "0123456789abcdef0123456789abcdef",
      verifyUrl: `${await listen(t, verify)}/siteverify`,
    });
    const app = express();
    app.use(verdictd<express.Request, express.Response>({ client, challenge: check.hook }));
    app.use(check.routes);
    app.use((req, res) => void res.send(`shop ${req.originalUrl}`));
    const site = await listen(t, app);
    const session = (token: string, more = "") => ({ cookie: `service_session=${token}${more}` });
    const get = (path: string, headers: Record<string, string>) =>
      fetch(site + path, { redirect: "manual", headers: { ...html, ...headers } });
    const post = (path: string, answer: string | null, headers: Record<string, string>) =>
      fetch(site + path, {
        method: "POST",
        redirect: "manual",
        headers: { ...html, ...headers },
        body: new URLSearchParams(answer === null ? {} : { [fields[provider]]: answer }),
      });
    const visitor = session(known);

    const challenged = await get("/cart/me?a=1&b=2", visitor);
    const place = challenged.headers.get("location")!;
    t.same([challenged.status, place], [303, `/captcha?back=${encodeURIComponent("/cart/me?a=1&b=2")}`]);
    const form = await get(place, visitor);
    const page = await form.text();
    t.equal(form.status, 200, "no loop");
    t.ok(page.includes('data-sitekey="the-site-key"') && page.includes(`action="${place}"`), "the form leads back");
    const posted = await fetch(`${site}/cart/api`, { headers: { ...visitor, accept: "application/json" } });
    t.same([posted.status, await posted.json()], [403, { code: "CHALLENGE_REQUIRED", captcha: "/captcha" }]);

    t.equal((await post(place, null, visitor)).status, 403);
    t.equal(asked.length, 0, "nothing to ask");
    t.equal((await post(place, "bad", visitor)).status, 403);
    isDown = true;
    const down = await post(place, "good while down", visitor);
    t.same([down.status, down.headers.get("set-cookie")], [503, null]);
    isDown = false;
    const passed = await post(place, "good", visitor);
    t.same([passed.status, passed.headers.get("location")], [303, "/cart/me?a=1&b=2"]);
    t.match(asked.at(-1), { secret: "the secret", response: "good", remoteip: /127\.0\.0\.1/ });
    t.match(passed.headers.get("set-cookie"), /^captcha_pass=\d{10}\.[\w-]{43};.*HttpOnly; SameSite=Lax$/);
    t.equal((await post(place, "good", visitor)).status, 403, "the provider's token counts once");

    const cookie = passed.headers.get("set-cookie")!.split(";")[0]!;
    const let_in = await get("/cart/me", session(known, `; ${cookie}`));
    t.same([let_in.status, await let_in.text()], [200, "shop /cart/me"]);
    const [, expires, signature] = /=(\d+)\.(.*)$/.exec(cookie)!;
    const later = `captcha_pass=${Number(expires) + 1000}.${signature}`;
    const forged = `captcha_pass=${expires}.${"A".repeat(43)}`;
    for (const [why, headers] of Object.entries({
      "another session": session(another, `; ${cookie}`),
      "another user agent": { ...session(known, `; ${cookie}`), "user-agent": "example/2" },
      "a later end": session(known, `; ${later}`),
      "a forged signature": session(known, `; ${forged}`),
      "an expired one": session(known, `; captcha_pass=1000000000.${signature}`),
    })) {
      t.equal((await get("/cart/me", headers)).status, 303, why);
    }
    const blocked = await get("/block/me", session(known, `; ${cookie}`));
    t.equal(blocked.status, 403, "a pass does not help against block");

    for (const [index, back] of [
      "//evil.example/x",
      "/\\evil.example",
      "https://evil.example/",
      "/x/..//evil.example",
      "/\t/evil.example",
      "/captcha?back=/captcha",
      "javascript:alert(1)",
    ].entries()) {
      const { headers } = await post(`/captcha?back=${encodeURIComponent(back)}`, `good ${index}`, visitor);
      t.equal(headers.get("location"), "/", back);
    }
    const markup = await (
      await get(`/captcha?back=${encodeURIComponent('/"><script>hit()</script>')}`, visitor)
    ).text();
    t.notMatch(markup, /<script>/, "no markup from the address");
  });
}
