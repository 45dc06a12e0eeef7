/** The shape of the route table: a route is one row of method, path, credential and handler. */
import type { HttpRequest } from "uWebSockets.js";
import type { AuthenticatedKey, TokenHolder } from "../auth/credentials.js";
import type { TokenNeed } from "../contract/api/access.js";
import type { RouteDoc } from "../contract/api/route-doc.js";
import type { Project } from "../contract/configuration/entities.js";
import type { Feature } from "../contract/configuration/plans.js";
import type { Exchange } from "./exchange.js";
import type { Reply } from "./reply.js";

/** Methods by uWebSockets' names: `del` is DELETE. */
export type Method = "get" | "post" | "put" | "patch" | "del" | "options";

/** What every handler gets. Header values, parameters and query were copied: they stay valid. */
export interface Call {
  /** Values of the path's `:names`, in order, percent-decoded where that is possible. */
  readonly params: readonly string[];
  readonly query: URLSearchParams;
  /** The body; empty for rows that read none. */
  readonly body: Buffer;
  /** Values of the headers that the row names, in its order; "" for one that the request lacks. */
  readonly headers: readonly string[];
  /** Whether the client has gone: long work for it is to end. */
  readonly isAborted: () => boolean;
}

/** A request with a good account token that may do what the row needs. */
export interface TokenCall extends Call {
  readonly holder: TokenHolder;
}
/** A request for a project that the token's account owns; for others and unknown ones it was answered 403. */
export interface ProjectCall extends TokenCall {
  readonly project: Project;
}
/** A request with a good private key; the project is the key's. */
interface KeyCall extends Call {
  readonly holder: AuthenticatedKey;
}

type Handler<C extends Call> = (call: C) => Reply | Promise<Reply>;

interface Row {
  readonly method: Method;
  /** uWebSockets pattern: `/v1/projects/:project/rules`. */
  readonly path: string;
  /** Whether the body is read; default false. */
  readonly readsBody?: boolean;
  /** Request headers that the handler reads, in small letters; default none. */
  readonly headers?: readonly string[];
  /** What the OpenAPI document says of the route: a row without it does not compile. */
  readonly doc: RouteDoc;
}

/** No credential. */
export interface PublicRoute extends Row {
  readonly credential: "none";
  /** Whether HEAD is answered as this GET is, without its body; default false: 405. */
  readonly answersHead?: true;
  readonly handle: Handler<Call>;
}
/** Account token. */
export interface TokenRoute extends Row {
  readonly credential: "token";
  /** What the token must be able to do: a row that does not say does not compile. */
  readonly needs: TokenNeed;
  readonly feature?: Feature;
  readonly needsSubscription?: boolean;
  readonly handle: Handler<TokenCall>;
}
/** Account token, and the first parameter is a project of its account. */
export interface ProjectRoute extends Row {
  readonly credential: "project";
  /** What the token must be able to do: a row that does not say does not compile. */
  readonly needs: TokenNeed;
  readonly handle: Handler<ProjectCall>;
}
/** Private key, with an active subscription. */
export interface KeyRoute extends Row {
  readonly credential: "private-key";
  readonly handle: Handler<KeyCall>;
}
/** The data plane's hot paths: the handler itself reads what it needs of the request, synchronously. */
export interface RawRoute extends Row {
  readonly credential: "site-key" | "private-key-raw";
  /** Whether the handler looks at the framing itself, since it walks the headers anyway; default false. */
  readonly checksFraming?: true;
  /** Whether other methods get there too; default false: 405. */
  readonly takesAnyMethod?: boolean;
  /** Whether everything below the path gets there too; default false: 404. */
  readonly takesSuffix?: boolean;
  readonly handleRaw: (exchange: Exchange, req: HttpRequest) => void;
}

/** A row of the route table; `credential` says what is checked before the handler runs. */
export type Route = PublicRoute | TokenRoute | ProjectRoute | KeyRoute | RawRoute;
