/** Forward-auth asked exactly as the documentation or source of each proxy says that it asks, byte for byte, for proxies that are not run here. */
import t, { type Test } from "tap";
import { RawClient } from "../support/raw-socket.js";
import { firstTenant, startServer } from "../support/server.js";
import { type AskingProject, askingProject, navigation } from "./asking.js";

// 10.0.0.9 is Envoy's own address, which it adds to X-Forwarded-For.
const server = await startServer(t, ["--trusted-proxies", "127.0.0.1,10.0.0.9"]);
const tenant = await firstTenant(server);

/** The browser's lines that a proxy passes on. */
const browser = navigation.filter(([name]) => !/^(?:host|connection)$/i.test(name)).map((line) => line.join(": "));

interface Asked {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Sends one request and reads its answer, on a connection of its own. */
async function send(requestLine: string, lines: readonly string[], toHead = false): Promise<Asked> {
  const client = await RawClient.open(server.port);
  await client.write([`${requestLine} HTTP/1.1`, ...lines, "", ""].join("\r\n"));
  const answer = await client.answer(toHead);
  client.leave();
  if (answer === null) throw new Error("no answer");
  return answer;
}

/** A visitor's request, put into a question as the proxy does it. */
interface Visit {
  readonly method?: string;
  readonly target?: string;
  readonly host?: string;
  readonly ip?: string;
  readonly more?: readonly string[];
}
type Ask = (key: string, visit: Visit) => Promise<Asked>;

/** Envoy's `ext_authz` with `http_service`: path_prefix before the path, its own method, `Content-Length: 0`, itself at the end of X-Forwarded-For. */
const envoy: Ask = (key, { method = "GET", target = "/", host = "shop.example", ip = "203.0.113.7", more = [] }) =>
  send(
    `${method} /v1/forward-auth/envoy${target}`,
    [
      `host: ${host}`,
      "content-length: 0",
      ...browser.map((line) => line.toLowerCase()),
      "x-forwarded-proto: https",
      `x-service-private-key: ${key}`,
      ...more,
      "x-envoy-internal: true",
      `x-forwarded-for: ${ip},10.0.0.9`,
      "x-envoy-expected-rq-timeout-ms: 150",
    ],
    method === "HEAD",
  );

/** Envoy Gateway's SecurityPolicy: Envoy's question, with the key by name, and with a visitor's own `Authorization`, which Envoy always passes on. */
const gateway: Ask = (key, visit) =>
  envoy(key, { ...visit, more: [...(visit.more ?? []), "authorization: Bearer of-the-application"] });

/** ingress-nginx with `auth-url`, and `auth-proxy-set-headers` for the key: all of the visitor's headers, and those of its template. */
const ingress: Ask = (key, { method = "GET", target = "/", host = "shop.example", ip = "203.0.113.7", more = [] }) =>
  send("GET /v1/forward-auth/x-original-url", [
    "X-Request-ID: 7f1c0e2f9d0a4b63a2c6f1b0a5e8d913",
    "Host: verdictd.bots.svc.cluster.local",
    `X-Original-URL: https://${host}${target}`,
    `X-Original-Method: ${method}`,
    "X-Sent-From: nginx-ingress-controller",
    `X-Real-IP: ${ip}`,
    `X-Forwarded-For: ${ip}`,
    `X-Auth-Request-Redirect: ${target}`,
    `X-Service-Private-Key: ${key}`,
    ...browser,
    ...more,
  ]);

/** Traefik's `forwardAuth`, by GET or (`preserveRequestMethod`) by the visitor's method, with X-Forwarded-* of its own. */
const traefikBy = (preserves: boolean): Ask => {
  return (key, { method = "GET", target = "/", host = "shop.example", ip = "203.0.113.7", more = [] }) =>
    send(
      `${preserves ? method : "GET"} /v1/forward-auth`,
      [
        "Host: verdictd:8080",
        ...browser,
        `X-Service-Private-Key: ${key}`,
        ...more,
        `X-Forwarded-For: ${ip}`,
        `X-Forwarded-Host: ${host}`,
        `X-Forwarded-Method: ${method}`,
        "X-Forwarded-Port: 443",
        "X-Forwarded-Proto: https",
        `X-Forwarded-Uri: ${target}`,
        "Accept-Encoding: gzip",
      ],
      preserves && method === "HEAD",
    );
};

const proxies: readonly (readonly [name: string, ask: Ask, yes: number])[] = [
  ["Envoy", envoy, 200],
  ["Envoy Gateway", gateway, 200],
  ["ingress-nginx", ingress, 204],
  ["Traefik", traefikBy(false), 204],
  ["Traefik that keeps the method", traefikBy(true), 204],
];

async function strict(): Promise<AskingProject> {
  const project = await askingProject(server, tenant);
  await project.enable({ issue_tokens: true, hosts: ["shop.example"] });
  await project.rule('path == "/closed"', "block");
  await project.rule('path == "/asked"', "challenge");
  await project.rule('method == "DELETE"', "block");
  await project.rule('host == "evil.example"', "block");
  await project.rule('ip == "198.51.100.9"', "block");
  return project;
}

for (const [name, ask, yes] of proxies) {
  t.test(`${name}: method, path, host and address of the visitor reach the rules`, async (t) => {
    const { privateKey: key } = await strict();
    const statusOf = async (visit: Visit): Promise<number> => (await ask(key, visit)).status;
    const cases: readonly (readonly [Visit, number])[] = [
      [{ target: "/" }, yes],
      [{ target: "/open?x=/closed" }, yes],
      [{ target: "/closed" }, 403],
      [{ target: "/closed?x=1" }, 403],
      [{ target: "//x/../%63losed" }, 403],
      [{ target: "/asked" }, 401],
      [{ method: "DELETE" }, 403],
      [{ method: "HEAD", target: "/closed" }, 403],
      [{ method: "PROPFIND", target: "/closed" }, 403],
      ...["POST", "PUT", "PATCH", "HEAD", "OPTIONS", "PROPFIND"].map((method) => [{ method }, yes] as const),
      [{ host: "evil.example" }, 403],
      [{ host: "evil.example:443" }, 403],
      [{ ip: "198.51.100.9" }, 403],
    ];
    for (const [visit, status] of cases) t.equal(await statusOf(visit), status, JSON.stringify(visit));
  });

  t.test(`${name}: the application learns the verdict, a visitor who is refused neither score nor agent`, async (t) => {
    const { privateKey: key } = await strict();
    const open = await ask(key, {});
    t.match(open.headers.get("x-verdict"), "likely_human");
    t.match(open.headers.get("x-verdict-score"), /^[1-9]\d?$/);
    t.match(open.headers.get("set-cookie"), /^service_session=sess_.*; Secure/, "its scheme is known");
    t.equal(open.headers.get("x-verdict-error"), undefined);
    t.equal(open.body, "");
    for (const target of ["/closed", "/asked"]) {
      const denied = await ask(key, { target });
      t.match(denied.headers.get("content-type"), /^text\/html/);
      t.same(
        ["x-verdict", "x-verdict-score", "x-verdict-agent"].filter((header) => denied.headers.has(header)),
        [],
      );
    }
  });

  t.test(`${name}: a wrong key lets in and says so`, async (t) => {
    const answer = await ask("sk_wrong", { target: "/closed" });
    t.same([answer.status, answer.headers.get("x-verdict-error")], [yes, "unauthenticated"]);
  });

  t.test(`${name}: a visitor's own headers do not take the proxy's place`, async (t) => {
    const { privateKey: key } = await strict();
    const forged = [
      "X-Original-URI: /",
      "X-Forwarded-Server: x",
      "X-Envoy-Original-Path: /",
      "Forwarded: for=192.0.2.1",
    ];
    t.equal((await ask(key, { target: "/closed", more: forged })).status, 403);
    t.equal((await ask(key, { ip: "198.51.100.9", more: forged })).status, 403);
  });
}

t.test("where no path came, the visitor is judged all the same, and the answer says so", async (t) => {
  const { privateKey } = await strict();
  const lines = ["Host: a", `X-Service-Private-Key: ${privateKey}`, ...browser];
  const errorOf = async (path: string, more: readonly string[] = []): Promise<unknown> => {
    const { status, headers } = await send(`GET ${path}`, [...lines, ...more]);
    return [status, headers.get("x-verdict-error"), headers.get("x-verdict")];
  };
  const base = "/v1/forward-auth";
  for (const path of [base, `${base}/x-original`, `${base}/x-original-url`]) {
    t.same(await errorOf(path), [204, "no_path", "likely_human"], path);
  }
  t.same(await errorOf(`${base}/envoy`), [200, "no_path", "likely_human"]);
  t.same(await errorOf(`${base}/envoy/`), [200, undefined, "likely_human"]);
  t.same(await errorOf(base, ["X-Original-Method: DELETE"]), [204, "no_path", "likely_human"]);
  const banned = await send(`GET ${base}`, [...lines, "X-Forwarded-For: 198.51.100.9"]);
  t.same([banned.status, banned.headers.get("x-verdict-error")], [403, "no_path"]);
  t.equal((await send(`GET ${base}/other`, lines)).status, 404);
});

t.test("ingress-nginx: a request line that names a whole address is the path in it", async (t: Test) => {
  const { privateKey } = await strict();
  for (const target of ["http://shop.example/closed", "HTTPS://x/closed?y", "http://x//./closed"]) {
    t.equal((await ingress(privateKey, { target })).status, 403, target);
  }
  t.equal((await ingress(privateKey, { target: "http://shop.example" })).status, 204);
  t.equal((await ingress(privateKey, { target: "http://shop.example/", host: "evil.example" })).status, 403);
});

t.test("Envoy: a body that it passes on is not the next question", async (t) => {
  const { privateKey } = await strict();
  const client = await RawClient.open(server.port);
  const body = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";
  const key = `X-Service-Private-Key: ${privateKey}`;
  const head = ["POST /v1/forward-auth/envoy/closed HTTP/1.1", "Host: a", key, `Content-Length: ${body.length}`];
  await client.write([...head, "", body].join("\r\n"));
  t.equal((await client.answer())?.status, 403);
  await client.write(
    ["GET /v1/forward-auth/envoy/ HTTP/1.1", "Host: shop.example", key, ...browser, "", ""].join("\r\n"),
  );
  const next = await client.answer();
  t.ok(next === null || next.headers.get("x-verdict") !== undefined, "the next answer is a verdict");
  client.leave();
});
