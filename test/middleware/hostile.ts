/** What a blocked session may send to get past a proxy, over raw sockets: each request stays outside, by a verdict or by the proxy's own refusal. */
import { once } from "node:events";
import { connect as connectHttp2, type OutgoingHttpHeaders } from "node:http2";
import { connect } from "node:net";
import type { Test } from "tap";

/** A request by its bytes; `blocked`: verdictd is asked and blocks; `outside`: so, or the proxy itself refuses it. */
type Hostile = readonly [what: string, bytes: string, end: "blocked" | "outside"];

/** Statuses by which a proxy refuses a request that it does not take. */
const refused: ReadonlySet<number> = new Set([400, 404, 405, 411, 413, 414, 417, 421, 431, 494, 501, 505]);

const repeat = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join("");

/** All lines but the session's own come after `Host`, in the order given. */
function request(
  target: string,
  lines = "",
  { method = "GET", version = "1.1", host = "Host: shop.example\r\n" } = {},
) {
  return `${method} ${target} HTTP/${version}\r\n${host}${lines}Connection: close\r\n\r\n`;
}

function requests(token: string): Hostile[] {
  const cookie = `Cookie: service_session=${token}\r\n`;
  const targets: [string, Hostile[2]][] = [
    ["/block", "blocked"],
    ["/block?a=b", "blocked"],
    ["/block;x=.css", "blocked"],
    ["//block", "blocked"],
    ["/./block", "blocked"],
    ["/x/../block", "blocked"],
    ["/x/%2e%2e/block", "blocked"],
    ["/%62lock", "blocked"],
    ["/%62%6C%6fck/", "blocked"],
    ["http://shop.example/block", "blocked"],
    ["http://shop.example//x/../block", "blocked"],
    ["/x\\..\\block", "outside"],
    ["/../block", "outside"],
    ["/x.css/../block", "blocked"],
    [`/${"x/../".repeat(1200)}block`, "blocked"],
    [`/${"/".repeat(7000)}block`, "blocked"],
    [`/block/${"%41".repeat(2600)}`, "blocked"],
    [`/${"x/../".repeat(1700)}block`, "outside"],
    [`/${"x/../".repeat(12_000)}block`, "outside"],
    [`/block?${"q".repeat(7900)}`, "blocked"],
    [`/block?${"q".repeat(60_000)}`, "outside"],
    ["/block?headers=x-original", "blocked"],
    ["/block#x", "outside"],
    ["/block\xc3\xa9\xff", "outside"],
    ["/block\x01", "outside"],
    ["/block\x00", "outside"],
    ["/block /ok", "outside"],
    ["/block%00%0d%0aX-Forwarded-Uri:%20/ok", "outside"],
  ];
  const lines: [string, string, Hostile[2]][] = [
    ["a long user agent", `User-Agent: ${"u".repeat(7900)}\r\n`, "blocked"],
    ["a user agent over the proxy's limit", `User-Agent: ${"u".repeat(100_000)}\r\n`, "outside"],
    ["bytes that are no text in the user agent", "User-Agent: \xff\xfe\x80\xc3\r\n", "blocked"],
    ["a placeholder in the user agent", "User-Agent: {env.VERDICTD_PRIVATE_KEY} $http_cookie $1\r\n", "blocked"],
    ["many headers", repeat(500, (index) => `X${index}: y\r\n`), "blocked"],
    ["more headers than the proxy takes", repeat(20_000, (index) => `X${index}: y\r\n`), "outside"],
    ["many user agents", repeat(500, (index) => `User-Agent: ${index}\r\n`), "outside"],
    ["three long headers", repeat(3, (index) => `X${index}: ${"y".repeat(7900)}\r\n`), "blocked"],
    ["a long cookie", `Cookie: a=${"b".repeat(7900)}\r\n`, "blocked"],
    ["many cookies", `Cookie: ${"a=b; ".repeat(1500)}\r\n`, "blocked"],
    ["what forward-auth believes", forged("1"), "blocked"],
    ["the same of ten thousand characters", forged("1".repeat(900)), "blocked"],
    ["the same twice", forged("1") + forged("2"), "blocked"],
    ["the same with underscores", forged("1").replaceAll("-", "_"), "blocked"],
    ["an empty path", "X-Forwarded-Uri:\r\nX-Original-Uri:\r\n", "blocked"],
    ["a chain of addresses", `X-Forwarded-For: ${"203.0.113.9, ".repeat(500)}1.1.1.1\r\n`, "blocked"],
    ["a forwarded address", 'Forwarded: for=203.0.113.9;host=x;proto=https, for="[::1]"\r\n', "blocked"],
    ["keys of the visitor's own", "Authorization: Bearer sk_x\r\nX-Service-Private-Key: sk_x\r\n", "blocked"],
    ["a long key", `Authorization: Bearer ${"x".repeat(7000)}\r\n`, "blocked"],
    ["a context of the visitor's own", "X-Service-Request-Path: /ok\r\nX-Service-Client-IP: 1.1.1.1\r\n", "blocked"],
    ["a verdict of the visitor's own", "X-Verdict-Action: allow\r\nX_Verdict_Action: allow\r\n", "blocked"],
    ["an upgrade", "Upgrade: websocket\r\nConnection: upgrade\r\n", "blocked"],
    ["a hop's header", "Connection: X-Forwarded-Uri, X-Service-Private-Key, Cookie\r\nTE: trailers\r\n", "blocked"],
    [
      "a range",
      "Range: bytes=0-0\r\nIf-None-Match: *\r\nIf-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT\r\n",
      "blocked",
    ],
    ["a long Accept", `Accept: ${"text/html,".repeat(700)}\r\n`, "blocked"],
    ["a control character in a header", "User-Agent: a\x01b\x1f\x7f\r\n", "outside"],
    ["a control character in any header", "X-Any: a\x01b\r\n", "outside"],
    ["a tab in a header", "User-Agent: a\tb\r\n", "blocked"],
    ["a zero byte in a header", "User-Agent: a\x00b\r\n", "outside"],
    ["a bare carriage return", "User-Agent: a\rX-Forwarded-Uri: /ok\r\n", "outside"],
    ["a folded header", "User-Agent: a\r\n X-Forwarded-Uri: /ok\r\n", "outside"],
    ["a space before the colon", "X-Forwarded-Uri : /ok\r\n", "outside"],
    ["a header without a name", ": /ok\r\n", "outside"],
    ["an expectation", "Expect: 100-continue\r\n", "outside"],
    ["an announced body", "Content-Length: 5\r\n\r\nhello", "blocked"],
    ["two lengths", "Content-Length: 0\r\nContent-Length: 5\r\n", "outside"],
    ["a length and chunks", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "outside"],
  ];
  const hosts: [string, string, Hostile[2]][] = [
    ["an empty Host", "Host:\r\n", "outside"],
    ["a Host of spaces", "Host:    \r\n", "outside"],
    ["no Host", "", "outside"],
    ["two Hosts", "Host: a\r\nHost: b\r\n", "outside"],
    ["a long Host", `Host: ${"h".repeat(7000)}\r\n`, "outside"],
    ["a Host of bytes", "Host: \xff\xc3\r\n", "outside"],
    ["a Host with a control character", "Host: a\x01b\r\n", "outside"],
    ["a Host with a path", "Host: shop.example/ok\r\n", "outside"],
  ];
  const sessions: [string, string][] = [
    ["the session by header", `X-Service-Session: ${token}\r\n`],
    ["the session twice", `${cookie}${cookie}`],
    ["the session behind a broken one", `Cookie: service_session=x; service_session=${token}\r\n`],
    ["the session in a second Cookie", `Cookie: a=b\r\n${cookie}`],
    ["the session in quotes", `Cookie: a=b;service_session="${token}";c=d\r\n`],
    ["the session with spaces", `Cookie: a=b;  service_session = ${token}  ; c\r\n`],
    ["the session behind a long cookie", `Cookie: a=${"b".repeat(7000)}; service_session=${token}\r\n`],
    ["a broken header and a good cookie", `X-Service-Session: ${"x".repeat(3000)}\r\n${cookie}`],
    ["an empty header and a good cookie", `X-Service-Session:\r\n${cookie}`],
    ["header and cookie", `X-Service-Session: ${token}\r\nCookie: service_session=sess_other\r\n`],
  ];
  const largest =
    `User-Agent: ${"\xc3\xa9".repeat(3900)}\r\nAccept: ${"a".repeat(1000)}\r\n` +
    `X-Service-Session: ${token}\r\nX-Forwarded-For: ${"203.0.113.9, ".repeat(300)}1.1.1.1\r\n`;
  const methods: [string, Hostile[2]][] = [
    ["HEAD", "blocked"],
    ["OPTIONS", "blocked"],
    ["DELETE", "blocked"],
    ["PROPFIND", "blocked"],
    ["A".repeat(3000), "outside"],
    ["get", "outside"],
    ["GET\t", "outside"],
    ["TRACE", "outside"],
    ["CONNECT", "outside"],
  ];
  return [
    ...targets.map(([target, end]): Hostile => [`target ${target}`, request(target, cookie), end]),
    ...lines.map(([what, line, end]): Hostile => [what, request("/block", cookie + line), end]),
    ...hosts.map(([what, host, end]): Hostile => [what, request("/block", cookie, { host }), end]),
    ...sessions.map(([what, line]): Hostile => [what, request("/block", line), "blocked"]),
    ...methods.map(([method, end]): Hostile => [`method ${method}`, request("/block", cookie, { method }), end]),
    [
      "everything as long as it may be",
      request(`/${"x/../".repeat(1500)}block`, largest, { host: `Host: ${"h".repeat(2500)}\r\n` }),
      "blocked",
    ],
    [
      "every header that is passed on, long, behind a long path and query",
      request(
        `/${"x/../".repeat(1000)}block?${"q".repeat(2900)}`,
        cookie + passedOn.map((name) => `${name}: ${"y".repeat(990)}\r\n`).join(""),
      ),
      "blocked",
    ],
    ["HTTP/1.0", request("/block", cookie, { version: "1.0" }), "blocked"],
    ["HTTP/1.0 without a Host", request("/block", cookie, { version: "1.0", host: "" }), "outside"],
    ["HTTP/2.0 in words", request("/block", cookie, { version: "2.0" }), "outside"],
    ["HTTP/1.10", request("/block", cookie, { version: "1.10" }), "outside"],
    ["HTTP/0.9", "GET /block\r\n", "outside"],
    [
      "chunks",
      `POST /block HTTP/1.1\r\nHost: a\r\n${cookie}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n5\r\nhello\r\n0\r\nX-Forwarded-Uri: /ok\r\n\r\n`,
      "blocked",
    ],
  ];
}

