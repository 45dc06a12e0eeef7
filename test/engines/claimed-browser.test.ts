/** What a user agent claims to be. */
import t from "tap";
import { claimedBrowser } from "../../src/engines/claimed-browser.js";

const agents: [
  agent: string,
  family: string,
  version: number,
  system: string,
  isMobile: boolean,
  isEmbedded: boolean,
][] = [
  [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36",
    "chromium",
    156,
    "windows",
    false,
    false,
  ],
  [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/64.0.3282.140 Safari/537.36 Edge/18.17763",
    "other",
    0,
    "windows",
    false,
    false,
  ],
  [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:128.0) Goanna/6.7 Gecko/20100101 Firefox/128.0 PaleMoon/33.5.1",
    "other",
    0,
    "windows",
    false,
    false,
  ],
  [
    "Mozilla/5.0 (Linux; U; en-US) AppleWebKit/528.5+ (KHTML, like Gecko, Safari/528.5+) PocketBook/741",
    "other",
    0,
    "linux",
    false,
    false,
  ],
  ["Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "firefox", 140, "linux", false, false],
  [
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.2 Safari/605.1.15",
    "safari",
    18,
    "mac",
    false,
    false,
  ],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/131.0.6778.73 Mobile/15E148 Safari/604.1",
    "safari",
    0,
    "ios",
    true,
    true,
  ],
  [
    "Mozilla/5.0 (Linux; Android 14; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/131.0.6778.81 Mobile Safari/537.36",
    "chromium",
    131,
    "android",
    true,
    true,
  ],
  ["curl/8.11.0", "other", 0, "other", false, false],
  ["", "other", 0, "other", false, false],
  ["Chrome/99999999 Firefox/1", "other", 0, "other", false, false],
];

t.test("family, version, system and form are read from the user agent", async (t) => {
  for (const [agent, family, version, system, isMobile, isEmbedded] of agents) {
    t.same(claimedBrowser(agent), { family, version, system, isMobile, isEmbedded }, agent);
  }
});
