/**
 * Browsers that people use, whole and behind what proxies and privacy tools do to their requests: none may be called a bot. Programs that
 * name themselves are none by what they leave out.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import t from "tap";
import { shippedDeclaredBots } from "../../src/bots/declared/catalogue.js";
import { createDeclaredBots } from "../../src/bots/declared/declared-bots.js";
import type { JudgedRequest, RequestFindings } from "../../src/contract/verdicts/judged-request.js";
import { scoreRequest } from "../../src/engines/score-request.js";
import { headersOf, kinds, requestFrom, type Way, ways } from "./browser-headers.js";
import { slugsOf } from "./fired.js";
import { browsers, namedPrograms, oddOnes } from "./honest-headers.js";
import { type HeaderLine, noFindings, requestOf } from "./judged.js";

const likelyBotThreshold = 30;
const definiteMax = 5;
const declared = createDeclaredBots(shippedDeclaredBots());

function findingsOf(agent: string): RequestFindings {
  return { ...noFindings, declaredBot: declared.of(agent) ?? null };
}

/** What stands between a visitor and the site, and what it makes of the request. */
const detours: Readonly<Record<string, (request: JudgedRequest, way: Way) => JudgedRequest>> = {
  none: (request) => request,
  "a proxy whose backend passes an object of headers": (request) => ({ ...request, isAsReceived: false }),
  "a proxy that says https": (request, way) => ({
    ...request,
    isAsReceived: false,
    httpVersion: "1.1",
    headers: [...request.headers, ["X-Forwarded-Proto", way.isSecure ? "https" : "http"]],
  }),
  "nginx with HTTP/1.0 towards the backend": (request) =>
    withLines({ ...request, httpVersion: "1.0" }, (lines) => [
      ["Host", "backend"],
      ["Connection", "close"],
      ...without(lines, /^(?:host|connection)$/i),
    ]),
  "a proxy that sorts lines and writes capitals": (request) =>
    withLines({ ...request, httpVersion: "1.1" }, (lines) => [
      ["Host", "shop.example"],
      ...without(lines, /^(?:host|connection)$/i)
        .map(([name, value]): HeaderLine => [name.replace(/(?:^|-)[a-z]/g, (start) => start.toUpperCase()), value])
        .sort(([one], [other]) => (one < other ? -1 : 1)),
    ]),
  "a proxy that writes small letters": (request) =>
    withLines({ ...request, httpVersion: "1.1" }, (lines) => [
      ["host", "shop.example"],
      ...without(lines, /^(?:host|connection)$/i).map(([name, value]): HeaderLine => [name.toLowerCase(), value]),
    ]),
  "a filter that takes all Sec- headers": (request) => withLines(request, (lines) => without(lines, /^sec-/i)),
  "a filter that takes client hints": (request) => withLines(request, (lines) => without(lines, /^sec-ch-/i)),
  "a filter that hides where one comes from": (request) => withLines(request, (lines) => without(lines, /^referer$/i)),
  "a filter that rewrites encodings": (request) =>
    withLines(request, (lines) =>
      lines.map(([name, value]) => [name, name.toLowerCase() === "accept-encoding" ? "gzip" : value]),
    ),
  "a filter that takes all Sec- headers and the languages": (request) =>
    withLines(request, (lines) => without(lines, /^sec-|^accept-language$/i)),
  "a filter that takes all Sec- headers and the encodings": (request) =>
    withLines(request, (lines) => without(lines, /^sec-|^accept-encoding$/i)),
  "a filter that takes all Sec- headers and wishes for upgrades": (request) =>
    withLines(request, (lines) => without(lines, /^sec-|^upgrade-insecure-requests$/i)),
  "a filter that takes the languages": (request) => withLines(request, (lines) => without(lines, /^accept-language$/i)),
  "a company's proxy that reads along": (request, way) =>
    withLines({ ...request, ja4: way.isSecure ? "t12d290800_e8a523a41297_d267a5f792d4" : undefined }, (lines) => [
      ...without(lines, /^accept-encoding$/i),
      ["Accept-Encoding", "gzip, deflate"],
      ["Via", "1.1 proxy.company.example"],
    ]),
};

function withLines(
  request: JudgedRequest,
  change: (lines: readonly HeaderLine[]) => readonly HeaderLine[],
): JudgedRequest {
  return { ...request, headers: change(request.headers) };
}

function without(lines: readonly HeaderLine[], names: RegExp): HeaderLine[] {
  return lines.filter(([name]) => !names.test(name));
}

