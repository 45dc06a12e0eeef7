/**
 * `verdictd-client/fetch`: for servers that speak the Fetch API's `Request` and `Response`: Hono (`honoVerdictd`), Next's proxy and
 * route handlers (`createGuard`), Deno, Bun and Workers (`withVerdict`). Uses nothing of Node.
 */

// biome-ignore lint/suspicious/noTsIgnore: goes into the declarations, where it is an error only for those without Hono
/** @ts-ignore: whoever does not use Hono does not have it. */
import type { Context } from "hono";
import { Guard, type GuardOptions, type SeenRequest, type Step, type Visit } from "./guard.js";
import { privateCaching } from "./session-cookie-header.js";

export type { DenialPages, DenialTexts } from "./denial-page.js";
export type { Visit } from "./guard.js";

// biome-ignore lint/suspicious/noTsIgnore: the same
/** @ts-ignore */
declare module "hono" {
  interface ContextVariableMap {
    /** Set by verdictd's middleware; null for a request that was skipped. */
    verdictd: Visit | null;
  }
}

/** Gives the answer, or null to let the visitor in. When it throws or rejects, the visitor is let in. */
export type FetchChallenge<Source> = (
  source: Source,
  visit: Visit,
) => Response | null | undefined | Promise<Response | null | undefined>;

/** `Source` is what the server hands over: a `Request`, or Hono's context. */
export interface FetchOptions<Source> extends GuardOptions<FetchChallenge<Source>> {
  /**
   * The visitor's address. The Fetch API has none, so without this verdictd goes by the address that the session last reported from.
   * Take it from the runtime (`getConnInfo(c).remote.address`), or from a header that your own proxy sets.
   */
  readonly clientIp?: ((source: Source) => string | undefined) | undefined;
  /** Requests to leave alone. */
  readonly skip?: ((source: Source) => boolean) | undefined;
}

/** The verdict, and the answer where the visitor is not let in. `visit` is null for a request that was skipped. */
export interface Checked {
  readonly visit: Visit | null;
  readonly response: Response | null;
}

/**
 * A function that checks a request: `const { visit, response } = await guard(request); if (response) return response;`. It never
 * rejects. Throws a `TypeError` on a bad option.
 */
export function createGuard<Source extends Request = Request>(
  options: FetchOptions<Source>,
): (request: Source) => Promise<Checked> {
  const guard = new Guard(options);
  return (request) => check(guard, options, request, request);
}

/** The handler behind the check: it gets the visit with the request, and whatever else the runtime passes. */
export function withVerdict<Rest extends unknown[]>(
  handler: (request: Request, visit: Visit | null, ...rest: Rest) => Response | Promise<Response>,
  options: FetchOptions<Request>,
): (request: Request, ...rest: Rest) => Promise<Response> {
  const guard = createGuard(options);
  return async (request, ...rest) => {
    const { visit, response } = await guard(request);
    return response ?? withSessionCookie(await handler(request, visit, ...rest), visit);
  };
}

/** What is used of Hono's context. */
export interface HonoContext {
  readonly req: { readonly raw: Request };
  set(key: "verdictd", visit: Visit | null): void;
  readonly res: Response;
  header(name: string, value: string, options?: { append?: boolean }): void;
}

/** Hono's middleware: `app.use(honoVerdictd({ … }))`; the visit is `c.get("verdictd")`. */
export function honoVerdictd<C extends HonoContext = Context>(
  options: FetchOptions<C>,
): (c: NoInfer<C>, next: () => Promise<void>) => Promise<Response | undefined> {
  const guard = new Guard(options);
  return async (c, next) => {
    const { visit, response } = await check(guard, options, c, c.req.raw);
    c.set("verdictd", visit);
    if (response !== null) return response;
    await next();
    const setCookie = visit?.setCookie ?? null;
    if (setCookie !== null) {
      c.header("Set-Cookie", setCookie, { append: true });
      c.header("Cache-Control", privateCaching(c.res.headers.get("cache-control") ?? ""));
    }
    return undefined;
  };
}

/** The variables that `honoVerdictd` sets. */
export interface HonoVariables {
  verdictd: Visit | null;
}

async function check<Source>(
  guard: Guard<FetchChallenge<Source>>,
  options: FetchOptions<Source>,
  source: Source,
  request: Request,
): Promise<Checked> {
  if (guard.skips(() => options.skip?.(source))) return { visit: null, response: null };
  const visit = await guard.visit(() => see(options, source, request));
  const step = await guard.step(
    visit,
    request.headers.get("accept") ?? "",
    request.headers.get("accept-language") ?? "",
  );
  const response = await responseOf(guard, step, source, visit);
  return { visit, response: response === null ? null : withSessionCookie(response, visit) };
}

/**
 * The response, with the cookie for a visitor who was given a token, and `Cache-Control: private` then unless `no-store` is set. For answers behind
 * `createGuard`; the other forms do it themselves.
 */
export function withSessionCookie(response: Response, visit: Visit | null): Response {
  const setCookie = visit?.setCookie ?? null;
  // A switch of protocols has no page, and can't be made again.
  if (setCookie === null || response.status < 200) return response;
  // Headers of redirects and of fetched responses can't be changed.
  const copy = new Response(response.body, response);
  copy.headers.append("Set-Cookie", setCookie);
  copy.headers.set("Cache-Control", privateCaching(response.headers.get("cache-control") ?? ""));
  return copy;
}

function see<Source>(options: FetchOptions<Source>, source: Source, request: Request): SeenRequest {
  const url = new URL(request.url);
  return {
    target: url.pathname + url.search,
    method: request.method,
    host: request.headers.get("host") ?? url.host,
    ip: options.clientIp?.(source),
    header: (name) => request.headers.get(name) ?? undefined,
    headers: () => [...request.headers],
    isSecure: url.protocol === "https:",
  };
}

async function responseOf<Source>(
  guard: Guard<FetchChallenge<Source>>,
  step: Step,
  source: Source,
  visit: Visit,
): Promise<Response | null> {
  if (step.step === "respond") {
    const { status, headers, body } = step.response;
    return new Response(body, { status, headers });
  }
  if (step.step !== "challenge") return null;
  try {
    return (await guard.challenge?.(source, visit)) ?? null;
  } catch (cause) {
    guard.reportHook("the challenge threw", cause);
    return null;
  }
}
