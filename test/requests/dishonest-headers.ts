/**
 * Header lines of HTTP libraries and tools as they send them by themselves, in their order, and the ways in which they are disguised. The lines
 * of curl, wget, Python's urllib and requests, Node's fetch and http, Perl and Java are captured; the others are as their sources have them.
 */
import type { HeaderLine } from "./judged.js";

export const chromeAgent =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36";
export const firefoxAgent = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:133.0) Gecko/20100101 Firefox/133.0";
export const safariAgent =
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.2 Safari/605.1.15";

const host: HeaderLine = ["Host", "shop.example"];

/** `agent` stands where the library puts the user agent, its own or one that it was given. */
interface Library {
  readonly name: string;
  readonly ownAgent: string;
  readonly lines: (agent: string) => HeaderLine[];
}

const library = (name: string, ownAgent: string, lines: (agent: HeaderLine) => HeaderLine[]): Library => ({
  name,
  ownAgent,
  lines: (agent) => lines(["User-Agent", agent]),
});

export const libraries: readonly Library[] = [
  library("curl", "curl/8.11.0", (agent) => [host, agent, ["Accept", "*/*"]]),
  library("curl --compressed", "curl/8.11.0", (agent) => [
    host,
    agent,
    ["Accept", "*/*"],
    ["Accept-Encoding", "deflate, gzip, br, zstd"],
  ]),
  library("wget", "Wget/1.21.3", (agent) => [
    host,
    agent,
    ["Accept", "*/*"],
    ["Accept-Encoding", "identity"],
    ["Connection", "Keep-Alive"],
  ]),
  library("Python's urllib", "Python-urllib/3.11", (agent) => [
    ["Accept-Encoding", "identity"],
    host,
    agent,
    ["Connection", "close"],
  ]),
  library("requests", "python-requests/2.32.3", (agent) => [
    host,
    agent,
    ["Accept-Encoding", "gzip, deflate"],
    ["Accept", "*/*"],
    ["Connection", "keep-alive"],
  ]),
  library("httpx", "python-httpx/0.28.1", (agent) => [
    host,
    ["Accept", "*/*"],
    ["Accept-Encoding", "gzip, deflate"],
    ["Connection", "keep-alive"],
    agent,
  ]),
  library("aiohttp", "Python/3.12 aiohttp/3.11.9", (agent) => [
    host,
    agent,
    ["Accept", "*/*"],
    ["Accept-Encoding", "gzip, deflate"],
  ]),
  library("Scrapy", "Scrapy/2.12.0 (+https://scrapy.org)", (agent) => [
    host,
    ["Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"],
    ["Accept-Language", "en"],
    agent,
    ["Accept-Encoding", "gzip, deflate"],
  ]),
  library("Node's fetch", "node", (agent) => [
    ["host", "shop.example"],
    ["connection", "keep-alive"],
    [agent[0].toLowerCase(), agent[1]],
    ["accept", "*/*"],
    ["accept-language", "*"],
    ["sec-fetch-mode", "cors"],
    ["accept-encoding", "gzip, deflate"],
  ]),
  library("undici.request", "undici", (agent) => [["host", "shop.example"], ["connection", "keep-alive"], agent]),
  library("axios", "axios/1.7.9", (agent) => [
    ["Accept", "application/json, text/plain, */*"],
    agent,
    ["Accept-Encoding", "gzip, compress, deflate, br"],
    host,
    ["Connection", "keep-alive"],
  ]),
  library("got", "got (https://github.com/sindresorhus/got)", (agent) => [
    ["user-agent", agent[1]],
    ["accept-encoding", "gzip, deflate, br"],
    host,
    ["Connection", "keep-alive"],
  ]),
  library("Go's net/http", "Go-http-client/1.1", (agent) => [host, agent, ["Accept-Encoding", "gzip"]]),
  library("Java's HttpClient", "Java-http-client/17.0.15", (agent) => [
    ["Connection", "Upgrade, HTTP2-Settings"],
    ["Content-Length", "0"],
    host,
    ["HTTP2-Settings", "AAEAAEAAAAIAAAAAAAMAAAAAAAQBAAAAAAUAAEAAAAYABgAA"],
    ["Upgrade", "h2c"],
    agent,
  ]),
  library("Java's URLConnection", "Java/17.0.15", (agent) => [
    agent,
    host,
    ["Accept", "text/html, image/gif, image/jpeg, */*; q=0.2"],
    ["Connection", "keep-alive"],
  ]),
  library("okhttp", "okhttp/4.12.0", (agent) => [
    host,
    ["Connection", "Keep-Alive"],
    ["Accept-Encoding", "gzip"],
    agent,
  ]),
  library("Apache HttpClient", "Apache-HttpClient/5.4 (Java/17)", (agent) => [
    ["Accept-Encoding", "gzip, x-gzip, deflate"],
    host,
    ["Connection", "keep-alive"],
    agent,
  ]),
  library("PHP's Guzzle", "GuzzleHttp/7", (agent) => [host, agent]),
  library("Ruby's Net::HTTP", "Ruby", (agent) => [
    ["Accept-Encoding", "gzip;q=1.0,deflate;q=0.6,identity;q=0.3"],
    ["Accept", "*/*"],
    agent,
    host,
  ]),
  library("Perl's LWP", "libwww-perl/6.77", (agent) => [
    ["TE", "deflate,gzip;q=0.3"],
    ["Connection", "TE, close"],
    host,
    agent,
  ]),
  library("Rust's reqwest", "reqwest/0.12", (agent) => [agent, ["accept", "*/*"], ["host", "shop.example"]]),
];

