/** Browsers, versions and in-app views that people use, and programs that name themselves and do no harm. */
import type { Browser } from "./browser-headers.js";

const windows = "Windows NT 10.0; Win64; x64";
const mac = "Macintosh; Intel Mac OS X 10_15_7";
const linux = "X11; Linux x86_64";
const phone = "Linux; Android 10; K";
const blink = (system: string, version: number, more = "", mobile = ""): string =>
  `Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0${mobile} Safari/537.36${more}`;
const view = (system: string, version: number, more: string): string =>
  `Mozilla/5.0 (${system}; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/${version}.0.0.0 Mobile Safari/537.36 ${more}`.trim();
const gecko = (system: string, version: number, more = ""): string =>
  `Mozilla/5.0 (${system}; rv:${version > 109 && version < 120 ? 109 : version}.0) Gecko/20100101 Firefox/${version}.0${more}`;
const webkit = (version: string, safari = "605.1.15", system = mac): string =>
  `Mozilla/5.0 (${system}) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/${version} Safari/${safari}`;
const ios = (more: string, os = "18_1"): string =>
  `Mozilla/5.0 (iPhone; CPU iPhone OS ${os} like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) ${more}`;

type Chromium = Omit<Browser, "engine" | "name" | "version">;

function chromium(name: string, version: number, more: Chromium): Browser {
  return { name, engine: "chromium", version, ...more };
}

const mobile = { platform: "Android", isMobile: true } as const;
const webView = { ...mobile, brands: ["Android WebView"], odd: { "x-requested-with": "org.example.app" } } as const;

