/**
 * Time of what a request is asked about besides its session, each for many addresses or user agents: country and network, lists of addresses,
 * the rate of an address, the bot that a user agent names, the score of its headers. Then the memory of rates with a million addresses.
 */

import { shippedDeclaredBots } from "../../src/bots/declared/catalogue.js";
import { createDeclaredBots } from "../../src/bots/declared/declared-bots.js";
import { scoreRequest } from "../../src/engines/score-request.js";
import { parseAddressWords } from "../../src/net/parsed-address.js";
import { isIpListFault, parseIpList } from "../../src/network/ip-list-file.js";
import { createIpListIndex } from "../../src/network/ip-list-index.js";
import { NetworkFacts } from "../../src/network/network-facts.js";
import { shippedFacts } from "../../src/network/network-files.js";
import { newRates, RequestRates } from "../../src/requests/rates.js";
import { requestFrom, ways } from "../../test/requests/browser-headers.js";
import { browsers } from "../../test/requests/honest-headers.js";
import { noFindings } from "../../test/requests/judged.js";
import { type TimedRow, timed } from "./timed.js";

const addressCount = 4096;
const rounds = 100;

/** Spread over the whole space, the same in each run. */
const v4 = Array.from({ length: addressCount }, (_, n) => addressOf(Math.imul(n, 0x9e3779b1) >>> 0));
const v6 = Array.from({ length: addressCount }, (_, n) => {
  const word = Math.imul(n, 0x9e3779b1) >>> 0;
  return `2${(n % 0xb00).toString(16).padStart(3, "0")}:${(word & 0xffff).toString(16)}:${(word >>> 16).toString(16)}::1`;
});
const browser =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36 Edg/156.0.0.0";
const crawler =
  "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)";

function addressOf(n: number): string {
  return `${n >>> 24}.${(n >>> 16) & 255}.${(n >>> 8) & 255}.${n & 255}`;
}

function perAddress(what: string, addresses: readonly string[], look: (address: string) => unknown): TimedRow {
  const [, micros] = timed(what, rounds, () => {
    for (const address of addresses) look(address);
  });
  return [what, micros / addresses.length];
}

export function requestsBench(): TimedRow[] {
  const facts = new NetworkFacts(shippedFacts());
  if (facts.of("8.8.8.8").asn !== 15169) throw new Error("the shipped facts lack a well-known address");
  const bots = createDeclaredBots(shippedDeclaredBots());
  if (bots.of(crawler)?.name !== "GPTBot" || bots.of(browser) !== undefined) throw new Error("a user agent is misread");
  return [
    perAddress("network facts, IPv4", v4, (address) => facts.of(address)),
    perAddress("network facts, IPv6", v6, (address) => facts.of(address)),
    ...listRow(),
    ...ratesRows(),
    timed("declared bots, a browser's user agent", rounds * 100, () => bots.of(browser)),
    timed("declared bots, a crawler's user agent", rounds * 100, () => bots.of(crawler)),
    scoreRow(),
  ];
}

function scoreRow(): TimedRow {
  const requests = browsers.flatMap((each) => ways.map((way) => requestFrom(each, "link", way)));
  const [, micros] = timed("", rounds, () => {
    for (const request of requests) scoreRequest(request, noFindings);
  });
  return ["score of a browser's request", micros / requests.length];
}

function listRow(): TimedRow[] {
  const list = parseIpList(
    Array.from({ length: 100_000 }, (_, n) => addressOf(Math.imul(n, 0x85ebca6b) >>> 0)).join("\n"),
  );
  if (isIpListFault(list)) throw new Error(list.reason);
  const index = createIpListIndex("bench", { ...list, importedAt: "" });
  return [
    perAddress("a list of 100,000 addresses", v4, (address) => index.has(parseAddressWords(address)!, undefined)),
  ];
}

function ratesRows(): TimedRow[] {
  const rates = new RequestRates(newRates());
  let now = Date.UTC(2026, 0, 1);
  const few = perAddress("rates, 4,096 addresses", v4, (address) => rates.count(1, address, now++));
  const million = new RequestRates(newRates());
  const before = process.memoryUsage().rss;
  let wrong = 0;
  for (let n = 0; n < 1_000_000; n++) if (million.count(1, addressOf(n * 1009), now) !== 1) wrong++;
  const mebibytes = (process.memoryUsage().rss - before) / 2 ** 20;
  const again = perAddress("rates, a million addresses held", v4, (address) => million.count(1, address, now));
  return [
    few,
    again,
    ["memory of rates with a million addresses, MiB", mebibytes],
    ["wrong of a million counts", wrong],
  ];
}