/** Lines that people copy from a browser into a script, beside the user agent. */
export const copiedLanguage: HeaderLine = ["Accept-Language", "en-US,en;q=0.9"];

const chromeHints: HeaderLine[] = [
  ["sec-ch-ua", '"Google Chrome";v="131", "Chromium";v="131", "Not_A Brand";v="24"'],
  ["sec-ch-ua-mobile", "?0"],
  ["sec-ch-ua-platform", '"Windows"'],
];
const chromeNavigation: HeaderLine[] = [
  ["Upgrade-Insecure-Requests", "1"],
  ["User-Agent", chromeAgent],
  [
    "Accept",
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7",
  ],
  ["Sec-Fetch-Site", "none"],
  ["Sec-Fetch-Mode", "navigate"],
  ["Sec-Fetch-User", "?1"],
  ["Sec-Fetch-Dest", "document"],
];
const chromeEnd: HeaderLine[] = [["Accept-Encoding", "gzip, deflate, br, zstd"], copiedLanguage];

/** Chrome's navigation, whole and in its order: what curl-impersonate, curl_cffi and driven browsers send. Nothing tells it from Chrome's own. */
export const impersonated: HeaderLine[] = [
  host,
  ["Connection", "keep-alive"],
  ...chromeHints,
  ...chromeNavigation,
  ...chromeEnd,
];

const changed = (changes: Readonly<Record<string, string | null>>): HeaderLine[] =>
  impersonated
    .filter(([name]) => changes[name.toLowerCase()] !== null)
    .map(([name, value]): HeaderLine => [name, changes[name.toLowerCase()] ?? value]);

/** Sets that contradict themselves in two or more ways. */
export const contradictions: Readonly<Record<string, readonly HeaderLine[]>> = {
  "hints of a Mac's telephone under Windows": changed({
    "sec-ch-ua-mobile": "?1",
    "sec-ch-ua-platform": '"macOS"',
  }),
  "hints of another version and system": changed({
    "sec-ch-ua": '"Google Chrome";v="120", "Chromium";v="120", "Not_A Brand";v="24"',
    "sec-ch-ua-platform": '"Linux"',
  }),
  "Firefox by name, Chrome by everything else": changed({ "user-agent": firefoxAgent }),
  "Safari by name, Chrome by everything else": changed({ "user-agent": safariAgent }),
  "an old Chrome by name with today's headers": changed({
    "user-agent": chromeAgent.replace("131", "58"),
    "accept-language": null,
  }),
  "headless Chrome under another name, without languages": changed({
    "sec-ch-ua-platform": '"Linux"',
    "accept-language": null,
  }),
  "headless Chrome stripped of all that begins with Sec-, and of languages": changed({
    "sec-ch-ua": null,
    "sec-ch-ua-mobile": null,
    "sec-ch-ua-platform": null,
    "sec-fetch-site": null,
    "sec-fetch-mode": null,
    "sec-fetch-user": null,
    "sec-fetch-dest": null,
    "accept-language": null,
  }),
  "a page view's headers with a script's mode, and the hints of another system": changed({
    "sec-fetch-mode": "cors",
    "sec-ch-ua-platform": '"Android"',
  }),
  "a navigation that accepts JSON and says it sends some": [
    ...changed({ accept: "application/json" }),
    ["Content-Type", "application/json"],
  ],
  "a request that accepts anything, as requests orders it, with copied hints": [
    host,
    ["User-Agent", chromeAgent],
    ["Accept-Encoding", "gzip, deflate"],
    ["Accept", "*/*"],
    ["Connection", "keep-alive"],
    ...chromeHints,
  ],
  "Node's fetch with Chrome's user agent, languages and hints": [
    ["host", "shop.example"],
    ["connection", "keep-alive"],
    ["user-agent", chromeAgent],
    ["accept-language", "en-US,en;q=0.9"],
    ...chromeHints,
    ["accept", "*/*"],
    ["sec-fetch-mode", "cors"],
    ["accept-encoding", "gzip, deflate"],
  ],
};
