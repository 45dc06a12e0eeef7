/** A shop with verdictd's challenge on `/c…`: verdictd, its project, and what the shop answers. What stands in front of it is in `fronts.ts`. */
import type { Test } from "tap";
import { askUntil, firstTenant, startServer, type Tenant, type TestServer } from "../support/server.js";

export interface Shop {
  readonly server: TestServer;
  readonly tenant: Tenant;
  /** The middlewares' option. */
  readonly requests?: boolean;
  /** Told of each request that was answered, behind Express. */
  readonly answered?: (path: string, status: number) => void;
}

/** verdictd with a project that challenges every scored session on `/c/…`. */
export async function openShop(t: Test): Promise<Shop> {
  const server = await startServer(t, ["--verdict-ttl", "60", "--trusted-proxies", "127.0.0.1"]);
  const tenant = await firstTenant(server);
  const configure = async (method: string, path: string, body: object): Promise<void> => {
    const answer = await server.ask(method, `/v1/projects/${tenant.projectId}/${path}`, { token: tenant.token, body });
    if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`);
  };
  await configure("PUT", "challenge", { enabled: true, difficulty: "low" });
  await configure("POST", "rules", { name: "Challenge", expression: 'path starts_with "/c/"', action: "challenge" });
  return { server, tenant };
}

/** Waits until the session has a score: before that nobody is challenged. */
export async function untilScored({ server, tenant }: Shop, session: string): Promise<void> {
  await askUntil(
    () => server.ask("GET", `/v1/projects/${tenant.projectId}/sessions/${session}`, { token: tenant.token }),
    ({ json }) => json?.verdict !== undefined && json.verdict !== "not_computed",
  );
}

/** In a page: the session of its SDK, once there is one. */
export const sessionScript =
  "new Promise(done => { const look = () => window.verdictd ? window.verdictd.ready.then(done) : setTimeout(look, 20); look(); })";

interface ShopAnswer {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const strictPolicy =
  "default-src 'none'; script-src 'self'; connect-src 'self'; worker-src 'self'; require-trusted-types-for 'script'; trusted-types verdictd";

const aloneScript =
  '(async () => { while ((await fetch("/c/data")).status !== 403) await new Promise((done) => setTimeout(done, 250)); location.assign("/c/first"); })()';

/**
 * What the shop answers: `/` with the SDK, `/alone` which goes to `/c/first` and `/c/page` by itself once its visitor is challenged, `/form` with a form to `/c/form`, `/cookieless`, `/domain` with the cookie of `shop.test`, `/frame` with
 * `/c/page` in a frame, `/strict` with a strict policy; `/c/page`, `/c/form` and `/c/data`. Null for all others.
 */
export function shopAnswer(siteKey: string, method: string, path: string): ShopAnswer | null {
  const page = (body: string, attributes = "", headers: Record<string, string> = {}): ShopAnswer => ({
    headers: { "Content-Type": "text/html; charset=utf-8", ...headers },
    body: `<!doctype html><html lang="en"><title>Shop</title><script async src="/sdk.js" data-site-key="${siteKey}" data-interval="250" ${attributes}></script><main><h1>Shop</h1>${body}</main>`,
  });
  switch (`${method} ${path}`) {
    case "GET /":
      return page("<p>Hello</p>");
    case "GET /alone":
      return page(`<script>${aloneScript}</script>`);
    case "GET /c/first":
      return page('<script>location.assign("/c/page")</script>');
    case "GET /form":
      return page('<form method="post" action="/c/form"><button>Send</button></form>');
    case "GET /cookieless":
      return page("<p>Hello</p>", 'data-cookie="off"');
    case "GET /domain":
      return page("<p>Hello</p>", 'data-cookie-domain="shop.test"');
    case "GET /frame":
      return page('<iframe src="/c/page" title="Order"></iframe>');
    case "GET /strict":
      return page("<p>Hello</p>", "", { "Content-Security-Policy": strictPolicy });
    case "GET /c/page":
      return page("<p>You are in</p>");
    case "POST /c/form":
      return page("<p>Your form has arrived</p>");
    case "GET /c/data":
      return { headers: { "Content-Type": "application/json" }, body: '{"secret":1}' };
    default:
      return null;
  }
}
