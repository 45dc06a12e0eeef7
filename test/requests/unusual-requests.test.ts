/**
 * Requests that are odd although a person, his app or his chat made them: previews of chats, views in apps, workers and developer tools, embedded files,
 * proxies, browsers with network code of their own. Lines of workers, embedded files and service workers are captured from Chromium 156 and Firefox 140.
 */
import t from "tap";
import type { RequestFindings } from "../../src/contract/judged-request.js";
import { shippedDeclaredBots } from "../../src/declared-bots/catalogue.js";
import { createDeclaredBots } from "../../src/declared-bots/declared-bots.js";
import { scoreRequest } from "../../src/engines/score-request.js";
import { slugsOf } from "./fired.js";
import { type HeaderLine, noFindings, requestOf } from "./judged.js";

const likelyBotThreshold = 30;
const confidentScoreMax = 15;
const declared = createDeclaredBots(shippedDeclaredBots());

function judged(lines: Record<string, string>, more: Partial<RequestFindings> = {}) {
  const findings = { ...noFindings, declaredBot: declared.of(lines["User-Agent"]!) ?? null, ...more };
  const headers = Object.entries({ Host: "shop.example", ...lines }) as HeaderLine[];
  const tellings = [requestOf(headers), requestOf(headers, { isAsReceived: false, httpVersion: "2" })];
  const scores = tellings.map((request) => scoreRequest(request, findings));
  return {
    lowest: Math.min(...scores.map(({ score }) => score ?? 60)),
    why: scores.map(({ score, detectionIds }) => `${score}: ${slugsOf(detectionIds)}`).join("; "),
  };
}

const system = "Windows NT 10.0; Win64; x64";
const chrome = `Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36`;
const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
const webView =
  "Mozilla/5.0 (Linux; Android 14; Pixel 8; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/156.0.0.0 Mobile Safari/537.36";
const iosView =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_2 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148";
const chromePage =
  "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7";
const plainPage = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

const usual = { "Accept-Encoding": "gzip, deflate, br, zstd", "Accept-Language": "en-US,en;q=0.9" };
const fetched = (site: string, mode: string, dest: string) => ({
  "Sec-Fetch-Site": site,
  "Sec-Fetch-Mode": mode,
  "Sec-Fetch-Dest": dest,
});
const navigation = {
  Connection: "keep-alive",
  "Upgrade-Insecure-Requests": "1",
  ...fetched("none", "navigate", "document"),
  "Sec-Fetch-User": "?1",
};
const keptAlive = { Connection: "keep-alive" };
const page = "https://shop.example/";

const people: Record<string, Record<string, string>> = {
  "a view in Feedly on Android": {
    ...navigation,
    "User-Agent": `${webView} Feedly/92.0`,
    Accept: chromePage,
    ...usual,
  },
  "a view in Feedly on a telephone of Apple": {
    ...navigation,
    "User-Agent": `${iosView} Feedly/92.0`,
    Accept: plainPage,
    ...usual,
  },
  "a view in Inoreader": { ...navigation, "User-Agent": `${webView} Inoreader/7.9`, Accept: chromePage, ...usual },
  "a view in WhatsApp": { ...navigation, "User-Agent": `${iosView} WhatsApp/24.1`, Accept: plainPage, ...usual },
  "a view in an app that names itself first": {
    ...navigation,
    "User-Agent": `ShopApp/4.2 ${webView}`,
    Accept: chromePage,
    ...usual,
  },
  "Facebook's prefix on Android": {
    ...navigation,
    "User-Agent": `[FBAN/FB4A;FBAV/520.0.0.1;]${webView}`,
    Accept: chromePage,
    ...usual,
  },
  "Firefox's <object>": {
    "User-Agent": firefox,
    Accept: "*/*",
    "Accept-Language": "en-US,en;q=0.5",
    "Accept-Encoding": "gzip, deflate, br, zstd",
    ...keptAlive,
    Referer: page,
    ...fetched("same-origin", "navigate", "object"),
  },
  "Firefox's <embed>": {
    "User-Agent": firefox,
    Accept: "*/*",
    "Accept-Language": "en-US,en;q=0.5",
    "Accept-Encoding": "gzip, deflate, br, zstd",
    ...keptAlive,
    Referer: page,
    ...fetched("same-origin", "navigate", "embed"),
  },
  "Firefox's navigation through a service worker": {
    "User-Agent": firefox,
    Accept: plainPage,
    "Accept-Language": "en-US,en;q=0.5",
    "Accept-Encoding": "gzip, deflate, br, zstd",
    ...keptAlive,
    Referer: page,
    "Upgrade-Insecure-Requests": "1",
    ...fetched("same-origin", "same-origin", "empty"),
  },
  "a request of Chrome's developer tools": {
    ...keptAlive,
    "User-Agent": chrome,
    ...fetched("none", "no-cors", "empty"),
    ...usual,
  },
  "a source map for Chrome's developer tools": {
    ...keptAlive,
    "User-Agent": chrome,
    Accept: "*/*",
    ...fetched("cross-site", "cors", "empty"),
    ...usual,
  },
  "the Chromium of a worker that fetches": {
    ...keptAlive,
    "User-Agent": chrome,
    Accept: "*/*",
    ...fetched("same-origin", "cors", "empty"),
    Referer: `${page}w.js`,
    ...usual,
  },
  "the script of a worker": {
    ...keptAlive,
    "User-Agent": chrome,
    Accept: "*/*",
    ...fetched("same-origin", "same-origin", "worker"),
    Referer: page,
    ...usual,
  },
  "a script that a worker imports": {
    ...keptAlive,
    "User-Agent": chrome,
    Accept: "*/*",
    ...fetched("same-origin", "no-cors", "script"),
    Referer: `${page}w.js`,
    ...usual,
  },
  "the script of a service worker": {
    ...keptAlive,
    "User-Agent": chrome,
    Accept: "*/*",
    ...fetched("same-origin", "same-origin", "serviceworker"),
    Referer: page,
    ...usual,
  },
  Ladybird: {
    ...navigation,
    "User-Agent":
      "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Ladybird/1.0 Safari/537.36",
    Accept: plainPage,
    "Accept-Language": "en",
    "Accept-Encoding": "gzip, deflate, br",
  },
  Servo: {
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Servo/1.0 Firefox/128.0",
    Accept: plainPage,
    "Accept-Language": "en",
    "Accept-Encoding": "gzip, deflate, br",
  },
  "UC Browser 13": {
    "User-Agent":
      "Mozilla/5.0 (Linux; U; Android 10; en-US; RMX1911) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/100.0.4896.58 UCBrowser/13.6.8.1318 Mobile Safari/537.36",
    Accept: "text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8",
    "Accept-Encoding": "gzip",
  },
  "Puffin, which fetches in its maker's servers": {
    "User-Agent":
      "Mozilla/5.0 (X11; U; Linux x86_64; en-US) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/109.0.0.0 Safari/537.36 Puffin/10.4.0",
    Accept: "*/*",
    "Accept-Encoding": "gzip",
  },
  "Google's translator": {
    "User-Agent": `${chrome},gzip(gfe)`,
    Accept: "*/*",
    "Accept-Language": "de",
    "Accept-Encoding": "gzip",
    Referer: "https://translate.google.com/",
  },
  "a translator's page": {
    "User-Agent": chrome,
    Accept: plainPage,
    "Accept-Encoding": "gzip, deflate",
    Referer: "https://shop-example.translate.goog/",
  },
  "a privacy proxy that claims Firefox": {
    "User-Agent": firefox,
    "Sec-CH-UA": '"Chromium";v="156", "Google Chrome";v="156", "Not?A_Brand";v="99"',
    "Sec-CH-UA-Mobile": "?0",
    "Sec-CH-UA-Platform": '"Windows"',
    ...navigation,
    Accept: chromePage,
    ...usual,
  },
  "a privacy proxy that claims Firefox and takes the hints": {
    "User-Agent": firefox,
    ...navigation,
    Accept: chromePage,
    ...usual,
  },
  "a filter that takes Sec- headers and what is accepted": {
    ...keptAlive,
    "Upgrade-Insecure-Requests": "1",
    "User-Agent": chrome,
    ...usual,
  },
};

