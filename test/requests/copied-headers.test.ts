/**
 * Libraries that are given some of a browser's lines: how many of all combinations are recognised. What filters of people leave looks the same as what a
 * script copies, so that shares fall as more is copied. The bounds are a little below what was measured; `figures.md` has the shares.
 */
import t from "tap";
import { scoreRequest } from "../../src/engines/score-request.js";
import { chromeAgent, firefoxAgent, libraries, safariAgent } from "./dishonest-headers.js";
import { type HeaderLine, noFindings, requestOf } from "./judged.js";

const likelyBotThreshold = 30;

/** Kinds of lines that scripts copy from a browser, besides the user agent. */
const kinds: readonly (readonly HeaderLine[])[] = [
  [["Accept-Language", "en-US,en;q=0.9"]],
  [["Accept-Encoding", "gzip, deflate, br"]],
  [["Upgrade-Insecure-Requests", "1"]],
  [["Referer", "https://shop.example/"]],
  [
    ["Sec-Fetch-Site", "none"],
    ["Sec-Fetch-Mode", "navigate"],
    ["Sec-Fetch-Dest", "document"],
  ],
  [
    ["sec-ch-ua", '"Google Chrome";v="131", "Chromium";v="131", "Not_A Brand";v="24"'],
    ["sec-ch-ua-mobile", "?0"],
    ["sec-ch-ua-platform", '"Windows"'],
  ],
];
const pages = [
  "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7",
  "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
];
const agents = [
  [chromeAgent, kinds],
  [firefoxAgent, kinds.slice(0, -1)],
  [safariAgent, kinds.slice(0, -1)],
] as const;

/** Every choice of some of them. */
function choices(of: readonly (readonly HeaderLine[])[]): (readonly HeaderLine[])[][] {
  return Array.from({ length: 2 ** of.length }, (_, mask) => of.filter((_kind, at) => (mask >> at) % 2 === 1));
}

/** A line that the library has by itself keeps its place. */
function given(lines: readonly HeaderLine[], more: readonly HeaderLine[]): HeaderLine[] {
  const all = lines.map(([name, value]): HeaderLine => {
    const other = more.find(([each]) => each.toLowerCase() === name.toLowerCase());
    return [name, other === undefined ? value : other[1]];
  });
  return [...all, ...more.filter(([name]) => !lines.some(([each]) => each.toLowerCase() === name.toLowerCase()))];
}

/** Percent in a bot band by the number of kinds copied, 0 to 7. */
function shares(isOrdered: boolean): number[] {
  const asked = Array.from({ length: 8 }, () => 0);
  const recognised = asked.slice();
  for (const { lines } of libraries) {
    for (const [agent, some] of agents) {
      for (const copied of choices(some)) {
        for (const accept of [[], ...pages.map((page): HeaderLine[] => [["Accept", page]])]) {
          const all = given(lines(agent), [...copied.flat(), ...accept]);
          const request = isOrdered
            ? requestOf(all)
            : requestOf([...all, ["X-Forwarded-Proto", "https"]], { isAsReceived: false, httpVersion: undefined });
          const count = copied.length + accept.length;
          asked[count]! += 1;
          if ((scoreRequest(request, noFindings).score ?? 60) < likelyBotThreshold) recognised[count]! += 1;
        }
      }
    }
  }
  return recognised.map((count, at) => (100 * count) / asked[at]!);
}

t.test("most libraries that copy less than half of a browser's lines are recognised", async (t) => {
  const bounds = { ordered: [98, 90, 85, 80, 73, 68, 72, 90], unordered: [98, 97, 85, 70, 52, 37, 36, 50] };
  for (const [telling, least] of Object.entries(bounds)) {
    const found = shares(telling === "ordered");
    t.comment(`${telling}: ${found.map((share) => share.toFixed(1)).join(", ")}`);
    for (const [count, bound] of least.entries()) t.ok(found[count]! >= bound, `${telling}, ${count} kinds`);
  }
});