t.test("there are enough of them", async (t) => {
  t.ok(browsers.length >= 100, `${browsers.length}`);
  t.equal(new Set(browsers.map(({ name }) => name)).size, browsers.length, "names are unique");
});

for (const browser of browsers) {
  t.test(`${browser.name} is human, whatever it asks for and whatever stands between`, async (t) => {
    const findings = findingsOf(browser.agent);
    t.equal(findings.declaredBot, null, "its user agent names no bot");
    for (const way of ways) {
      for (const kind of kinds) {
        const request = requestFrom(browser, kind, way);
        for (const [detour, change] of Object.entries(detours)) {
          const { score, detectionIds } = scoreRequest(change(request, way), findings);
          if ((score ?? 60) >= likelyBotThreshold) continue;
          t.fail(`${score}: ${kind}, ${way.name}, ${detour}: ${slugsOf(detectionIds)}`);
        }
      }
    }
  });
}

t.test("one oddity alone stays above the threshold", async (t) => {
  for (const browser of oddOnes) {
    for (const way of ways) {
      for (const kind of kinds) {
        const { score, detectionIds } = scoreRequest(requestFrom(browser, kind, way), noFindings);
        t.ok((score ?? 60) >= likelyBotThreshold, `${browser.name}: ${score}, ${slugsOf(detectionIds)}`);
      }
    }
  }
});

interface Captured {
  readonly browser: string;
  readonly over: "http" | "https-h1" | "https-h2";
  readonly method: string;
  readonly path: string;
  readonly headers: readonly HeaderLine[];
}

const captures: readonly Captured[] = JSON.parse(
  readFileSync(fileURLToPath(new URL("../../../test/requests/captured-browsers.json", import.meta.url)), "utf8"),
);

t.test("captured requests of real browsers fire nothing", async (t) => {
  t.ok(captures.length > 50);
  for (const { browser, over, method, path, headers } of captures) {
    const request = requestOf(headers, {
      context: { method, path, host: "shop.example" },
      httpVersion: over === "https-h2" ? "2" : "1.1",
    });
    const { score, detectionIds } = scoreRequest(request, noFindings);
    t.same([score, slugsOf(detectionIds)], [null, []], `${browser}, ${over}, ${method} ${path}`);
  }
});

t.test("the made-up sets of these two browsers are the captured ones, name for name", async (t) => {
  const captured = [
    ["Chromium 156 on Linux", { name: "", engine: "chromium", version: 156, agent: "", brands: [] }],
    ["Firefox 153 on Linux", { name: "", engine: "firefox", version: 153, agent: "" }],
  ] as const;
  const pathOf = { "typed address": "/", link: "/linked", fetch: "/fetch-get", image: "/image.png" } as const;
  for (const [name, browser] of captured) {
    for (const [kind, path] of Object.entries(pathOf)) {
      for (const way of ways) {
        const over = way.httpVersion === "2" ? "https-h2" : way.isSecure ? "https-h1" : "http";
        const real = captures.find((each) => each.browser === name && each.over === over && each.path === path)!;
        const names = (lines: readonly HeaderLine[]) =>
          lines.map(([line]) => line).filter((line) => !/^(?:priority|sec-fetch-user|host)$/i.test(line));
        const made = headersOf(browser, kind as keyof typeof pathOf, way);
        t.same(names(made).sort(), names(real.headers).sort(), `${name}, ${kind}, ${way.name}`);
      }
    }
  }
});

t.test("a program that names itself is no definite bot by what it leaves out", async (t) => {
  for (const { name, agent, accept } of namedPrograms) {
    const lines: HeaderLine[] = [
      ["Host", "shop.example"],
      ["User-Agent", agent],
      ["Accept", accept ?? "*/*"],
    ];
    const { score, detectionIds } = scoreRequest(requestOf(lines, { httpVersion: "2" }), findingsOf(agent));
    t.ok((score ?? 60) > definiteMax, `${name}: ${score}, ${slugsOf(detectionIds)}`);
  }
});

t.test("whatever lines are missing, their absence alone makes no definite bot", async (t) => {
  for (const browser of browsers) {
    for (const way of ways) {
      const lines = headersOf(browser, "typed address", way);
      const agent = lines.find(([name]) => /^user-agent$/i.test(name))!;
      for (const isAsReceived of [true, false]) {
        const request = requestOf([["Host", "shop.example"], agent], { isAsReceived, httpVersion: way.httpVersion });
        const { score, detectionIds } = scoreRequest(request, noFindings);
        t.ok((score ?? 60) > definiteMax, `${browser.name}: ${score}, ${slugsOf(detectionIds)}`);
      }
    }
  }
});
