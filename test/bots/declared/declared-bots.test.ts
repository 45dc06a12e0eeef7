/** Whom a user agent names: the longest token decides, and no browser names anybody. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import t from "tap";
import { shippedDeclaredBots } from "../../../src/bots/declared/catalogue.js";
import { createDeclaredBots } from "../../../src/bots/declared/declared-bots.js";
import { createLongestTokenFinder } from "../../../src/bots/token-finder.js";
import { limits } from "../../../src/limits.js";
import { holds } from "../../support/property.js";

const bots = createDeclaredBots(shippedDeclaredBots());

const named: readonly (readonly [userAgent: string, name: string, operator: string, category: string])[] = [
  ["Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "Googlebot", "Google", "search"],
  ["Googlebot-Image/1.0", "Googlebot-Image", "Google", "search"],
  [
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm) Chrome/116.0.1938.76 Safari/537.36",
    "bingbot",
    "Microsoft Bing",
    "search",
  ],
  [
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)",
    "GPTBot",
    "OpenAI",
    "ai_crawler",
  ],
  [
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; +https://openai.com/bot",
    "ChatGPT-User",
    "OpenAI",
    "ai_assistant",
  ],
  [
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; OAI-SearchBot/1.0; +https://openai.com/searchbot",
    "OAI-SearchBot",
    "OpenAI",
    "ai_search",
  ],
  [
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ClaudeBot/1.0; +claudebot@anthropic.com)",
    "ClaudeBot",
    "Anthropic",
    "ai_crawler",
  ],
  [
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Claude-User/1.0; +Claude-User@anthropic.com)",
    "Claude-User",
    "Anthropic",
    "ai_assistant",
  ],
  [
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Perplexity-User/1.0; +https://perplexity.ai/perplexity-user)",
    "Perplexity-User",
    "Perplexity",
    "ai_assistant",
  ],
  ["CCBot/2.0 (https://commoncrawl.org/faq/)", "CCBot", "Common Crawl", "ai_crawler"],
  ["Mozilla/5.0 (compatible; Bytespider; spider-feedback@bytedance.com)", "Bytespider", "ByteDance", "ai_crawler"],
  [
    "meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)",
    "meta-externalagent",
    "Meta",
    "ai_crawler",
  ],
  [
    "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
    "facebookexternalhit",
    "Meta",
    "preview",
  ],
  ["Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)", "Slackbot", "Slack", "preview"],
  ["Twitterbot/1.0", "Twitterbot", "X", "preview"],
  ["WhatsApp/2.23.20.0", "WhatsApp", "WhatsApp", "preview"],
  ["Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)", "AhrefsBot", "Ahrefs", "seo"],
  ["Mozilla/5.0 (compatible; SemrushBot/7~bl; +http://www.semrush.com/bot.html)", "SemrushBot", "Semrush", "seo"],
  [
    "Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)",
    "UptimeRobot",
    "UptimeRobot",
    "monitoring",
  ],
  ["FreshRSS/1.24.1 (Linux; https://freshrss.org)", "FreshRSS", "FreshRSS", "feed"],
  ["Feedly/1.0 (+https://feedly.com/poller.html; 12 subscribers)", "Feedly", "Feedly", "feed"],
  [
    "Mozilla/5.0 (compatible; archive.org_bot +http://archive.org/details/archive.org_bot)",
    "archive.org_bot",
    "Internet Archive",
    "archive",
  ],
  ["Mozilla/5.0 (compatible; CensysInspect/1.1; +https://about.censys.io/)", "CensysInspect", "Censys", "security"],
  ["sqlmap/1.8.4#stable (https://sqlmap.org)", "sqlmap", "sqlmap", "security"],
  ["curl/8.7.1", "curl", "curl", "library"],
  ["python-requests/2.32.3", "python-requests", "python-requests", "library"],
  ["Go-http-client/2.0", "Go-http-client", "Go-http-client", "library"],
  ["axios/1.7.9", "axios", "axios", "library"],
  ["okhttp/4.12.0", "okhttp", "okhttp", "library"],
  ["Java/17.0.10", "Java", "Java", "library"],
  ["Wget/1.21.4", "Wget", "Wget", "library"],
  ["node-fetch/1.0 (+https://github.com/bitinn/node-fetch)", "node-fetch", "node-fetch", "library"],
];

t.test("bots, libraries and tools are known by name, operator and category", async (t) => {
  for (const [userAgent, name, operator, category] of named) {
    t.strictSame(bots.of(userAgent), { name, operator, category }, userAgent);
    t.equal(bots.of(userAgent.toLowerCase()), bots.of(userAgent), "ASCII case does not matter");
  }
});

/** Browsers, apps and devices whose user agents hold words of bots. */
const people: readonly string[] = [
  "Mozilla/5.0 (Linux; Android 9; CUBOT_POWER) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Mobile Safari/537.36",
  "Mozilla/5.0 (Linux; Android 11; CUBOT NOTE 20 PRO Build/RP1A.200720.011; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/120.0.0.0 Mobile Safari/537.36",
  "Mozilla/5.0 (Linux; Android 4.2.2; HTC Butterfly Build/JDQ39) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/30.0.0.0 Mobile Safari/537.36",
  "Mozilla/5.0 (Linux; Android 8.0.0; Expanse) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/86.0.4240.99 Mobile Safari/537.36",
  "Mozilla/5.0 (Linux; U; Android 15; zh-cn; PKH120 Build/AP3A.240617.008) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/100.0.4896.58 UCBrowser/17.0 Mobile Safari/537.36",
  "Mozilla/5.0 (Linux; Android 5.1.1; ivvi SS1-03 Build/LMY47V; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/68.0.3440.106 Mobile Safari/537.36 SogouSearch Android1.0 version3.0",
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) coc_coc_browser/130.0.0 Chrome/130.0.0.0 Safari/537.36",
  "Mozilla/5.0 (Linux; U; Android 1.6; fr-fr; LG-GT540 ; Build/Donut) AppleWebKit/528.5+ (KHTML, like Gecko) Version/3.1.2 Mobile Safari/525.20.1 Java/Jbed/7.0 Profile/MIDP-2.1",
  "Mozilla/5.0 (X11; Linux x86_64; rv:20.0) Gecko/20100101 Firefox/20.0 FirePHP/0.7.4",
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Notion/4.2.0 Chrome/130.0.0.0 Electron/33.0.0 Safari/537.36",
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Code/1.96.2 Chrome/128.0.6613.186 Electron/32.2.6 Safari/537.36",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [FBAN/FBIOS;FBAV/520.0.0;FBDV/iPhone15,3;FBMD/iPhone;FBSN/iOS;FBSV/18.5]",
  "Mozilla/5.0 (Linux; Android 14; SM-S918B Build/UP1A; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/130.0.0.0 Mobile Safari/537.36 Instagram 350.0.0.0.0 Android",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/21F79 [Pinterest/iOS]",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Snapchat/13.30 (like Safari/8621)",
  "Mozilla/5.0 (Linux; Android 13; KFTUWI) AppleWebKit/537.36 (KHTML, like Gecko) Silk/128.4 like Chrome/128.0.6613.187 Safari/537.36",
  "Mozilla/5.0 (Windows; U; Windows NT 10.0; en-US; Valve Steam GameOverlay/1700000000; ) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.6478.183 Safari/537.36",
  "Mozilla/5.0 (PlayStation; PlayStation 5/9.00) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/15.4 Safari/605.1.15",
  "Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile DuckDuckGo/5 Safari/537.36",
  "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 YaBrowser/25.6.0.0 Mobile Safari/537.36",
  "Opera/9.80 (Android; Opera Mini/36.2.2254/119.132; U; id) Presto/2.12.423 Version/12.16",
  "Amazon CloudFront",
  "",
];

