/** What HTTP libraries and tools send, under their own name and a browser's, and what can't be seen. Real tools are asked for theirs. */
import { execFile } from "node:child_process";
import { createServer } from "node:http";
import { promisify } from "node:util";
import t, { type Test } from "tap";
import { shippedDeclaredBots } from "../../src/bots/declared/catalogue.js";
import { createDeclaredBots } from "../../src/bots/declared/declared-bots.js";
import type { JudgedRequest, RequestScore } from "../../src/contract/verdicts/judged-request.js";
import { scoreRequest } from "../../src/engines/score-request.js";
import { listening } from "../support/listening.js";
import {
  chromeAgent,
  contradictions,
  copiedLanguage,
  firefoxAgent,
  impersonated,
  libraries,
  safariAgent,
} from "./dishonest-headers.js";
import { slugsOf } from "./fired.js";
import { type HeaderLine, noFindings, requestOf } from "./judged.js";

const run = promisify(execFile);
const likelyBotThreshold = 30;
const definiteMax = 5;
const declared = createDeclaredBots(shippedDeclaredBots());

/** How the backend learns of a request: the same lines, with more or less told beside them. */
const tellings: Readonly<Record<string, (lines: readonly HeaderLine[]) => JudgedRequest>> = {
  "lines as they came": (lines) => requestOf(lines),
  "an object of headers": (lines) => requestOf(lines, { isAsReceived: false }),
  "an object of headers, behind a proxy that says https": (lines) =>
    requestOf([...lines, ["X-Forwarded-Proto", "https"]], { isAsReceived: false, httpVersion: undefined }),
};

/**
 * What is not seen: Scrapy sends languages and the Accept header of Firefox and Safari by itself. Without the order of the lines, or under
 * Safari's name, of whose order nothing is known, what it lacks is what a proxy may have taken.
 */
const unseen = [
  `Scrapy, ${firefoxAgent}, an object of headers`,
  ...Object.keys(tellings).map((telling) => `Scrapy, ${safariAgent}, ${telling}`),
];

function judged(request: JudgedRequest, agent: string): RequestScore & { score: number; why: string } {
  const { score, detectionIds } = scoreRequest(request, { ...noFindings, declaredBot: declared.of(agent) ?? null });
  return { score: score ?? 60, detectionIds, why: `${score}: ${slugsOf(detectionIds)}` };
}

for (const { name, ownAgent, lines } of libraries) {
  t.test(`${name} is a bot under its own name`, async (t) => {
    for (const [telling, tell] of Object.entries(tellings)) {
      const { score, why } = judged(tell(lines(ownAgent)), ownAgent);
      t.ok(score < likelyBotThreshold, `${telling}: ${why}`);
    }
  });

  t.test(`${name} is a bot under a browser's name`, async (t) => {
    for (const agent of [chromeAgent, firefoxAgent, safariAgent]) {
      for (const [telling, tell] of Object.entries(tellings)) {
        const { score, why } = judged(tell(lines(agent)), agent);
        const isSeen = !unseen.includes(`${name}, ${agent}, ${telling}`);
        t.equal(score < likelyBotThreshold, isSeen, `${telling}: ${why}`);
      }
    }
  });
}

/** What one proxy or extension of a person makes as well: doubtful, and no more. */
const likeProxies = [
  "Firefox by name, Chrome by everything else",
  "Safari by name, Chrome by everything else",
  "headless Chrome stripped of all that begins with Sec-, and of languages",
];

t.test("a set of headers that contradicts itself in two or more ways is a bot, however it is told of", async (t) => {
  for (const [name, lines] of Object.entries(contradictions)) {
    for (const [telling, tell] of Object.entries(tellings)) {
      const { score, why } = judged(tell(lines), lines.find(([line]) => /^user-agent$/i.test(line))![1]);
      if (likeProxies.includes(name)) t.equal(score, likelyBotThreshold + 1, `${name}, ${telling}: ${why}`);
      else t.ok(score < likelyBotThreshold, `${name}, ${telling}: ${why}`);
    }
  }
});

t.test("languages copied from a browser too: a bot where https is known, else doubtful at most", async (t) => {
  for (const { name, lines } of libraries) {
    for (const agent of [chromeAgent, firefoxAgent]) {
      const own = lines(agent).filter(([line]) => !/^accept-language$/i.test(line));
      const { score, why } = judged(
        tellings["an object of headers, behind a proxy that says https"]!([...own, copiedLanguage]),
        agent,
      );
      t.ok(score < likelyBotThreshold, `${name}: ${why}`);
    }
  }
});