const chromiums: Browser[] = [
  chromium("Chrome 156 on Windows", 156, { agent: blink(windows, 156), brands: ["Google Chrome"] }),
  chromium("Chrome 131 on Windows", 131, { agent: blink(windows, 131), brands: ["Google Chrome"] }),
  chromium("Chrome 120 on a Mac", 120, { agent: blink(mac, 120), brands: ["Google Chrome"], platform: "macOS" }),
  chromium("Chrome 109 on Windows 7, its last", 109, {
    agent: blink("Windows NT 6.1; Win64; x64", 109),
    brands: ["Google Chrome"],
  }),
  chromium("Chrome 99", 99, { agent: blink(windows, 99), brands: ["Google Chrome"] }),
  chromium("Chrome 91, hints without a platform", 91, { agent: blink(windows, 91), brands: ["Google Chrome"] }),
  chromium("Chrome 80, the first with Sec-Fetch everywhere", 80, { agent: blink(windows, 80) }),
  chromium("Chrome 72, before Sec-Fetch", 72, { agent: blink(windows, 72) }),
  chromium("Chrome 49 on Windows XP, its last", 49, { agent: blink("Windows NT 5.1", 49) }),
  chromium("Chrome on ChromeOS", 131, {
    agent: blink("X11; CrOS x86_64 14541.0.0", 131),
    brands: ["Google Chrome"],
    platform: "Chrome OS",
  }),
  chromium("Chrome on a telephone", 131, {
    agent: blink(phone, 131, "", " Mobile"),
    brands: ["Google Chrome"],
    ...mobile,
  }),
  chromium("Chrome on a tablet", 131, { agent: blink(phone, 131), brands: ["Google Chrome"], platform: "Android" }),
  chromium("Chrome on a telephone, desktop site", 131, {
    agent: blink(linux, 131),
    brands: ["Google Chrome"],
    platform: "Linux",
  }),
  chromium("Chromium on Linux", 131, { agent: blink(linux, 131), brands: [], platform: "Linux" }),
  chromium("Chromium on FreeBSD", 128, { agent: blink("X11; FreeBSD amd64", 128), brands: [], platform: "FreeBSD" }),
  chromium("Ungoogled Chromium without client hints", 131, { agent: blink(linux, 131), brands: null }),
  chromium("Edge on Windows", 131, { agent: blink(windows, 131, " Edg/131.0.0.0"), brands: ["Microsoft Edge"] }),
  chromium("Edge on a Mac", 130, {
    agent: blink(mac, 130, " Edg/130.0.0.0"),
    brands: ["Microsoft Edge"],
    platform: "macOS",
  }),
  chromium("Edge on a telephone", 131, {
    agent: blink(phone, 131, " EdgA/131.0.0.0", " Mobile"),
    brands: ["Microsoft Edge"],
    ...mobile,
  }),
  chromium("Edge on an Xbox", 128, {
    agent: blink("Windows NT 10.0; Win64; x64; Xbox; Xbox One", 128, " Edg/128.0.0.0"),
    brands: ["Microsoft Edge"],
  }),
  chromium("Opera on Windows", 131, { agent: blink(windows, 131, " OPR/116.0.0.0"), brands: ["Opera"] }),
  chromium("Opera GX", 130, { agent: blink(windows, 130, " OPR/115.0.0.0 (Edition std-2)"), brands: ["Opera GX"] }),
  chromium("Opera on a telephone", 129, {
    agent: blink(phone, 129, " OPR/86.0.0.0", " Mobile"),
    brands: ["OperaMobile"],
    ...mobile,
  }),
  chromium("Brave on Windows", 131, { agent: blink(windows, 131), brands: ["Brave"], odd: { "sec-gpc": "1" } }),
  chromium("Brave on a telephone", 131, { agent: blink(phone, 131, "", " Mobile"), brands: ["Brave"], ...mobile }),
  chromium("Vivaldi", 130, { agent: blink(windows, 130), brands: ["Vivaldi"] }),
  chromium("Samsung Internet 27", 125, {
    agent: blink(phone, 125, "", " Mobile").replace("Chrome/", "SamsungBrowser/27.0 Chrome/"),
    brands: ["Samsung Internet"],
    ...mobile,
  }),
  chromium("Samsung Internet 14, of 2021", 87, {
    agent: blink("Linux; Android 11; SAMSUNG SM-G973F", 87, "", " Mobile").replace(
      "Chrome/",
      "SamsungBrowser/14.2 Chrome/",
    ),
  }),
  chromium("Yandex Browser", 130, {
    agent: blink(windows, 130).replace(" Safari/", " YaBrowser/24.12.0.0 Safari/"),
    brands: ["YaBrowser", "Yowser"],
  }),
  chromium("Yandex Browser on a telephone", 130, {
    agent: blink("Linux; arm_64; Android 14; SM-S911B", 130, "", " YaBrowser/24.12.0.0 Mobile"),
    brands: ["YaBrowser", "Yowser"],
    ...mobile,
  }),
  chromium("Whale", 128, {
    agent: blink(windows, 128).replace(" Safari/", " Whale/4.29.282.14 Safari/"),
    brands: ["Whale"],
  }),
  chromium("Huawei Browser", 114, {
    agent: blink("Linux; Android 12; HarmonyOS; NOH-AN00", 114, "", " HuaweiBrowser/15.0.4.312 Mobile"),
    brands: ["HuaweiBrowser"],
    ...mobile,
  }),
  chromium("Mi Browser", 112, {
    agent: blink("Linux; U; Android 13; en-gb; 2201117TG", 112, " XiaoMi/MiuiBrowser/14.9.1-gn", " Mobile"),
    brands: null,
    ...mobile,
  }),
  chromium("UC Browser", 100, {
    agent: blink("Linux; U; Android 12; en-US; M2102J20SG", 100, "", " UCBrowser/13.4.0.1306 Mobile"),
    brands: null,
    odd: { "accept-language": "en-US" },
  }),
  chromium("QQ Browser", 109, {
    agent: blink("Linux; U; Android 13; zh-cn; V2183A", 109, "", " MQQBrowser/14.8 Mobile"),
    brands: null,
    odd: { "accept-language": "zh-CN,zh;q=0.9" },
  }),
  chromium("DuckDuckGo on Android", 131, { agent: blink(phone, 131, " DuckDuckGo/5", " Mobile"), ...webView }),
  chromium("DuckDuckGo on Windows", 131, {
    agent: blink(windows, 131, " Edg/131.0.0.0"),
    brands: ["DuckDuckGo", "Microsoft Edge WebView2"],
  }),
  chromium("Silk on a Fire tablet", 124, {
    agent: blink("Linux; Android 11; KFTRWI", 124, "", "").replace(" Chrome/", " Silk/124.3.1 like Chrome/"),
    brands: ["Amazon Silk"],
    platform: "Android",
  }),
  chromium("Cromite, hints off", 131, { agent: blink(phone, 131, "", " Mobile"), brands: null }),
  chromium("Falkon (QtWebEngine)", 112, {
    agent: blink(linux, 112).replace("Chrome/", "QtWebEngine/6.6.2 Chrome/"),
    brands: null,
    odd: { "accept-language": "en-US" },
  }),
  chromium("an Electron application", 124, {
    agent: blink(windows, 124).replace(" Safari/", " Electron/30.0.9 Safari/"),
    brands: [],
  }),
  chromium("Meta Quest Browser", 126, {
    agent:
      "Mozilla/5.0 (X11; Linux x86_64; Quest 3) AppleWebKit/537.36 (KHTML, like Gecko) OculusBrowser/35.2.0 Chrome/126.0.0.0 VR Safari/537.36",
    brands: ["Oculus Browser"],
    platform: "Android",
  }),
  chromium("a Tesla", 109, { agent: blink("X11; GNU/Linux", 109, " Tesla/2024.38.25"), brands: [], platform: "Linux" }),
  chromium("a television by LG (webOS)", 108, {
    agent: blink("Web0S; Linux/SmartTV", 108, " WebAppManager"),
    brands: null,
  }),
  chromium("a television by Samsung (Tizen)", 94, {
    agent:
      "Mozilla/5.0 (SMART-TV; LINUX; Tizen 7.0) AppleWebKit/537.36 (KHTML, like Gecko) 94.0.4606.31/7.0 TV Safari/537.36",
    brands: null,
  }),
  chromium("a Fire TV stick", 120, { agent: view("Linux; Android 9; AFTKA", 120, ""), ...webView, isMobile: false }),
  chromium("Chromecast", 126, {
    agent: blink("X11; Linux armv7l", 126, " CrKey/1.56.500000"),
    brands: [],
    platform: "Linux",
  }),
];

