/** A mistake in a middleware's or client's options shows when the program starts, in words that say what to write instead. */
import Fastify from "fastify";
import t from "tap";
import { createClient } from "../../src/client/client.js";
import { verdictd as express } from "../../src/middleware/express.js";
import { verdictd as fastify } from "../../src/middleware/fastify.js";
import { createGuard, honoVerdictd } from "../../src/middleware/fetch.js";

const client = { baseUrl: "http://127.0.0.1:8080", privateKey: "sk_test" };

/** What each option makes the middleware say. */
const mistakes: readonly (readonly [options: unknown, message: string])[] = [
  [undefined, "verdictd: options are missing; expected verdictd({ client: { baseUrl, privateKey } })"],
  [{}, "client: missing; expected { baseUrl, privateKey }, or a client made by createClient"],
  [
    { client: "http://127.0.0.1:8080" },
    "client: missing; expected { baseUrl, privateKey }, or a client made by createClient",
  ],
  [{ client: {} }, "baseUrl: missing; expected verdictd's address, such as http://127.0.0.1:8080"],
  [
    { client: { baseUrl: client.baseUrl, privateKey: undefined } },
    "privateKey: missing; expected the project's private key (sk_…), often from the environment",
  ],
  [client, "verdictd: `baseUrl` belongs in `client`: verdictd({ client: { baseUrl, privateKey } })"],
  [
    { client: { ...client, privateKey: "pk_site" } },
    "privateKey: got the site key (pk_…); expected the project's private key (sk_…)",
  ],
  [{ client: { ...client, timeout: 200 } }, "client: unknown option `timeout`; did you mean `timeoutMs`?"],
  [{ client: { ...client, mode: "monitoring" } }, "mode: unknown value `monitoring`; did you mean `monitor`?"],
  [{ client, skip: "/x" }, "skip: expected a function"],
  [{ client, cookieName: "" }, "cookieName: expected a name"],
  [{ client, delayMs: "5" }, "delayMs: expected 0 to 10000 ms"],
  [{ client, chalenge: "page" }, "verdictd: unknown option `chalenge`; did you mean `challenge`?"],
  [{ client, challenge: "deny" }, "challenge: unknown value `deny`; did you mean `page`?"],
  [{ client, challenge: "pages" }, "challenge: unknown value `pages`; did you mean `page`?"],
  [
    { client, challenge: "turnstile" },
    "challenge: unknown value `turnstile`; expected one of `allow`, `page`, `verdictd`, or a function of your own",
  ],
  [
    { client, challenge: "verdictd" },
    "siteKey: expected the project's site key (pk_…), which the challenge page carries",
  ],
  [{ client, delayMs: "1s" }, "delayMs: expected 0 to 10000 ms"],
  [{ client, siteKey: "sk_test" }, "siteKey: expected the project's site key (pk_…), which the challenge page carries"],
  [{ client, pathPrefix: "bots" }, "pathPrefix: expected a path such as /bots"],
  [{ client, scriptOrigin: "verdictd.example" }, "scriptOrigin: expected an origin such as https://verdictd.example"],
  [{ client, skipStatic: "yes" }, "skipStatic: expected true or false"],
  [{ client, pages: "<h1>No</h1>" }, "pages: expected an object of options"],
  [{ client, pages: { blocked: {} } }, "pages: unknown option `blocked`; did you mean `block`?"],
  [{ client, pages: { block: "No" } }, "pages.block: expected an object"],
  [{ client, pages: { block: { titel: "No" } } }, "pages.block: unknown option `titel`; did you mean `title`?"],
  [{ client, pages: { challenge: { message: 1 } } }, "pages.challenge.message: expected a string"],
  [{ client, pages: { render: "<h1>No</h1>" } }, "pages.render: expected a function"],
  [{ client: { ...client, onError: "log" } }, "onError: expected a function"],
  [
    { client: { ...client, breaker: { failureMax: 3 } } },
    "breaker: unknown option `failureMax`; did you mean `failuresMax`?",
  ],
  [{ client: { ...client, breaker: { openMs: "1s" } } }, "breaker.openMs: expected a number above 0"],
  [{ client: { ...client, loggedInRetryMs: 500 } }, "loggedInRetryMs: expected a list of pauses in ms"],
  [{ client: { ...client, loggedInRetryMs: [-1] } }, "loggedInRetryMs: expected 0 to 60000 ms"],
];

t.test("every middleware says what is wrong with its options, and how it is written", async (t) => {
  for (const [options, message] of mistakes) {
    t.throws(() => express(options as never), { name: "TypeError", message });
    t.throws(() => createGuard(options as never), { name: "TypeError", message });
    t.throws(() => honoVerdictd(options as never), { name: "TypeError", message });
    // Fastify makes an object of no options.
    if (options !== undefined)
      await t.rejects(Promise.resolve(Fastify().register(fastify, options as never)), { name: "TypeError", message });
  }
});

t.test("Fastify's own options of a plugin are none of verdictd's", async (t) => {
  await t.resolves(Promise.resolve(Fastify().register(fastify, { client, prefix: "/x", logLevel: "warn" } as never)));
});

t.test("a secret in the wrong place is not repeated", async (t) => {
  t.throws(() => createClient({ ...client, privateKey: "pk_secret" }), { message: /^(?!.*secret)/ });
  t.throws(() => createClient("sk_secret" as never), { message: "client: expected an object of options" });
});