t.test("a client that sends a browser's headers exactly can't be told from it", async (t) => {
  for (const tell of Object.values(tellings)) {
    t.same(scoreRequest(tell(impersonated), noFindings), { score: null, detectionIds: [] });
  }
});

t.test("what others say of a request counts with it", async (t) => {
  const request = requestOf(impersonated);
  const scored = (findings: Partial<typeof noFindings>) => scoreRequest(request, { ...noFindings, ...findings }).score;
  t.ok(scored({ crawlerClaim: "spoofed" })! <= definiteMax, "a crawler that its address denies");
  t.ok(scored({ signature: "invalid" })! <= definiteMax, "a signature that does not hold");
  t.equal(scored({ signature: "unverified" }), null, "one that nobody can check is no evidence");
  t.equal(scored({ signature: "verified" }), null);
  t.equal(scored({ crawlerClaim: "verified" }), null);
  const scanner = { name: "Scanner", operator: "Scanner", category: "security" } as const;
  const score = scored({ declaredBot: scanner })!;
  t.ok(score < likelyBotThreshold && score > definiteMax, "a bot by its own word");
});

t.test("whatever a visitor writes, it is scored", async (t) => {
  const long = (part: string) => part.repeat(512).slice(0, 512);
  const names = [
    "User-Agent",
    "Accept",
    "Accept-Language",
    "Accept-Encoding",
    "Sec-CH-UA",
    "Sec-Fetch-Mode",
    "__proto__",
  ];
  const values = ["", "a-", "en-US, ", "*;q=0.1,", '"', "Chrome/", "Mozilla/5.0 ", "\u{1f600}", " ;q=", "\0"].map(long);
  for (const value of values) {
    const lines = Array.from({ length: 100 }, (_, at): HeaderLine => [names[at % names.length]!, value]);
    for (const ja4 of [undefined, value, "t13d1516h2_", "t99"]) {
      const { score, detectionIds } = scoreRequest(requestOf(lines, { ja4 }), noFindings);
      t.ok(score === null || (score >= 1 && score <= 99), `${value.slice(0, 9)}: ${slugsOf(detectionIds)}`);
    }
  }
});

interface Heard {
  readonly agent: string;
  readonly request: JudgedRequest;
}

/** A server that keeps the lines of whoever asks. */
async function hearing(t: Test): Promise<{ url: string; heard: Heard[] }> {
  const heard: Heard[] = [];
  const server = createServer((req, res) => {
    const lines: HeaderLine[] = [];
    for (let at = 0; at < req.rawHeaders.length; at += 2) lines.push([req.rawHeaders[at]!, req.rawHeaders[at + 1]!]);
    const httpVersion = req.httpVersion === "1.0" ? "1.0" : "1.1";
    heard.push({ agent: req.headers["user-agent"] ?? "", request: requestOf(lines, { httpVersion }) });
    res.end("ok");
  });
  return { url: `http://${await listening(t, server)}/`, heard };
}

const python = (url: string): string => `
import urllib.request as u
for agent in (None, ${JSON.stringify(chromeAgent)}):
    headers = {"User-Agent": agent} if agent else {}
    u.urlopen(u.Request("${url}", headers=headers)).read()
`;

const node = (url: string): string => `
(async () => {
  for (const headers of [{}, { "user-agent": ${JSON.stringify(chromeAgent)} }]) await fetch("${url}", { headers });
  await new Promise((done) => require("node:http").get("${url}", { headers: { "User-Agent": ${JSON.stringify(chromeAgent)} } }, (res) => res.resume().on("end", done)));
})();
`;

t.test("real curl, Python, Node and wget, under their own name and as Chrome", async (t) => {
  const { url, heard } = await hearing(t);
  const tools: [command: string, words: string[], requests: number][] = [
    ["curl", ["-s", url, "--next", "-s", "-A", chromeAgent, url, "--next", "-s0", "-A", chromeAgent, url], 3],
    ["python3", ["-c", python(url)], 2],
    [process.execPath, ["-e", node(url)], 3],
    ["wget", ["-qO-", "-U", chromeAgent, url], 1],
  ];
  for (const [command, words, requests] of tools) {
    const before = heard.length;
    await run(command, words);
    t.equal(heard.length - before, requests, `${command} asked`);
    for (const { agent, request } of heard.slice(before)) {
      const { score, why } = judged(request, agent);
      t.ok(score < likelyBotThreshold, `${command} as ${agent}: ${why}`);
    }
  }
});
