/**
 * Requests that are odd although a person, his app or his chat made them: previews of chats, views in apps, workers and developer tools, embedded files,
 * proxies, browsers with network code of their own. Lines of workers, embedded files and service workers are captured from Chromium 156 and Firefox 140.
 */
import t from "tap";
import { shippedDeclaredBots } from "../../src/bots/declared/catalogue.js";
import { createDeclaredBots } from "../../src/bots/declared/declared-bots.js";
import { createClaimMatcher, shippedClaimTokens } from "../../src/bots/verified/claims.js";
import type { RequestFindings } from "../../src/contract/verdicts/judged-request.js";
import { scoreRequest } from "../../src/engines/score-request.js";
import { slugsOf } from "./fired.js";
import { type HeaderLine, noFindings, requestOf } from "./judged.js";

const likelyBotThreshold = 30;
const confidentScoreMax = 15;
const declared = createDeclaredBots(shippedDeclaredBots());

const claimOf = createClaimMatcher(shippedClaimTokens());

/** What is known of a name from the lists alone: nobody's address is looked up. */
function findingsOf(userAgent: string): RequestFindings {
  const claim = claimOf(userAgent);
  const crawlerClaim = claim === undefined ? "none" : claim.isVerifiable ? "pending" : "unverifiable";
  return { ...noFindings, declaredBot: declared.of(userAgent) ?? null, crawlerClaim };
}

interface Asked extends Partial<RequestFindings> {
  readonly path?: string;
  readonly method?: string;
}

