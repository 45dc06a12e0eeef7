/**
 * Requests without a session, through each proxy recipe and middleware, by real HTTP clients: each gets what the rules say. Browsers without the
 * SDK are in `test/long/request-fronts.test.ts`.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import t from "tap";
import { openShop } from "../challenge/challenged-site.js";
import { fronts } from "../challenge/fronts.js";
import { browserHeaders } from "../support/batches.js";

const run = promisify(execFile);

const printed = async (program: string, ...args: readonly string[]): Promise<string> =>
  (await run(program, args)).stdout.trim();

/** Each says the status that it gets. */
const clients = {
  curl: (url: string) => printed("curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", url),
  "python's urllib": (url: string) =>
    printed(
      "python3",
      "-c",
      "import sys, urllib.request, urllib.error\ntry: print(urllib.request.urlopen(sys.argv[1]).status)\nexcept urllib.error.HTTPError as e: print(e.code)",
      url,
    ),
  "Node's fetch": async (url: string) => String((await fetch(url)).status),
};

const shop = { ...(await openShop(t)), requests: true };
const { server, tenant } = shop;
const configure = async (method: string, path: string, body: object): Promise<void> => {
  const answer = await server.ask(method, `/v1/projects/${tenant.projectId}/${path}`, { token: tenant.token, body });
  if (answer.status >= 300) throw new Error(answer.text);
};
await configure("PUT", "request-scoring", { enabled: true });
for (const [name, expression] of [
  ["No HTTP libraries outside the API", 'declared_bot_category == "library" AND NOT path starts_with "/api"'],
  ["No bots", 'band == "definite" OR band == "confident_automated"'],
] as const) {
  // The API is open to programs: the second rule is for all but it.
  const scoped = name === "No bots" ? `(${expression}) AND NOT path starts_with "/api"` : expression;
  await configure("POST", "rules", { name, expression: scoped, action: "block" });
}

for (const { name, open, missing } of fronts) {
  t.test(name, { skip: missing ?? false }, async (t) => {
    const site = await open(t, shop);
    for (const [client, statusOf] of Object.entries(clients)) {
      t.equal(await statusOf(`${site}/`), "403", `${client} is blocked without a session`);
    }
    t.equal(await clients.curl(`${site}/api/items`), "404", "and gets to the API, which the shop does not have");
    const visit = (headers: Record<string, string>) => fetch(`${site}/form`, { headers });
    const claims = {
      "User-Agent": browserHeaders["user-agent"],
      "sec-ch-ua": '"Firefox";v="3"',
      "sec-ch-ua-platform": '"Windows"',
    };
    t.equal((await visit(claims)).status, 403, "a browser's name alone does not help: the rest contradicts it");
  });
}

t.test("each was recorded once a minute and address, without a session", async (t) => {
  const { json } = await server.ask("GET", `/v1/projects/${tenant.projectId}/blocks`, { token: tenant.token });
  t.ok(json.data.length >= 1);
  for (const block of json.data) t.equal(block.session_token, null);
});
