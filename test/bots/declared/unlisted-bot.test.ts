/** Holds which user agents name a bot that no list has, and that people's do not. */
import t from "tap";
import { unlistedBot } from "../../../src/bots/declared/unlisted-bot.js";

t.test("a bot that no list has is named by its token", async (t) => {
  for (const [userAgent, name] of [
    ["Mozilla/5.0 (compatible; FooBot/1.0; +https://foo.example/bot)", "FooBot"],
    ["Mozilla/5.0 (compatible; foobot)", "foobot"],
    ["Mozilla/5.0 (compatible; Foo Crawler v2.1)", "Foo Crawler"],
    ["Mozilla/5.0 (compatible; Foo-Spider/2)", "Foo-Spider"],
    [
      "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; FooBot/1.2; +https://foo.example) Chrome/140.0 Safari/537.36",
      "FooBot",
    ],
    [
      "Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/41.0 (compatible; Foobot/2.1)",
      "Foobot",
    ],
    ["Mozilla/5.0 (compatible; Foo/1.0; +http://foo.example)", "Foo"],
    ["FooFetch/3 (+https://foo.example)", "FooFetch"],
    ["Mozilla/5.0 (compatible; MSIE 9.0; FooBot/1.0; +http://foo.example)", "FooBot"],
    [`Mozilla/5.0 (compatible; ${"f".repeat(100)}bot/1)`, "f".repeat(64)],
  ] as const) {
    t.match(unlistedBot(userAgent), { name, category: "other" }, userAgent);
  }
});

t.test("people's browsers name none", async (t) => {
  for (const userAgent of [
    "",
    "Mozilla/5.0 (Linux; Android 9; CUBOT_P30) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Mobile Safari/537.36",
    "Mozilla/5.0 (Linux; Android 11; CUBOT KINGKONG CS; compatible; CUBOT) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0",
    "Mozilla/5.0 (Linux; Android 13; Robot X1 Build/TP1A) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Mobile Safari/537.36",
    "Mozilla/5.0 (compatible; MSIE 10.0; Windows NT 6.2; Trident/6.0; Abbott)",
    "Mozilla/4.0 (compatible; MSIE 8.0; Windows NT 6.1; Trident/4.0; BOTW; FunWebProducts; http://bsalsa.com)",
    "Mozilla/5.0 (compatible; Konqueror/4.5; Linux; X11; en_US) KHTML/4.5.5 (like Gecko)",
    "Mozilla/5.0 (compatible; U; ABrowse 0.6; Syllable) AppleWebKit/420+ (KHTML, like Gecko)",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
  ]) {
    t.equal(unlistedBot(userAgent), undefined, userAgent);
  }
});

t.test("a long text costs no more than its beginning", async (t) => {
  for (const piece of ["(", "(compatible; ", "bot", "+", "; "])
    t.doesNotThrow(() => unlistedBot(`http${piece.repeat(50_000)}`));
});