/** The lowest score of the lines as they came and of the same as an object of headers. */
function judged(lines: Record<string, string>, { path = "/", method = "GET", ...more }: Asked = {}) {
  const findings = { ...findingsOf(lines["User-Agent"] ?? ""), ...more };
  const headers = Object.entries({ Host: "shop.example", ...lines }) as HeaderLine[];
  const context = { method, path, host: "shop.example", ip: "198.51.100.7" };
  const tellings = [
    requestOf(headers, { context }),
    requestOf(headers, { context, isAsReceived: false, httpVersion: "2" }),
  ];
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
  "a WebSocket of Safari's over https": {
    "X-Forwarded-Proto": "https",
    "Sec-WebSocket-Version": "13",
    Upgrade: "websocket",
    Origin: "https://shop.example",
    Connection: "Upgrade",
    "User-Agent":
      "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15",
    "Accept-Language": "en-US,en;q=0.9",
    "Accept-Encoding": "gzip, deflate",
  },
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

const firefoxPage = {
  Accept: plainPage,
  "Accept-Language": "en-US,en;q=0.5",
  "Accept-Encoding": "gzip, deflate, br, zstd",
};
const safari =
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.3 Safari/605.1.15";
const safariEnd = { "Accept-Language": "en-US,en;q=0.9", "Accept-Encoding": "gzip, deflate, br" };
/** Whole requests, in the order of their browsers. */
const wholes: Record<string, Record<string, string>> = {
  "Chrome's page": {
    Connection: "keep-alive",
    "sec-ch-ua": '"Chromium";v="156", "Google Chrome";v="156", "Not?A_Brand";v="99"',
    "sec-ch-ua-mobile": "?0",
    "sec-ch-ua-platform": '"Windows"',
    "Upgrade-Insecure-Requests": "1",
    "User-Agent": chrome,
    Accept: chromePage,
    ...fetched("none", "navigate", "document"),
    "Sec-Fetch-User": "?1",
    ...usual,
  },
  "Firefox's page": {
    "User-Agent": firefox,
    ...firefoxPage,
    Connection: "keep-alive",
    "Upgrade-Insecure-Requests": "1",
    ...fetched("none", "navigate", "document"),
    "Sec-Fetch-User": "?1",
  },
  "Safari's page": {
    "User-Agent": safari,
    Accept: plainPage,
    ...fetched("none", "navigate", "document"),
    ...safariEnd,
    Connection: "keep-alive",
  },
};

function changed(whole: Record<string, string>, changes: Record<string, string | null>): Record<string, string> {
  const lines = Object.entries(whole).filter(
    ([name]) => changes[name] !== null && !(changes["Sec-"] === null && /^sec-/i.test(name)),
  );
  return Object.fromEntries(lines.map(([name, value]) => [name, changes[name] ?? value]));
}

/** What filters, proxies and switches make of them: above the threshold. */
const filters: Record<string, Record<string, string | null>> = {
  "takes Sec- headers": { "Sec-": null },
  "takes Sec- headers and languages": { "Sec-": null, "Accept-Language": null },
  "takes Sec- headers, languages and wishes for upgrades": {
    "Sec-": null,
    "Accept-Language": null,
    "Upgrade-Insecure-Requests": null,
  },
  "takes Sec- headers and what is accepted": { "Sec-": null, Accept: null },
  "takes Sec- headers and accepts anything": { "Sec-": null, Accept: "*/*" },
  "accepts anything": { Accept: "*/*" },
  "takes the user agent": { "User-Agent": null },
  "takes the user agent and Sec- headers": { "User-Agent": null, "Sec-": null },
  "takes languages and better encodings": { "Accept-Language": null, "Accept-Encoding": "gzip, deflate" },
};

for (const [whose, whole] of Object.entries(wholes)) {
  for (const [what, changes] of Object.entries(filters)) {
    // Safari wishes for no upgrades over https: of its page two kinds are left then, which no more is known of.
    if (whose.startsWith("Safari") && what === "takes languages and better encodings") continue;
    t.test(`${whose} through a filter that ${what} is a person's`, async (t) => {
      const { lowest, why } = judged(changed(whole, changes));
      t.ok(lowest >= likelyBotThreshold, why);
    });
  }
}

/** All but the name is another browser's. */
const switches: readonly [whose: string, name: string, agent: string][] = [
  ["Chrome's page", "Firefox", firefox],
  ["Chrome's page", "Safari", safari],
  ["Firefox's page", "Chrome", chrome],
  ["Safari's page", "Chrome", chrome],
];

for (const [whose, name, agent] of switches) {
  t.test(`${whose} under the name of ${name} is a person's`, async (t) => {
    const { lowest, why } = judged(changed(wholes[whose]!, { "User-Agent": agent }));
    t.ok(lowest >= likelyBotThreshold, why);
  });
}

t.test("a privacy proxy that claims Firefox, takes Sec- headers or leaves Sec-CH-UA is a person's", async (t) => {
  for (const taken of [/^sec-/i, /^sec-fetch-/i, /^sec-ch-/i]) {
    const lines = Object.entries(changed(wholes["Chrome's page"]!, { "User-Agent": firefox }));
    const { lowest, why } = judged(Object.fromEntries(lines.filter(([line]) => !taken.test(line))));
    t.ok(lowest >= likelyBotThreshold, `${taken}: ${why}`);
  }
});

t.test("one more header less makes no enforced bot of a person whose request was changed", async (t) => {
  for (const [whose, whole] of Object.entries(wholes)) {
    const sets = Object.entries(filters).map(([what, changes]) => [what, changed(whole, changes)] as const);
    for (const [of, name, agent] of switches) {
      if (of === whose) sets.push([`is called ${name}`, changed(whole, { "User-Agent": agent })]);
    }
    for (const [what, lines] of sets) {
      for (const more of ["Accept-Language", "Upgrade-Insecure-Requests", "Connection", "Sec-Fetch-User", "Sec-"]) {
        const left = changed(lines, { [more]: null });
        // Two kinds of lines are no browser any more.
        if (Object.keys(left).filter((name) => /^(?:accept|upgrade|sec-fetch-mode|sec-ch-ua$)/i.test(name)).length < 3)
          continue;
        const { lowest, why } = judged(left);
        t.ok(lowest > confidentScoreMax, `${whose}, ${what}, without ${more}: ${why}`);
      }
    }
  }
});

t.test("Brave, which puts its languages behind Sec-GPC, has the order of its network code", async (t) => {
  const { lowest, why } = judged({
    "Sec-CH-UA": '"Chromium";v="156", "Not=A?Brand";v="24", "Brave";v="156"',
    "Sec-CH-UA-Mobile": "?0",
    "Sec-CH-UA-Platform": '"Windows"',
    "User-Agent": chrome,
    Accept: "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8",
    "Sec-GPC": "1",
    "Accept-Language": "en-US,en;q=0.7",
    ...navigation,
    "Accept-Encoding": "gzip, deflate, br, zstd",
  });
  t.equal(lowest, 60, why);
});

t.test("reports that Chromium sends by itself are a person's", async (t) => {
  const { lowest, why } = judged(
    { "Content-Type": "application/reports+json", "User-Agent": chrome, ...usual },
    { method: "POST", path: "/reports" },
  );
  t.ok(lowest >= likelyBotThreshold, why);
});

t.test("a request of a script that names no page, behind a filter, is a person's", async (t) => {
  const endings: readonly [agent: string, Record<string, string>][] = [
    [chrome, usual],
    [safari, safariEnd],
  ];
  for (const [agent, ending] of endings) {
    const { lowest, why } = judged({ Connection: "keep-alive", "User-Agent": agent, Accept: "*/*", ...ending });
    t.ok(lowest >= likelyBotThreshold, why);
  }
  const { lowest, why } = judged({ "User-Agent": firefox, ...firefoxPage, Accept: "*/*", Connection: "keep-alive" });
  t.ok(lowest >= likelyBotThreshold, why);
});

const noLanguages = { Accept: "*/*", Connection: "keep-alive" };

/** What people do in apps and by parts of their systems, under names of their own. */
const named: Record<string, [lines: Record<string, string>, path: string, method?: string]> = {
  "an app that replaced its view's user agent": [
    changed(wholes["Chrome's page"]!, {
      "User-Agent": "MyBank/7.1 (Android 14; SM-S918B)",
      "sec-ch-ua": '"Chromium";v="156", "Android WebView";v="156", "Not?A_Brand";v="99"',
      "sec-ch-ua-mobile": "?1",
      "sec-ch-ua-platform": '"Android"',
    }),
    "/",
  ],
  "an app on a telephone of Apple that did": [
    changed(wholes["Safari's page"]!, { "User-Agent": "MyBank iOS 5.2" }),
    "/",
  ],
  "what such a page fetches": [
    {
      Connection: "keep-alive",
      "User-Agent": "MyBank/7.1 (Android 14; SM-S918B)",
      Accept: "*/*",
      ...fetched("same-origin", "cors", "empty"),
      Referer: page,
      ...usual,
    },
    "/api",
  ],
  "a page's image in WhatsApp": [
    {
      Connection: "keep-alive",
      "User-Agent": `${webView} WhatsApp/2.24.24.78`,
      Accept: "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8",
      ...fetched("same-origin", "no-cors", "image"),
      Referer: page,
      ...usual,
    },
    "/a.png",
  ],
  "an app with brackets before its view's": [
    {
      ...navigation,
      "User-Agent": `ShopApp/3.2 (Android 9) ${webView.replace("156", "80")}`,
      Accept: chromePage,
      "Accept-Encoding": "gzip, deflate",
      "Accept-Language": "de-DE,de;q=0.9",
    },
    "/",
  ],
  "a video on an iPhone": [
    {
      "User-Agent": "AppleCoreMedia/1.0.0.22D72 (iPhone; U; CPU OS 18_3_1 like Mac OS X; de_de)",
      Range: "bytes=0-1",
      ...noLanguages,
    },
    "/v.mp4",
  ],
  "a video by Android": [
    { "User-Agent": "stagefright/1.2 (Linux;Android 7.0)", "Accept-Encoding": "gzip,deflate" },
    "/v.mp4",
  ],
  "a video in an app of Android": [
    { "User-Agent": "ShopApp/1.0 (Linux;Android 14) ExoPlayerLib/2.18.1", "Accept-Encoding": "identity" },
    "/v.mp4",
  ],
  "a video in VLC": [{ "User-Agent": "VLC/3.0.20 LibVLC/3.0.20", Range: "bytes=0-", ...noLanguages }, "/film"],
  "an icon for Safari's favourites": [
    { "User-Agent": "MobileSafari/8618.2.12.10.9 CFNetwork/1568.300.101 Darwin/24.2.0", Accept: "*/*", ...safariEnd },
    "/apple-touch-icon.png",
  ],
  "WebKit's network process": [
    { "User-Agent": "com.apple.WebKit.Networking/8620.2.4.10.7 CFNetwork/1568.300.101 Darwin/24.2.0", ...noLanguages },
    "/apple-touch-icon.png",
  ],
  "a subscribed calendar": [{ "User-Agent": "iOS/18.3 (22D63) dataaccessd/1.0", ...noLanguages }, "/cal.ics"],
  "a link in a document": [{ "User-Agent": "Microsoft Office Existence Discovery" }, "/article", "HEAD"],
  "a document in Word": [
    { "User-Agent": "Microsoft Office Word/16.0 (Windows NT 10.0; Microsoft Word 16.0.17328; Pro)", ...noLanguages },
    "/d.docx",
  ],
  "a folder of Windows": [{ "User-Agent": "Microsoft-WebDAV-MiniRedir/10.0.19045" }, "/", "OPTIONS"],
  "a download by Android": [
    {
      "User-Agent": "AndroidDownloadManager/14 (Linux; U; Android 14; SM-S918B Build/UP1A)",
      "Accept-Encoding": "identity",
    },
    "/invoice",
  ],
  "Windows' look for a captive portal": [{ "User-Agent": "Microsoft NCSI" }, "/"],
  "an iPhone's look for one": [{ "User-Agent": "CaptiveNetworkSupport-481.0.1 wispr", Connection: "close" }, "/"],
  "Firefox's look for one": [
    {
      "User-Agent": firefox,
      ...firefoxPage,
      Accept: "*/*",
      Connection: "keep-alive",
      "Cache-Control": "no-cache",
      Pragma: "no-cache",
    },
    "/canonical.html",
  ],
  "a page in Emacs": [
    {
      Connection: "close",
      "Accept-encoding": "gzip",
      Accept: "*/*",
      "User-Agent": "URL/Emacs Emacs/29.1 (X11; x86_64-pc-linux-gnu)",
    },
    "/",
  ],
};

for (const [name, [lines, path, method = "GET"]] of Object.entries(named)) {
  t.test(`${name} is a person's`, async (t) => {
    const { lowest, why } = judged(lines, { path, method });
    t.ok(lowest >= likelyBotThreshold, why);
  });
}

t.test("a name of a system's part is none outside of its field, nor inside of another name", async (t) => {
  const names = [
    "AppleCoreMedia/1.0.0.22D72 (iPhone; U; CPU OS 18_3_1 like Mac OS X; de_de)",
    "VLC/3.0.20 LibVLC/3.0.20",
  ];
  for (const agent of [
    ...names,
    "ShopSync/1.0 AppleCoreMedia/1.0.0",
    "MobileSafari/8618.2 CFNetwork/1568.3 Darwin/24.2.0",
  ]) {
    const { lowest, why } = judged({ "User-Agent": agent, Accept: "*/*" }, { path: "/products" });
    t.ok(lowest < likelyBotThreshold, why);
  }
});

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

t.test("what fetches pictures for Discord is likely automated; a person with such a browser is not", async (t) => {
  for (const version of ["10.10; rv:38.0) Gecko/20100101 Firefox/38.0", "11.6; rv:92.0) Gecko/20100101 Firefox/92.0"]) {
    const agent = `Mozilla/5.0 (Macintosh; Intel Mac OS X ${version}`;
    for (const habit of [{}, { Accept: "*/*" }, { "Accept-Encoding": "gzip" }]) {
      const { lowest, why } = judged({ "User-Agent": agent, ...habit });
      t.ok(lowest < likelyBotThreshold && lowest > confidentScoreMax, why);
    }
    const person = judged({
      ...wholes["Firefox's page"]!,
      "User-Agent": agent,
      "Accept-Encoding": "gzip, deflate, br",
    });
    t.ok(person.lowest >= likelyBotThreshold, person.why);
  }
});

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
