/**
 * The uWebSockets.js front: turns the route table into an application, checks credentials in the contract's order and runs the
 * handlers. Handlers know nothing of sockets; this file knows nothing of what they do.
 */

import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from "uWebSockets.js";
import { setTimeout as delay } from "node:timers/promises";
import { lackOf } from "../auth/abilities.js";
import { type Actor, actAs } from "../auth/actor.js";
import { type Credentials, noSubscription, type TokenHolder } from "../auth/credentials.js";
import type { CertificateFiles } from "../config/certificate.js";
import type { TokenNeed } from "../contract/api/access.js";
import type { Project, Role } from "../contract/configuration/entities.js";
import type { Plans } from "../contract/configuration/plans.js";
import { Refusal, RevokedError, refuse, UnavailableError } from "../errors.js";
import { limits } from "../limits.js";
import { yieldToEventLoop } from "../runtime/yield-to-event-loop.js";
import type { AccessLog } from "./access-log.js";
import { bearer, Exchange, type RequestMeter } from "./exchange.js";
import { FailedAuthThrottle } from "./failed-auth-throttle.js";
import { ambiguous, chunkedGet, Framing } from "./framing.js";
import { noDocumentation } from "./no-documentation.js";
import { OpenWork } from "./open-work.js";
import { type Reply, refusal } from "./reply.js";
import { requestIds } from "./request-id.js";
import type { Call, Method, ProjectRoute, PublicRoute, RawRoute, Route, TokenRoute } from "./route.js";
import { App, SSLApp, us_listen_socket_close, us_socket_local_port } from "./uws.js";

/** The route table, and what the server needs to check credentials and report. */
interface ServerOptions {
  readonly routes: readonly Route[];
  readonly credentials: Credentials;
  readonly plans: Plans;
  readonly findProject: (id: number) => Project | null;
  readonly strictAbilities: boolean;
  /** Why calls of the control plane can't be answered now; null: they can, as always on one host. */
  readonly controlPlaneFault: () => string | null;
  /** Called for every request with a good account token. */
  readonly onTokenUsed: (tokenId: number) => void;
  /** Called before a request is looked at, and again before its body is. */
  readonly onTick: () => void;
  readonly onFailure: (error: unknown, requestId: string) => void;
  /** What counts the requests of a row; `other` stands for the methods that a path does not take, `/*` for unknown paths. */
  readonly meterOf: (method: string, path: string) => RequestMeter;
  /** Null: requests are not logged. */
  readonly accessLog: AccessLog | null;
  /** Null: plain HTTP. */
  readonly certificate: CertificateFiles | null;
}

/** A server that takes connections. */
export interface Listening {
  readonly port: number;
  /**
   * Takes new connections with the certificate files as they are now; open connections go on with the old one. Rejects, and
   * changes nothing, when the files can't be used.
   */
  reloadCertificate(): Promise<void>;
  /** Stops taking connections; resolves when those that are open can be closed without cutting anybody off, or time is up. */
  stop(): Promise<void>;
  /** Closes every connection. */
  close(): void;
}

const methodNames: Readonly<Record<Method, string>> = {
  get: "GET",
  post: "POST",
  put: "PUT",
  patch: "PATCH",
  del: "DELETE",
  options: "OPTIONS",
};

/** The method label of requests that a path does not take. */
const otherMethod = "other";
/** The path of requests to unknown paths. */
const anyPath = "/*";

/** Every method and path that a server with these routes asks a meter for. */
export function meteredRows(routes: readonly Route[]): { readonly method: string; readonly route: string }[] {
  const paths = [...new Set(routes.map((route) => route.path)), anyPath];
  return [
    ...routes.map(({ method, path }) => ({ method: methodNames[method], route: path })),
    ...paths.map((route) => ({ method: otherMethod, route })),
  ];
}

/** One HTTP thread's front; the routes are fixed once it is made. */
export class HttpServer {
  readonly #options: ServerOptions;
  readonly #nextRequestId = requestIds();
  readonly #work = new OpenWork();
  readonly #failedAuths = new FailedAuthThrottle();
  readonly #framing = new Framing();
  /** The one that takes connections last; the others serve what they have. */
  readonly #apps: TemplatedApp[] = [];

  constructor(options: ServerOptions) {
    this.#options = options;
  }

