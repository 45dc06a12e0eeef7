/** Holds the client and the fetch middleware to running where there is no Node: bundled, and run with web globals only. */
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { createContext, runInContext } from "node:vm";
import { build } from "esbuild";
import t from "tap";

const root = resolve(fileURLToPath(import.meta.url), "../../../..");

t.test("the client and the fetch middleware run without anything of Node's", async (t) => {
  const { outputFiles } = await build({
    stdin: {
      contents:
        'export { createClient } from "./client/client.js"; export { createGuard } from "./middleware/fetch.js";',
      resolveDir: join(root, "dist/src"),
    },
    bundle: true,
    write: false,
    format: "iife",
    globalName: "edge",
    // No built-in of Node resolves here: an import of one fails the build.
    platform: "neutral",
  });
  const code = outputFiles[0]!.text;
  t.notMatch(code, /\brequire\(|\bprocess\.|\bBuffer\b/);

  const asked: unknown[] = [];
  const web = {
    fetch: async (url: string, { headers }: { headers: object }) => {
      asked.push([url, headers]);
      const verdict = { verdict: "definite", score: 1, action: "block", detection_ids: [], reason: "" };
      return Response.json(verdict, { headers: { "X-Request-Id": "id-1" } });
    },
    AbortController,
    Headers,
    URL,
    TextDecoder,
    TextEncoder,
    Response,
    clearTimeout,
    setTimeout,
    request: new Request("https://shop.example/a?b", { headers: { Cookie: "service_session=sess_x" } }),
  };
  const script = `${code}
    edge.createGuard({ client: { baseUrl: "http://verdictd", privateKey: "sk_x" } })(request)`;
  const { response } = (await runInContext(script, createContext(web))) as { response: Response };
  t.equal(response.status, 403);
  t.equal(response.headers.get("x-verdict-id"), "id-1");
  t.match(asked, [
    [
      "http://verdictd/v1/sessions/sess_x/verdict",
      { "X-Service-Request-Path": "/a", "X-Service-Request-Method": "GET", "X-Service-Request-Host": "shop.example" },
    ],
  ]);
});
