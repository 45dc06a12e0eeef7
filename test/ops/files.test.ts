/** Files that the server gives out: compressed as the client accepts it, and only when it does not have them already. */
import { once } from "node:events";
import { Agent, get, type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import t from "tap";
import { startServer } from "../support/server.js";

const server = await startServer(t, ["--demo"]);

interface Got {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** As the bytes come: `fetch` would undo the coding. */
async function ask(path: string, headers: Record<string, string> = {}): Promise<Got> {
  const [answer] = (await once(get({ port: server.port, path, headers }), "response")) as [IncomingMessage];
  return { status: answer.statusCode, headers: answer.headers, body: await buffer(answer) };
}

const browser = { "accept-encoding": "gzip, deflate, br, zstd" };
const stored = [
  "/sdk.js",
  "/sdk-probes.js",
  "/console",
  "/console/console.js",
  "/console/console.css",
  "/docs/docs.css",
  "/demo/demo.js",
  "/demo/demo.css",
];
/** Completed when the server starts, and compressed when first asked for. */
const made = ["/sdk-agents.js", "/docs", "/docs/api", "/v1/detections"];

t.test("each file comes plain, by brotli and by gzip, and is the same", async (t) => {
  for (const path of [...stored, ...made]) {
    const [plain, br, gzip, again] = await Promise.all([
      ask(path),
      ask(path, browser),
      ask(path, { "accept-encoding": "gzip;q=1.0, br;q=0" }),
      ask(path, { "accept-encoding": "identity" }),
    ]);
    t.equal(plain.headers["content-encoding"], undefined, path);
    t.ok(plain.body.equals(again.body));
    t.equal(br.headers["content-encoding"], "br", path);
    t.ok(brotliDecompressSync(br.body).equals(plain.body), path);
    t.equal(gzip.headers["content-encoding"], "gzip", path);
    t.ok(gunzipSync(gzip.body).equals(plain.body), path);
    t.ok(br.body.length < plain.body.length, path);
    for (const { headers } of [plain, br, gzip]) {
      t.equal(headers.vary, "Accept-Encoding", path);
      t.equal(headers["content-type"], plain.headers["content-type"], path);
      t.equal(headers["x-content-type-options"], "nosniff", path);
    }
    t.equal(new Set([plain.headers.etag, gzip.headers.etag]).size, 2, "a form of its own has a tag of its own");
  }
});

t.test("what the client has is not sent again", async (t) => {
  for (const path of [...stored, ...made]) {
    const { headers } = await ask(path, browser);
    const tag = headers.etag!;
    for (const has of [tag, `W/${tag}`, `"other", ${tag}`, "*"]) {
      const answer = await ask(path, { ...browser, "if-none-match": has });
      t.equal(answer.status, 304, `${path} ${has}`);
      t.equal(answer.body.length, 0);
      t.match(answer.headers, { etag: tag, vary: "Accept-Encoding" });
      t.equal(answer.headers["cache-control"], headers["cache-control"]);
    }
    for (const has of ['"other"', tag.slice(0, -2), ""]) {
      t.equal((await ask(path, { ...browser, "if-none-match": has })).status, 200, `${path} ${has}`);
    }
    const plain = await ask(path, { "if-none-match": tag });
    t.equal(plain.status, 200, "the tag of another form is none of this one");
  }
});

t.test("an answer without body says no length and leaves its connection open", async (t) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());
  const requests = [
    { method: "OPTIONS", path: "/v1/events", status: 204 },
    { method: "GET", path: "/sdk.js", status: 304 },
  ];
  const sockets = new Set<unknown>();
  for (const { method, path, status } of [...requests, ...requests]) {
    const asked = request({ agent, port: server.port, method, path, headers: { "if-none-match": "*" } });
    const [answer] = (await once(asked.end(), "response")) as [IncomingMessage];
    t.equal((await buffer(answer)).length, 0);
    t.equal(answer.statusCode, status);
    t.equal(answer.headers["content-length"], undefined, path);
    sockets.add(asked.socket);
  }
  t.equal(sockets.size, 1);
});