  /** Listens; rejects when the address can't be had. Several threads and processes may share one port other than 0. */
  async listen(host: string, port: number): Promise<Listening> {
    let socket = await this.#listenAnew(host, port);
    const bound = us_socket_local_port(socket);
    return {
      port: bound,
      reloadCertificate: async () => {
        const next = await this.#listenAnew(host, bound);
        // What waits at the old listener would be reset: one tick of the event loop takes it in, and closing comes right after.
        await yieldToEventLoop();
        await yieldToEventLoop();
        us_listen_socket_close(socket);
        socket = next;
      },
      stop: async () => {
        // As above. Answers close their connections only when the listeners of other threads are gone too: clients come back at once then.
        await yieldToEventLoop();
        us_listen_socket_close(socket);
        await delay(limits.stopListenersMs);
        await this.#work.drain();
      },
      close: () => {
        for (const app of this.#apps) app.close();
      },
    };
  }

  /** An application of its own with all routes: uWebSockets reads a certificate only when one is made. */
  #listenAnew(host: string, port: number): Promise<us_listen_socket> {
    const { certificate, routes } = this.#options;
    const app =
      certificate === null
        ? App()
        : SSLApp({ cert_file_name: certificate.certificate, key_file_name: certificate.key });
    const counted = (res: HttpResponse, count: number): void => {
      this.#work.connections += count;
      if (count > 0 && this.#work.connections > limits.connectionsMax) res.close();
    };
    app.filter(counted);
    for (const route of routes) this.#register(app, route);
    this.#registerFallbacks(app, routes);
    return new Promise((resolve, reject) => {
      app.listen(host, port, (socket: us_listen_socket | false) => {
        if (!socket) {
          reject(
            new Error(`can't listen on ${host}:${port}: the address is in use, or does not belong to this machine`),
          );
          return;
        }
        this.#apps.push(app);
        resolve(socket);
      });
    });
  }

  #register(app: TemplatedApp, route: Route): void {
    const method = methodNames[route.method];
    const meter = this.#options.meterOf(method, route.path);
    if (answersHead(route)) {
      const headMeter = this.#options.meterOf(otherMethod, route.path);
      app.head(route.path, (res, req) => {
        this.#options.onTick();
        const exchange = this.#exchange(res, headMeter, otherMethod, route.path, true);
        if (this.#isFramed(exchange, req)) this.#run(route, exchange, req);
      });
    }
    if ("handleRaw" in route && route.takesAnyMethod === true) this.#registerAny(app, route);
    app[route.method](route.path, (res, req) => {
      this.#options.onTick();
      const exchange = this.#exchange(res, meter, method, route.path);
      if ("handleRaw" in route) {
        if (route.checksFraming === true || this.#isFramed(exchange, req)) this.#runRaw(route, exchange, req);
      } else if (this.#isFramed(exchange, req)) {
        if (route.method === "get" && this.#framing.isChunked) exchange.send(chunkedGet);
        else this.#run(route, exchange, req);
      }
    });
  }

  /** Takes every method, and perhaps what is below the path. */
  #registerAny(app: TemplatedApp, route: RawRoute): void {
    const [method, meters] = [methodNames[route.method], this.#options];
    const rowMeter = meters.meterOf(method, route.path);
    const otherMeter = meters.meterOf(otherMethod, route.path);
    const take = (res: HttpResponse, req: HttpRequest): void => {
      this.#options.onTick();
      const sent = req.getMethod();
      const [meter, name] = sent === route.method ? [rowMeter, method] : [otherMeter, otherMethod];
      const exchange = this.#exchange(res, meter, name, route.path, sent === "head");
      if (route.checksFraming === true || this.#isFramed(exchange, req)) this.#runRaw(route, exchange, req);
    };
    app.any(route.path, take);
    if (route.takesSuffix === true) app.any(`${route.path}/*`, take);
  }

  /** Whether it is clear where the request ends; one of which it is not is answered here. */
  #isFramed(exchange: Exchange, req: HttpRequest): boolean {
    const framing = this.#framing.read(req);
    if (framing.isAmbiguous) {
      exchange.send(ambiguous);
      return false;
    }
    exchange.framedBy(framing);
    return true;
  }

  #exchange(res: HttpResponse, meter: RequestMeter, method: string, path: string, toHead = false): Exchange {
    const { accessLog } = this.#options;
    const requestId = this.#nextRequestId();
    const metered = accessLog === null ? meter : accessLog.around(meter, { requestId, method, route: path, res });
    const exchange = new Exchange(res, requestId, metered, this.#work, toHead);
    if (!this.#work.tick.take(() => this.#work.peers.of(res))) exchange.answerNextTick();
    return exchange;
  }

  /** Known path, other method: 405 with `Allow`. Anything else: 404. */
  #registerFallbacks(app: TemplatedApp, routes: readonly Route[]): void {
    for (const path of new Set(routes.map((route) => route.path))) {
      const rows = routes.filter((route) => route.path === path);
      if (rows.some((row) => "handleRaw" in row && row.takesAnyMethod === true)) continue;
      const allow = rows.flatMap((row) => [methodNames[row.method], ...(answersHead(row) ? ["HEAD"] : [])]).join(", ");
      const meter = this.#options.meterOf(otherMethod, path);
      const refuseMethod = (res: HttpResponse, req: HttpRequest): void => {
        const exchange = this.#exchange(res, meter, otherMethod, path, req.getMethod() === "head");
        if (!this.#isFramed(exchange, req)) return;
        exchange.send({
          ...refusal(refuse("methodNotAllowed", `this path accepts ${allow}`)),
          headers: [["Allow", allow]],
        });
      };
      app.any(path, refuseMethod);
      // A row of another path would take its method here: `PATCH /rules/:rule` that of `/rules/test`.
      const methods = new Set(rows.map((row) => row.method));
      for (const { method } of routes.filter((other) => !methods.has(other.method) && covers(other.path, path))) {
        app[method](path, refuseMethod);
      }
    }
    const meter = this.#options.meterOf(otherMethod, anyPath);
    app.any(anyPath, (res: HttpResponse, req: HttpRequest) => {
      const exchange = this.#exchange(res, meter, otherMethod, anyPath, req.getMethod() === "head");
      if (!this.#isFramed(exchange, req)) return;
      exchange.send(
        req.getUrl().startsWith("/docs/")
          ? noDocumentation
          : refusal(refuse("notFound", "there is nothing at this path")),
      );
    });
  }

  #runRaw(route: RawRoute, exchange: Exchange, req: HttpRequest): void {
    try {
      route.handleRaw(exchange, req);
    } catch (error) {
      this.#fail(exchange, error);
    }
  }

  #run(route: Exclude<Route, RawRoute>, exchange: Exchange, req: HttpRequest): void {
    exchange.deferResponse();
    const params = parametersOf(route.path, req);
    const query = new URLSearchParams(req.getQuery() ?? "");
    const headers = (route.headers ?? []).map((name) => req.getHeader(name));
    const credential = route.credential === "private-key" ? privateKeyOf(req) : bearer(req);
    const answer = this.#authorize(route, params, credential);
    if (answer instanceof Refusal) {
      const isFailedAuth = answer.error === "unauthenticated" && route.credential !== "private-key";
      const waitMs = isFailedAuth ? this.#failedAuths.delayMs(exchange.socketAddress, Date.now()) : 0;
      this.#failedAuths.hold(waitMs, () => exchange.send(refusal(answer)));
      return;
    }
    const call = { params, query, headers, isAborted: () => exchange.isOver };
    if (route.readsBody !== true) {
      void this.#answer(exchange, () => answer({ ...call, body: Buffer.alloc(0) }));
      return;
    }
    exchange.readBody({
      bytesMax: limits.controlBodyBytesMax,
      isAnonymous: route.credential === "none",
      onCrowded: () => crowded,
      onBody: (body) => {
        this.#options.onTick();
        // Whoever sends a body slowly must not outlast the revocation of their token, or act on settings of before.
        const answerNow = this.#authorize(route, params, credential);
        if (answerNow instanceof Refusal) exchange.send(refusal(answerNow));
        else void this.#answer(exchange, () => answerNow({ ...call, body }));
      },
    });
  }

  async #answer(exchange: Exchange, handle: () => Reply | Promise<Reply>): Promise<void> {
    try {
      exchange.send(await handle());
    } catch (error) {
      this.#fail(exchange, error);
    }
  }

  #fail(exchange: Exchange, error: unknown): void {
    if (error instanceof UnavailableError) {
      exchange.send(refusal(refuse("unavailable", error.message)));
      return;
    }
    if (error instanceof RevokedError) {
      exchange.send(refusal(error.refusal));
      return;
    }
    this.#options.onFailure(error, exchange.requestId);
    exchange.send(
      refusal(refuse("internal", "the request failed; the server's log has the cause, under this request id")),
    );
  }

  /** The handler with what its credential stands for, or why it may not run. */
  #authorize(
    route: Exclude<Route, RawRoute>,
    params: readonly string[],
    credential: string,
  ): ((call: Call) => Reply | Promise<Reply>) | Refusal {
    if (route.credential === "none") return route.handle;
    if (route.credential === "private-key") {
      const holder = this.#options.credentials.subscribedKey("private", credential);
      if (holder instanceof Refusal) return holder;
      return (call) => route.handle({ ...call, holder });
    }
    // What takes an account token is the control plane: it must not be served from a configuration that may be out of date.
    const fault = this.#options.controlPlaneFault();
    if (fault !== null) return refuse("unavailable", fault);
    const holder = this.#options.credentials.tokenHolder(credential);
    if (holder === null) return refuse("unauthenticated", "a valid account token is required");
    this.#options.onTokenUsed(holder.token.id);
    const refused = (): Refusal | null => {
      const answer = this.#authorize(route, params, credential);
      return answer instanceof Refusal ? answer : null;
    };
    const actor: Actor = { userId: holder.token.userId, tokenId: holder.token.id, refused };
    return route.credential === "token"
      ? this.#authorizeToken(route, holder, actor)
      : this.#authorizeProject(route, holder, actor, params);
  }