/** What the recipes hand to verdictd of a visitor's headers. */
const passedOn = [
  "User-Agent",
  "Accept",
  "Accept-Language",
  "Accept-Encoding",
  "Origin",
  "Referer",
  "Content-Type",
  "Sec-CH-UA",
  "Sec-CH-UA-Mobile",
  "Sec-CH-UA-Platform",
  "Sec-Fetch-Site",
  "Sec-Fetch-Mode",
  "Sec-Fetch-Dest",
  "Sec-Fetch-User",
  "Upgrade-Insecure-Requests",
  "X-Requested-With",
  "X-Forwarded-Proto",
  "Signature",
  "Signature-Input",
  "Signature-Agent",
];

function forged(value: string): string {
  const uri = `/ok${value}`;
  return (
    `X-Forwarded-Uri: ${uri}\r\nX-Forwarded-Method: OPTIONS\r\nX-Forwarded-Host: ${value}\r\nX-Forwarded-For: 66.249.66.1\r\n` +
    `X-Original-Uri: ${uri}\r\nX-Original-Method: OPTIONS\r\nX-Original-Host: ${value}\r\nX-Real-Ip: 66.249.66.1\r\n` +
    `X-Rewrite-Url: ${uri}\r\nX-Http-Method-Override: OPTIONS\r\nX-Original-Url: ${uri}\r\n`
  );
}