const android = "Linux; Android 14; SM-S921B Build/UP1A.231005.007";
const views: Browser[] = [
  chromium("an app's web view", 131, { agent: view(android, 131, ""), ...webView }),
  chromium("an old app's web view", 74, { agent: view("Linux; Android 9; SM-G960F", 74, "") }),
  chromium("Facebook on Android", 131, {
    agent: view(android, 131, "[FB_IAB/FB4A;FBAV/490.0.0.63.82;]"),
    ...webView,
  }),
  chromium("Instagram on Android", 131, { agent: view(android, 131, "Instagram 359.0.0.59.89 Android"), ...webView }),
  chromium("Line on Android", 130, { agent: view(android, 130, "Line/14.19.1/IAB"), ...webView }),
  chromium("WeChat on Android", 122, {
    agent: view(android, 122, "XWEB/1220133 MMWEBSDK/20241103 MicroMessenger/8.0.55.2780 NetType/WIFI Language/zh_CN"),
    brands: null,
    odd: { "x-requested-with": "com.tencent.mm", "accept-language": "zh-CN,zh;q=0.9,en-US;q=0.8,en;q=0.7" },
  }),
  chromium("TikTok on Android", 130, {
    agent: view(android, 130, "trill_370105 JsSdk/1.0 NetType/WIFI BytedanceWebview/d8a21c6"),
    ...webView,
  }),
  chromium("Snapchat on Android", 130, { agent: view(android, 130, "Snapchat/13.18.0.38"), ...webView }),
  chromium("Pinterest on Android", 130, { agent: view(android, 130, "[Pinterest/Android]"), ...webView }),
  chromium("Naver on Android", 128, { agent: view(android, 128, "NAVER(inapp; search; 2000; 12.9.5)"), ...webView }),
  chromium("KakaoTalk on Android", 128, { agent: view(android, 128, "KAKAOTALK 11.2.0"), ...webView }),
];

const safari = (name: string, version: number, agent: string, odd?: Browser["odd"]): Browser => ({
  name,
  engine: "safari",
  version,
  agent,
  ...(odd && { odd }),
});