for (const [name, lines] of Object.entries(people)) {
  t.test(`${name} is a person's`, async (t) => {
    const { lowest, why } = judged(lines);
    t.ok(lowest >= likelyBotThreshold, why);
  });
}

const previews: Record<string, string> = {
  WhatsApp: "WhatsApp/2.24.1.78 A",
  "Signal, which says that it is WhatsApp": "WhatsApp/2",
  Slack: "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
  Telegram: "TelegramBot (like TwitterBot)",
  Discord: "Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)",
  LinkedIn: "LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)",
  Skype: "Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5 skype-url-preview@microsoft.com",
  Mastodon: "Mastodon/4.3.2 (http.rb/5.2.0; +https://mastodon.example/) Bot",
  iMessage:
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) AppleWebKit/601.2.4 (KHTML, like Gecko) Version/9.0.1 Safari/601.2.4 facebookexternalhit/1.1 Facebot Twitterbot/1.0",
};

/** What such programs send besides: a library's defaults. */
const habits: readonly Record<string, string>[] = [
  { Accept: "*/*" },
  { Accept: "*/*", "Accept-Encoding": "gzip" },
  { Accept: "*/*", "Accept-Language": "*", "Sec-Fetch-Mode": "cors", "Accept-Encoding": "gzip, deflate" },
  { Accept: plainPage, "Accept-Language": "en-US,en;q=0.9", "Accept-Encoding": "gzip, deflate, br" },
  {},
];

for (const [name, userAgent] of Object.entries(previews)) {
  t.test(`a preview of ${name} is likely automated, and never lower`, async (t) => {
    for (const habit of habits) {
      for (const crawlerClaim of ["none", "unverifiable"] as const) {
        const { lowest, why } = judged({ "User-Agent": userAgent, ...habit }, { crawlerClaim });
        t.ok(lowest < likelyBotThreshold && lowest > confidentScoreMax, why);
      }
    }
  });
}

t.test("a library that has no bot's name is no preview, and a bot is no view in an app", async (t) => {
  const bare = judged({ "User-Agent": "Apache-HttpClient/4.5.14 (Java/17)", Accept: "*/*" });
  t.ok(bare.lowest <= confidentScoreMax, bare.why);
  const bot = {
    ...navigation,
    "User-Agent": "Feedly/1.0 (+http://www.feedly.com/fetcher.html)",
    Accept: plainPage,
    ...usual,
  };
  t.ok(judged(bot).lowest < likelyBotThreshold, judged(bot).why);
  const hurried = judged({ "User-Agent": `${webView} Feedly/92.0`, Accept: "*/*" });
  t.ok(hurried.lowest < likelyBotThreshold, hurried.why);
});

t.test("a page's own request without client hints counts", async (t) => {
  const { lowest, why } = judged({ ...navigation, "User-Agent": chrome, Accept: chromePage, ...usual });
  t.match(why, /chromium-without-client-hints/);
  t.equal(lowest, likelyBotThreshold + 1, why);
});