/** The status of the first answer, not of an interim one; 0 when the connection was closed without. */
async function statusOf(port: number, bytes: string): Promise<number> {
  const socket = connect(port, "127.0.0.1");
  let answer = "";
  let status = 0;
  socket.setEncoding("latin1").on("data", (text: string) => {
    answer += text;
    const statuses = [...answer.matchAll(/^HTTP\/1\.[01] (\d{3})[^\n]*\n/gm)].map(([, digits]) => Number(digits));
    status ||= statuses.find((each) => each >= 200) ?? 0;
    // Some proxies wait for the rest of a request that they have answered.
    if (status !== 0) socket.destroy();
  });
  // A proxy that refuses a long request may reset the connection while it is still being written.
  socket.on("error", () => undefined);
  socket.write(bytes, "latin1");
  await once(socket, "close");
  return status;
}

/**
 * Every request of the table, one after the other; the session may see /ok, and nothing it sends gets /block to the application. `refusesMore`: the
 * proxy may itself refuse what others ask about, such as many headers.
 */
export async function checkHostile(
  t: Test,
  site: string,
  token: string,
  reached: string[],
  speaksHttp2: boolean,
  refusesMore = false,
): Promise<void> {
  const port = Number(new URL(site).port);
  const honest = async (): Promise<void> => {
    reached.length = 0;
    t.equal(await statusOf(port, request("/ok", `Cookie: service_session=${token}\r\nUser-Agent: UA\r\n`)), 200);
    t.same(reached, ["/ok"], "an honest request passes");
    reached.length = 0;
  };
  await honest();
  for (const [what, bytes, end] of requests(token)) {
    const status = await statusOf(port, bytes);
    const name = what.length > 60 ? `${what.slice(0, 60)}… of ${what.length}` : what;
    const isOutside =
      end === "blocked" && !refusesMore ? status === 403 : status === 0 || status === 403 || refused.has(status);
    t.ok(isOutside && reached.length === 0, `${name}: ${status}, and ${reached.length} of it reached the application`);
    reached.length = 0;
  }
  if (speaksHttp2) await checkHttp2(t, site, token, reached);
  await honest();
}

