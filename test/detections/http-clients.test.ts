/** Plain HTTP clients that post made-up batches: each, under its own name or a browser's, is confident automation at least. */
import t from "tap";
import { noHeaders, type RequestFacts } from "../../src/contract/evidence/header-facts.js";
import { combine, explain, runEngines } from "../../src/engines/score.js";
import { chromeAgent, chromeEnvironment, chromeFacts, event, folded, wobblyPath } from "../engines/sessions.js";

const confidentScoreMax = 15;
const bare: RequestFacts = { ...chromeFacts, ...noHeaders, contentType: chromeFacts.contentType };
const requests = { ...bare, userAgent: "python-requests/2.32.3", accept: "*/*", acceptEncoding: "gzip, deflate" };
const nodeFetch = {
  ...bare,
  userAgent: "node",
  accept: "*/*",
  acceptLanguage: "*",
  acceptEncoding: "gzip, deflate",
  secFetchMode: "cors",
};
const firefoxAgent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
const safariAgent =
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.2 Safari/605.1.15";
const language = { acceptLanguage: "en-US,en;q=0.9" };
const origin = { origin: "https://shop.example", referer: "https://shop.example/" };

const clients: Record<string, RequestFacts> = {
  curl: { ...bare, userAgent: "curl/8.11.0", accept: "*/*" },
  "curl as Chrome": { ...bare, userAgent: chromeAgent, accept: "*/*" },
  "curl as Chrome with language and origin": { ...bare, userAgent: chromeAgent, accept: "*/*", ...language, ...origin },
  "curl as Chrome on localhost": { ...bare, userAgent: chromeAgent, accept: "*/*", origin: "http://localhost:8080" },
  requests: requests,
  "requests as Chrome": { ...requests, userAgent: chromeAgent },
  "requests as Chrome with language": { ...requests, userAgent: chromeAgent, ...language },
  "requests as Chrome with language and origin": { ...requests, userAgent: chromeAgent, ...language, ...origin },
  "requests as Firefox": { ...requests, userAgent: firefoxAgent },
  "requests as Firefox with language": { ...requests, userAgent: firefoxAgent, ...language },
  "requests as Firefox with language and origin": { ...requests, userAgent: firefoxAgent, ...language, ...origin },
  "requests as Safari with language": { ...requests, userAgent: safariAgent, ...language },
  "requests with a name of its own": { ...requests, userAgent: "shop-tester 1.0" },
  "node fetch": nodeFetch,
  "node fetch as Chrome": { ...nodeFetch, userAgent: chromeAgent },
  "node fetch as Chrome with language and origin": { ...nodeFetch, userAgent: chromeAgent, ...language, ...origin },
  "node fetch as Firefox": { ...nodeFetch, userAgent: firefoxAgent },
  "node http without any header": bare,
  "node http as Chrome": { ...bare, userAgent: chromeAgent },
  "Go as Chrome": { ...bare, userAgent: chromeAgent, acceptEncoding: "gzip" },
  Go: { ...bare, userAgent: "Go-http-client/1.1", acceptEncoding: "gzip" },
  okhttp: { ...bare, userAgent: "okhttp/4.12.0", acceptEncoding: "gzip" },
  axios: { ...bare, userAgent: "axios/1.7.9", accept: "application/json, text/plain, */*" },
};

/** Who lacks the Sec- headers and one kind more: with a person's movements and environment nothing tells these from a stripping proxy. */
const nearlyComplete = [
  "curl as Chrome with language and origin",
  "requests as Chrome with language and origin",
  "requests as Firefox with language and origin",
];

for (const [name, facts] of Object.entries(clients)) {
  const isProxyLike = nearlyComplete.includes(name);
  t.test(
    `${name} is confident automation${isProxyLike ? "" : ", even with a person's movements and environment"}`,
    async (t) => {
      const path = wobblyPath(300).map(([at, x, y]) => event("mouse", { t: at, x, y }));
      const last = { ip: facts.ip, userAgent: facts.userAgent, path: "/", host: "shop.example" };
      const environment = { ...chromeEnvironment, user_agent: facts.userAgent };
      for (const events of [[event("page", { path: "/" })], [event("env", environment), ...path]]) {
        const features = folded(events, { facts });
        const { score } = combine(runEngines(features, last));
        if (isProxyLike && events.length > 1) t.equal(score, 31);
        else t.ok(score <= confidentScoreMax, `${score}: ${explain(features, last).map((each) => each.slug)}`);
      }
    },
  );
}

t.test("the same events with a browser's headers are a person's", async (t) => {
  const path = wobblyPath(300).map(([at, x, y]) => event("mouse", { t: at, x, y }));
  const last = { ip: "", userAgent: chromeAgent, path: "/", host: "shop.example" };
  t.ok(combine(runEngines(folded([event("env", chromeEnvironment), ...path]), last)).score >= 80);
  const beacon = { ...chromeFacts, contentType: "text/plain;charset=UTF-8" };
  t.ok(combine(runEngines(folded([event("page", { path: "/" })], { facts: beacon }), last)).score >= 55);
});

t.test("a client that lacks nothing but the Sec- headers is confident automation when no page reports", async (t) => {
  const path = wobblyPath(300).map(([at, x, y]) => event("mouse", { t: at, x, y }));
  for (const userAgent of [chromeAgent, firefoxAgent, safariAgent]) {
    const facts: RequestFacts = {
      ...chromeFacts,
      ...{ userAgent, secChUa: "", secChUaMobile: "", secChUaPlatform: "" },
      ...{ secFetchSite: "", secFetchMode: "", secFetchDest: "" },
    };
    const last = { ip: facts.ip, userAgent, path: "/", host: "shop.example" };
    for (const events of [[event("page", { path: "/" })], path, [event("env", { webdriver: false }), ...path]]) {
      const features = folded(events, { facts });
      const { score } = combine(runEngines(features, last));
      t.ok(score <= confidentScoreMax, `${score}: ${explain(features, last).map((each) => each.slug)}`);
    }
    // With a page that reports, it may as well be a person behind a proxy that strips them.
    const reported = folded([event("env", { ...chromeEnvironment, user_agent: userAgent }), ...path], { facts });
    const fired = explain(reported, last).filter((each) => each.engine === "heuristics");
    t.equal(fired.filter((each) => each.contribution > 0).length, 1, `${fired.map((each) => each.slug)}`);
  }
});
