/** Claims are found exactly where a plain search finds them, and browsers claim nothing. */
import assert from "node:assert/strict";
import fc from "fast-check";
import t from "tap";
import { createTokenFinder } from "../../../src/bots/token-finder.js";
import { createClaimMatcher, shippedClaimTokens } from "../../../src/bots/verified/claims.js";
import { automationUserAgents } from "../../../src/detections/automation-user-agents.js";
import { holds } from "../../support/property.js";

const tokens = shippedClaimTokens();
const claim = createClaimMatcher(tokens);

const browsers = [
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36",
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:144.0) Gecko/20100101 Firefox/144.0",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1",
  "Mozilla/5.0 (Linux; Android 15; CUBOT X90) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Mobile Safari/537.36",
  "Mozilla/5.0 (Linux; Android 14; SM-S911B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36",
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36 Edg/156.0.0.0",
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 YaBrowser/25.8 Yowser/2.5 Safari/537.36",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 GSA/340.0 Mobile/15E148 Safari/604.1 DuckDuckGo/7",
];

/** ASCII only, as the finder does: a Kelvin sign is no k. */
function lower(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function naive(needles: readonly string[], text: string): number[] {
  return [...needles.keys()].filter((index) => lower(text).includes(lower(needles[index]!)));
}

t.test("every shipped token is found, alone, in any case and inside other text", async (t) => {
  for (const { token, operator } of tokens) {
    const found = claim(`Mozilla/5.0 (compatible; ${token.toUpperCase()}; +http://example.org)`);
    t.ok(
      found?.tokens.some((each) => each.token === token && each.operator === operator),
      token,
    );
    t.ok(claim(token) !== undefined, `${token} alone`);
    t.not(claim(token.slice(1))?.tokens[0]?.token, token, `${token} without its first letter`);
  }
});

t.test("browsers claim nothing and name no automation tool", async (t) => {
  const tools = createTokenFinder(automationUserAgents.map((tool) => tool.token));
  for (const browser of browsers) {
    t.equal(claim(browser), undefined, browser);
    t.strictSame(tools(browser), [], browser);
  }
  t.equal(claim(""), undefined);
});

t.test("one pass finds what a search for each token finds", async (t) => {
  const letters = fc.string({ unit: fc.constantFrom(..."abAB/ é\u212a"), maxLength: 30 });
  const needle = fc.string({ unit: fc.constantFrom(..."abAB/ "), minLength: 1, maxLength: 5 });
  holds(
    t,
    fc.property(fc.array(needle, { maxLength: 12 }), letters, (needles, text) => {
      assert.deepEqual([...createTokenFinder(needles)(text)], naive(needles, text));
    }),
    { numRuns: 3000 },
  );
  const shipped = tokens.map((each) => each.token);
  const find = createTokenFinder(shipped);
  const pieces = fc.array(fc.oneof(fc.constantFrom(...shipped, ...browsers), fc.string({ maxLength: 8 })), {
    maxLength: 5,
  });
  holds(
    t,
    fc.property(pieces, fc.nat(10), (parts, cut) => {
      const text = parts.join("").slice(cut);
      assert.deepEqual([...find(text)], naive(shipped, text));
    }),
  );
});

t.test("a claim names its operator, and one token that can't be verified makes it unverifiable", async (t) => {
  const google = claim("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)");
  t.match(google, { operator: "Google", category: "search", isVerifiable: true });
  t.match(claim("facebookexternalhit/1.1 Facebot Twitterbot/1.0"), { operator: "Meta", isVerifiable: false });
  const both = claim("Mozilla/5.0 Googlebot/2.1 PTST/240101");
  t.match(both, { operator: "Google", isVerifiable: false });
  t.strictSame(
    both?.tokens.map((each) => each.operator),
    ["Google", "WebPageTest"],
  );
});