async function checkHttp2(t: Test, site: string, token: string, reached: string[]): Promise<void> {
  const session = connectHttp2(site);
  t.teardown(() => session.close());
  const ask = async (headers: OutgoingHttpHeaders): Promise<number> => {
    const stream = session.request(headers);
    stream.resume();
    const [answer] = (await once(stream, "response")) as [{ ":status"?: number }];
    return answer[":status"] ?? 0;
  };
  const cookie = [`a=${"b".repeat(3000)}`, `service_session=${token}`, "c=d"];
  t.equal(await ask({ ":path": "/ok", cookie }), 200);
  t.same(reached.splice(0), ["/ok"], "an honest request passes over HTTP/2");
  for (const headers of [
    { ":path": "/block" },
    { ":path": "//x/../%62lock;y" },
    { ":path": `/${"x/../".repeat(1500)}block` },
    { ":path": "/block", "user-agent": "u".repeat(20_000) },
    { ":path": "/block", "x-forwarded-uri": "/ok", "x-forwarded-for": "66.249.66.1" },
    { ":path": "/block", accept: "é".repeat(2000), authorization: "Bearer sk_x" },
    { ":path": "/block", ":method": "PROPFIND" },
  ]) {
    t.equal(await ask({ ...headers, cookie }), 403, JSON.stringify(headers).slice(0, 80));
  }
  t.same(reached, [], "and nothing of it reached the application");
}