const fixtures = resolve(dirname(fileURLToPath(import.meta.url)), "../../../../test/detections/odd-browsers");

t.test("browsers, apps and odd devices name no bot", async (t) => {
  for (const userAgent of people) t.equal(bots.of(userAgent), undefined, userAgent);
  const files = readdirSync(fixtures).filter((name) => name.endsWith(".json"));
  t.ok(files.length > 20);
  for (const name of files) {
    const { facts } = JSON.parse(readFileSync(join(fixtures, name), "utf8")) as { facts?: { userAgent?: string } };
    t.equal(bots.of(facts?.userAgent ?? ""), undefined, `${name}: ${facts?.userAgent}`);
  }
});

t.test("only the first 512 characters count", async (t) => {
  const token = "GPTBot";
  const padded = (before: number) => "x".repeat(before) + token;
  t.equal(bots.of(padded(limits.contextValueMax - token.length))?.name, token);
  t.equal(bots.of(padded(limits.contextValueMax - token.length + 1)), undefined);
});

t.test(
  "the longest token wins, one that begins a word before others, the first of the list among equals",
  async (t) => {
    const letters = fc.string({ unit: fc.constantFrom(..."abAB/ é"), maxLength: 30 });
    const needle = fc.string({ unit: fc.constantFrom(..."abAB/ "), minLength: 1, maxLength: 5 });
    holds(
      t,
      fc.property(fc.array(needle, { maxLength: 12 }), letters, fc.nat(30), (needles, text, lengthMax) => {
        return createLongestTokenFinder(needles)(text, lengthMax) === naive(needles, text.slice(0, lengthMax));
      }),
      { numRuns: 3000 },
    );
  },
);

/** The same by looking for each token at each place. */
function naive(tokens: readonly string[], text: string): number {
  const found: { index: number; length: number; begins: boolean }[] = [];
  for (const [index, token] of tokens.entries()) {
    for (let at = 0; at + token.length <= text.length; at++) {
      if (lower(text.slice(at, at + token.length)) !== lower(token)) continue;
      found.push({ index, length: token.length, begins: !/[a-z0-9]/i.test(text.slice(0, at).at(-1) ?? "") });
    }
  }
  found.sort((a, b) => Number(b.begins) - Number(a.begins) || b.length - a.length || a.index - b.index);
  return found[0]?.index ?? -1;
}

/** ASCII only. */
function lower(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