const safaris: Browser[] = [
  safari("Safari 18 on a Mac", 18, webkit("18.2")),
  safari("Safari 17 on a Mac", 17, webkit("17.4.1")),
  safari("Safari 15 on a Mac", 15, webkit("15.6.1")),
  safari("Safari 13 on a Mac", 13, webkit("13.1.2")),
  safari("Safari 9 on an old Mac", 9, webkit("9.1.2", "601.7.7", "Macintosh; Intel Mac OS X 10_9_5")),
  safari("Safari on an iPhone", 18, ios("Version/18.1 Mobile/15E148 Safari/604.1")),
  safari("Safari on iOS 16", 16, ios("Version/16.2 Mobile/15E148 Safari/604.1", "16_2")),
  safari("Safari on iOS 12", 12, ios("Version/12.1.2 Mobile/15E148 Safari/604.1", "12_5_7")),
  safari("Safari on an iPad, which says Mac", 18, webkit("18.1")),
  safari("Chrome on an iPhone", 18, ios("CriOS/131.0.6778.73 Mobile/15E148 Safari/604.1")),
  safari("Firefox on an iPhone", 18, ios("FxiOS/133.0 Mobile/15E148 Safari/605.1.15")),
  safari("Edge on an iPhone", 18, ios("Version/18.0 EdgiOS/131.0.2903.68 Mobile/15E148 Safari/604.1")),
  safari("Google's app on an iPhone", 18, ios("GSA/343.0.695551749 Mobile/15E148 Safari/604.1")),
  safari("DuckDuckGo on an iPhone", 18, ios("Version/18.1 Mobile/15E148 DuckDuckGo/7 Safari/605.1.15")),
  safari("DuckDuckGo on a Mac", 18, `${webkit("18.1")} Ddg/18.1`),
  safari("Brave on an iPhone", 18, ios("Version/18.1 Mobile/15E148 Safari/604.1")),
  safari("Facebook on an iPhone", 18, ios("Mobile/22B83 [FBAN/FBIOS;FBAV/488.0.0.69.103;FBBV/662370105]")),
  safari(
    "Instagram on an iPhone",
    18,
    ios("Mobile/22B83 Instagram 358.0.0.28.98 (iPhone15,2; iOS 18_1; en_US; scale=3.00)"),
  ),
  safari("Line on an iPhone", 18, ios("Safari Line/14.19.1")),
  safari("WeChat on an iPhone", 18, ios("Mobile/15E148 MicroMessenger/8.0.54(0x18003630) NetType/WIFI Language/en"), {
    "accept-language": "zh-CN,zh-Hans;q=0.9",
  }),
  safari(
    "TikTok on an iPhone",
    18,
    ios("Mobile/15E148 musical_ly_37.1.0 JsSdk/2.0 NetType/WIFI BytedanceWebview/d8a21c6"),
  ),
  safari("Epiphany on Linux", 17, webkit("17.0", "605.1.15", "X11; Linux x86_64")),
  safari(
    "PlayStation 5",
    13,
    "Mozilla/5.0 (PlayStation; PlayStation 5/9.00) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/13.0 Safari/605.1.15",
  ),
  safari("PlayStation 4", 0, "Mozilla/5.0 (PlayStation 4 11.00) AppleWebKit/605.1.15 (KHTML, like Gecko)"),
  safari(
    "Nintendo Switch",
    0,
    "Mozilla/5.0 (Nintendo Switch; WifiWebAuthApplet) AppleWebKit/609.4 (KHTML, like Gecko) NF/6.0.3.15.4 NintendoBrowser/5.1.0.20393",
  ),
  safari(
    "a Kindle",
    5,
    "Mozilla/5.0 (X11; U; Linux armv7l like Android; en-us) AppleWebKit/531.2+ (KHTML, like Gecko) Version/5.0 Safari/533.2+ Kindle/3.0+",
    {
      "upgrade-insecure-requests": null,
    },
  ),
  safari(
    "a Kobo",
    0,
    "Mozilla/5.0 (Linux; U; Android 2.0; en-us;) AppleWebKit/538.1 (KHTML, like Gecko) Version/4.0 Mobile Safari/538.1 (Kobo Touch 0377/4.38)",
  ),
];

const firefox = (name: string, version: number, agent: string, odd?: Browser["odd"]): Browser => ({
  name,
  engine: "firefox",
  version,
  agent,
  ...(odd && { odd }),
});