  #authorizeToken(
    route: TokenRoute,
    holder: TokenHolder,
    actor: Actor,
  ): ((call: Call) => Reply | Promise<Reply>) | Refusal {
    const { account, membership } = holder;
    const asksPowers = route.needs !== "any-token" || route.needsSubscription === true || route.feature !== undefined;
    if (asksPowers) {
      if (account === null || membership === null) return notBound;
      if (route.needsSubscription === true && account.subscription !== "active") return noSubscription;
      if (route.feature !== undefined && !this.#options.plans[account.plan]?.features.includes(route.feature)) {
        return refuse("featureNotAvailable", `the plan has no feature ${route.feature}`);
      }
      const unable = this.#unable(route.needs, holder, membership.role);
      if (unable !== null) return unable;
    }
    return (call) => actAs(actor, () => route.handle({ ...call, holder }));
  }

  #authorizeProject(
    route: ProjectRoute,
    holder: TokenHolder,
    actor: Actor,
    params: readonly string[],
  ): ((call: Call) => Reply | Promise<Reply>) | Refusal {
    const id = positiveInteger(params[0]);
    if (id === null) return refuse("notFound", "a project id is a positive integer");
    const project = this.#options.findProject(id);
    const role = holder.membership?.role;
    if (project === null || role === undefined || project.accountId !== holder.token.accountId) {
      return refuse("forbidden", "the project does not belong to the token's account");
    }
    return (
      this.#unable(route.needs, holder, role) ??
      ((call) => actAs(actor, () => route.handle({ ...call, holder, project })))
    );
  }

  #unable(needs: TokenNeed, { token }: TokenHolder, role: Role): Refusal | null {
    const lack = lackOf(needs, { abilities: token.abilities, role }, this.#options.strictAbilities);
    return lack === null ? null : refuse("insufficientTokenAbility", lack);
  }
}

