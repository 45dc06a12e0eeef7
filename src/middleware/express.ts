/**
 * `verdictd-client/express`: the middleware for Express 4 and 5. `app.use(verdictd({ client: { baseUrl, privateKey } }))` before the routes
 * it protects; the verdict is on `req.verdictd`. Imports Express's types only.
 */
import type { Request, Response } from "express";
import { Guard, type GuardOptions, type RouterIgnores, type SeenRequest, type Visit } from "./guard.js";
import { addCookieOnWrite, type HeaderWriter } from "./session-cookie-header.js";

export type { DenialPages, DenialTexts } from "./denial-page.js";
export type { Visit } from "./guard.js";

declare global {
  namespace Express {
    interface Request {
      /** Set by verdictd's middleware. */
      verdictd?: Visit;
    }
  }
}

/** What is used of an Express request. */
export interface ExpressRequest {
  readonly originalUrl: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** As Express's `trust proxy` setting has it. */
  readonly ip?: string | undefined;
  /** The same. */
  readonly secure?: boolean;
  /** Its settings say how it reads paths. */
  readonly app?: { enabled(setting: string): boolean };
  verdictd?: Visit;
}

/** What is used of an Express response. */
export interface ExpressResponse {
  readonly headersSent: boolean;
  status(code: number): unknown;
  set(headers: Record<string, string>): unknown;
  send(body: string): unknown;
}

/**
 * An Express handler: it answers, or calls `next()` to let the visitor in; its verdict is on `req.verdictd`. When it throws or
 * rejects before it has answered, the visitor is let in.
 */
export type ExpressChallenge<Req, Res> = (req: Req, res: Res, next: (error?: unknown) => void) => unknown;

/** Options of the middleware: those of every middleware, and how to read an Express request. */
export interface ExpressOptions<Req = Request, Res = Response> extends GuardOptions<ExpressChallenge<Req, Res>> {
  /** The visitor's address; default `req.ip`, which is right once Express's `trust proxy` is. */
  readonly clientIp?: ((req: Req) => string | undefined) | undefined;
  /** Requests to leave alone. */
  readonly skip?: ((req: Req) => boolean) | undefined;
}

/** Typed so loosely that Express infers nothing from it: a route's parameters and answers keep the types that they have without it. */
export type ExpressMiddleware = (
  req: ExpressRequest,
  res: Pick<ExpressResponse, "headersSent">,
  next: (error?: unknown) => void,
) => Promise<void>;

/**
 * The middleware. Throws a `TypeError` on a bad option; never passes an error of its own to `next`. Its hooks get Express's own request and
 * response, unless they name other types.
 */
export function verdictd<Req extends ExpressRequest = Request, Res extends ExpressResponse = Response>(
  options: ExpressOptions<Req, Res>,
): ExpressMiddleware {
  const guard = new Guard(options);
  return async (seen, answer, next) => {
    // What Express passes is its own, whatever is used of it.
    const [req, res] = [seen as Req, answer as Res];
    if (guard.skips(() => options.skip?.(req))) return next();
    const visit = await guard.visit(() => see(req, options));
    req.verdictd = visit;
    if (visit.setCookie !== null) addCookieOnWrite(res as unknown as HeaderWriter, visit.setCookie);
    const step = await guard.step(
      visit,
      String(req.headers["accept"] ?? ""),
      String(req.headers["accept-language"] ?? ""),
    );
    if (step.step === "respond") {
      res.status(step.response.status);
      res.set({ ...step.response.headers });
      res.send(step.response.body);
    } else if (step.step === "challenge" && guard.challenge !== null) {
      await challenge(guard, guard.challenge, req, res, next);
    } else next();
  };
}

function see<Req extends ExpressRequest, Res>(req: Req, options: ExpressOptions<Req, Res>): SeenRequest {
  const { headers } = req;
  return {
    target: req.originalUrl,
    method: req.method,
    // HTTP/2, where the server speaks it, has the host as a pseudo-header.
    host: textOf(headers["host"]) ?? textOf(headers[":authority"]),
    ip: options.clientIp === undefined ? req.ip : options.clientIp(req),
    header: (name) => textOf(headers[name]),
    headers: () => Object.entries(headers),
    isSecure: req.secure === true,
    ...(typeof req.app?.enabled === "function" && { ignores: ignoredBy(req.app) }),
  };
}

/** As the application's own router reads paths; a `Router` with settings of its own is not asked. */
function ignoredBy(app: NonNullable<ExpressRequest["app"]>): RouterIgnores[] {
  const ignored: RouterIgnores[] = [];
  if (!app.enabled("case sensitive routing")) ignored.push("case");
  if (!app.enabled("strict routing")) ignored.push("trailing-slash");
  return ignored;
}

function textOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

async function challenge<Req, Res extends ExpressResponse>(
  guard: Guard<ExpressChallenge<Req, Res>>,
  hook: ExpressChallenge<Req, Res>,
  req: Req,
  res: Res,
  next: (error?: unknown) => void,
): Promise<void> {
  let passedOn = false;
  const once = (error?: unknown): void => {
    if (passedOn) return;
    passedOn = true;
    next(error);
  };
  try {
    await hook(req, res, once);
  } catch (cause) {
    guard.reportHook("the challenge threw", cause);
    if (!res.headersSent) once();
  }
}