const firefoxes: Browser[] = [
  firefox("Firefox 153 on Linux", 153, gecko(linux, 153)),
  firefox("Firefox 145 on Windows", 145, gecko(windows, 145), { dnt: "1", "sec-gpc": "1" }),
  firefox("Firefox 140 ESR on a Mac", 140, gecko("Macintosh; Intel Mac OS X 10.15", 140)),
  firefox("Firefox 115 ESR on Windows 7", 115, gecko("Windows NT 6.1; Win64; x64", 115)),
  firefox("Firefox 102 ESR", 102, gecko(linux, 102)),
  firefox("Firefox 91 ESR", 91, gecko(windows, 91)),
  firefox("Firefox 78 ESR", 78, gecko(windows, 78)),
  firefox("Firefox 52 ESR on Windows XP, its last", 52, gecko("Windows NT 5.1", 52)),
  firefox("Firefox on a telephone", 133, gecko("Android 14; Mobile", 133).replace("20100101", "133.0")),
  firefox("Firefox Focus on a telephone", 133, gecko("Android 14; Mobile", 133).replace("20100101", "133.0")),
  firefox("LibreWolf", 145, gecko(linux, 145)),
  firefox("Tor Browser", 128, gecko("Windows NT 10.0", 128)),
  firefox("Mullvad Browser", 128, gecko(windows, 128)),
  firefox("Waterfox", 128, gecko(windows, 128)),
  firefox("Zen", 145, gecko(mac, 145)),
  firefox(
    "Pale Moon",
    68,
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:128.0) Goanna/6.7 Gecko/20100101 Firefox/128.0 PaleMoon/33.5.1",
  ),
  firefox(
    "SeaMonkey",
    60,
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:91.0) Gecko/20100101 Firefox/91.0 SeaMonkey/2.53.19",
  ),
  firefox("KaiOS", 48, "Mozilla/5.0 (Mobile; Nokia_8110_4G; rv:48.0) Gecko/48.0 Firefox/48.0 KAIOS/2.5"),
];

const other = (name: string, agent: string, odd?: Browser["odd"]): Browser => ({
  name,
  engine: "other",
  version: 0,
  agent,
  ...(odd && { odd }),
});

const others: Browser[] = [
  other("Edge 18, with an engine of its own", `${blink(windows, 64)} Edge/18.17763`, {
    accept: "text/html, application/xhtml+xml, application/xml; q=0.9, */*; q=0.8",
  }),
  other("Internet Explorer 11", "Mozilla/5.0 (Windows NT 6.1; WOW64; Trident/7.0; rv:11.0) like Gecko", {
    accept: "text/html, application/xhtml+xml, */*",
  }),
  other("Opera Mini", "Opera/9.80 (Android; Opera Mini/36.2.2254/191.283; U; en) Presto/2.12.423 Version/12.16"),
  other("Lynx", "Lynx/2.9.2 libwww-FM/2.14 SSL-MM/1.4.1 OpenSSL/3.4.0", { connection: null }),
  other("w3m", "w3m/0.5.3+git20230121", { connection: null }),
  other("Links", "Links (2.29; Linux 6.12 x86_64; GNU C 14.2; text)"),
  other("ELinks", "ELinks/0.16.1.1 (textmode; Linux; 80x24-2)"),
  other("NetSurf", "Mozilla/5.0 (X11; Linux x86_64) NetSurf/3.11"),
  other("Dillo", "Mozilla/4.0 (compatible; Dillo 3.2)", { "accept-language": null }),
  other("Ladybird", "Mozilla/5.0 (Linux; x86_64) Ladybird/1.0", {
    accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
  }),
  other(
    "PocketBook",
    "Mozilla/5.0 (Linux; U; en-US) AppleWebKit/528.5+ (KHTML, like Gecko, Safari/528.5+) PocketBook/741",
  ),
  other("an old Nokia", "Nokia6230/2.0 (04.44) Profile/MIDP-2.0 Configuration/CLDC-1.1"),
];

/** None of them may fall below the threshold, however the request travels. */
export const browsers: readonly Browser[] = [...chromiums, ...views, ...safaris, ...firefoxes, ...others];