const crowded = refusal(refuse("unavailable", "too many request bodies at once; send the request again"));
const notBound = refuse("forbidden", "the token is not bound to an accessible account");

function answersHead(route: Route): route is PublicRoute {
  return route.credential === "none" && route.answersHead === true;
}

/** The private key of a request: `Authorization: Bearer`, or else `X-Service-Private-Key`. */
export function privateKeyOf(req: HttpRequest): string {
  return bearer(req) || req.getHeader("x-service-private-key");
}

/** A path id: digits only, from 1; null for anything else. One too large to be exact is an id that nothing has. */
export function positiveInteger(text: string | undefined): number | null {
  if (text === undefined || !/^[0-9]+$/.test(text)) return null;
  const number = Math.min(Number(text), Number.MAX_SAFE_INTEGER);
  return number > 0 ? number : null;
}

/** Whether requests to `path` match `pattern` as well, which has parameters where `path` has words. */
function covers(pattern: string, path: string): boolean {
  const [wide, narrow] = [pattern.split("/"), path.split("/")];
  return (
    wide.length === narrow.length &&
    wide.every((segment, index) => segment.startsWith(":") || segment === narrow[index])
  );
}

function parametersOf(path: string, req: HttpRequest): string[] {
  const count = path.split("/:").length - 1;
  const values: string[] = [];
  for (let index = 0; index < count; index++) values.push(decoded(req.getParameter(index) ?? ""));
  return values;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