/** Odd by themselves in one way: above the threshold as they are, but not with a second oddity added. */
export const oddOnes: readonly Browser[] = [
  chromium("a maker's desktop site, whose hints go on naming the telephone", 125, {
    agent: blink(linux, 125),
    brands: ["Vendor"],
    ...mobile,
  }),
  chromium("an agent switcher that claims another system", 131, {
    agent: blink(mac, 131),
    brands: ["Google Chrome"],
    platform: "Windows",
  }),
  chromium("an agent switcher that claims another version", 156, {
    agent: blink(windows, 120),
    brands: ["Google Chrome"],
  }),
  chromium("an agent switcher that claims Firefox", 156, { agent: gecko(windows, 145), brands: ["Google Chrome"] }),
  chromium("an agent switcher that claims Safari", 156, { agent: webkit("18.3"), brands: ["Google Chrome"] }),
  chromium("an agent switcher that claims an iPhone", 156, {
    agent: ios("Version/18.1 Mobile/15E148 Safari/604.1"),
    brands: ["Google Chrome"],
  }),
  chromium("a privacy proxy that claims Firefox and takes the hints", 156, {
    agent: gecko(windows, 145),
    brands: null,
  }),
  firefox("an agent switcher in Firefox that claims Chrome", 145, blink(windows, 156)),
  safari("Safari's menu that claims Chrome", 18, blink(mac, 156)),
  safari("Safari's menu that claims Firefox", 18, gecko("Macintosh; Intel Mac OS X 10.15", 145)),
];

/** Programs that name themselves: bots by their own word, and `definite` ones only where they name a tool that nobody browses with. */
export const namedPrograms: readonly { readonly name: string; readonly agent: string; readonly accept?: string }[] = [
  { name: "Feedly", agent: "Feedly/1.0 (+https://feedly.com/poller.html; 8 subscribers)" },
  { name: "NetNewsWire", agent: "NetNewsWire (RSS Reader; https://netnewswire.com/)" },
  { name: "FreshRSS", agent: "FreshRSS/1.24.3 (Linux; https://freshrss.org)" },
  { name: "Miniflux", agent: "Mozilla/5.0 (compatible; Miniflux/2.2.3; +https://miniflux.app)" },
  { name: "Tiny Tiny RSS", agent: "Tiny Tiny RSS/24.11 (https://tt-rss.org/)" },
  { name: "Inoreader", agent: "Mozilla/5.0 (compatible; inoreader.com; 3 subscribers)" },
  {
    name: "NewsBlur",
    agent:
      'NewsBlur Feed Fetcher - 5 subscribers - https://www.newsblur.com/site/1/ ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/96.0.4664.110 Safari/537.36")',
  },
  { name: "Thunderbird", agent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Thunderbird/128.5.0" },
  { name: "Slack's link preview", agent: "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)" },
  { name: "Discord's link preview", agent: "Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)" },
  { name: "Telegram's link preview", agent: "TelegramBot (like TwitterBot)" },
  { name: "WhatsApp's link preview", agent: "WhatsApp/2.24.24.78 A" },
  {
    name: "Facebook's link preview",
    agent: "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
  },
  {
    name: "iMessage's link preview",
    agent:
      "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) AppleWebKit/601.2.4 (KHTML, like Gecko) Version/9.0.1 Safari/601.2.4 facebookexternalhit/1.1 Facebot Twitterbot/1.0",
  },
  {
    name: "LinkedIn's link preview",
    agent: "LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)",
  },
  { name: "Mastodon's link preview", agent: "Mastodon/4.3.1 (http.rb/5.2.0; +https://mastodon.social/) Bot" },
  {
    name: "Skype's link preview",
    agent: "Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5 skype-url-preview@microsoft.com",
  },
  { name: "UptimeRobot", agent: "Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)" },
  { name: "Pingdom", agent: "Pingdom.com_bot_version_1.4_(http://www.pingdom.com/)" },
  {
    name: "Better Uptime",
    agent:
      "Better Uptime Bot Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/84.0.4147.89 Safari/537.36",
  },
  {
    name: "StatusCake",
    agent:
      "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/98.0.4758.102 Safari/537.36 StatusCake",
  },
  { name: "W3C validator", agent: "W3C_Validator/1.3 http://validator.w3.org/services" },
  {
    name: "Internet Archive",
    agent: "Mozilla/5.0 (compatible; archive.org_bot +http://archive.org/details/archive.org_bot)",
  },
  { name: "an app of a telephone", agent: "ShopApp/3.2 (iPhone; iOS 18.1; Scale/3.00)", accept: "application/json" },
  { name: "an app by CFNetwork", agent: "ShopApp/42 CFNetwork/1568.200.51 Darwin/24.1.0" },
];
