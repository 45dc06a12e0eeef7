/**
 * How proxies say what the visitor asked for. A proxy may also pass on the visitor's own headers, so only one dialect is read, never a mixture. The path
 * that the proxy's configuration names selects it: proxies pass on a visitor's query and headers, so neither may decide what verdictd trusts.
 * `Forwarded` is never read.
 */

/** What a proxy told of its visitor's request; "" for what it did not tell. */
export interface AskedFor {
  /** The request target, with its query. */
  readonly uri: string;
  readonly method: string;
  /** As the visitor sent it, with its port. */
  readonly host: string;
  /** The visitor's address, last, behind those of proxies on the way: `X-Forwarded-For`. */
  readonly hops: string;
  /** `http` or `https`, perhaps with more behind a comma: `X-Forwarded-Proto`. */
  readonly scheme: string;
}

/** The question itself: its method in capitals, and what stands in it behind the route's path. */
export interface Question {
  readonly method: string;
  readonly suffix: string;
}

/** Values by lower-case name. */
type SentHeaders = Pick<ReadonlyMap<string, string>, "get">;

/** One way of asking. */
export interface Dialect {
  /** The `operationId` of its route. */
  readonly id: string;
  readonly path: string;
  /** Whether the visitor's path follows the route's. */
  readonly takesSuffix?: true;
  /** For the documentation: where the visitor's request is read. */
  readonly source: string;
  /** The status that the proxy takes for a yes. */
  readonly yes: 200 | 204;
  readonly read: (headers: SentHeaders, question: Question) => AskedFor;
}

const value = (headers: SentHeaders, name: string): string => headers.get(name) ?? "";

/** Of a list of hosts the one that the nearest proxy wrote: those before it may be the visitor's own. */
const lastOf = (list: string): string => list.slice(list.lastIndexOf(",") + 1).trim();

/** A row is a route. */
export const dialects: readonly Dialect[] = [
  {
    // Caddy, Traefik, HAProxy, the nginx recipe.
    id: "forwardAuth",
    path: "/v1/forward-auth",
    source: "`X-Forwarded-*`",
    yes: 204,
    read: (headers) => ({
      uri: value(headers, "x-forwarded-uri"),
      method: value(headers, "x-forwarded-method"),
      host: lastOf(value(headers, "x-forwarded-host")),
      hops: value(headers, "x-forwarded-for"),
      scheme: value(headers, "x-forwarded-proto"),
    }),
  },
  {
    id: "forwardAuthByOriginal",
    path: "/v1/forward-auth/x-original",
    source: "`X-Original-*` and `X-Real-IP`",
    yes: 204,
    read: (headers) => ({
      uri: value(headers, "x-original-uri"),
      method: value(headers, "x-original-method"),
      host: value(headers, "x-original-host"),
      hops: value(headers, "x-real-ip"),
      scheme: value(headers, "x-forwarded-proto"),
    }),
  },
  {
    // ingress-nginx.
    id: "forwardAuthByOriginalUrl",
    path: "/v1/forward-auth/x-original-url",
    source: "`X-Original-URL`, `X-Original-Method` and `X-Real-IP`",
    yes: 204,
    read: (headers) => ({
      ...partsOf(value(headers, "x-original-url")),
      method: value(headers, "x-original-method"),
      hops: value(headers, "x-real-ip"),
    }),
  },
  {
    // Envoy's ext_authz asks with the visitor's method and host, and takes nothing but 200 for a yes.
    id: "forwardAuthBySuffix",
    path: "/v1/forward-auth/envoy",
    takesSuffix: true,
    source: "the method of this call, its path behind `/envoy`, its `Host` and `X-Forwarded-For`",
    yes: 200,
    read: (headers, { method, suffix }) => ({
      uri: suffix,
      method,
      host: value(headers, "host"),
      hops: value(headers, "x-forwarded-for"),
      scheme: value(headers, "x-forwarded-proto"),
    }),
  },
];

/**
 * Splits what ingress-nginx writes as `$scheme://$http_host$request_uri`. A visitor's request line may name a whole address, which then stands behind the
 * host: `https://shop.examplehttp://shop.example/closed` is `/closed`, as nginx reads it. A host has no slash: nginx refuses one that has.
 */
function partsOf(url: string): Pick<AskedFor, "uri" | "host" | "scheme"> {
  const [whole, scheme = "", authority = ""] = /^([a-z][a-z0-9+.-]*):\/\/([^/]*)/i.exec(url) ?? [""];
  const uri = url.slice(whole.length);
  const inside = uri.startsWith("//") ? /^(.*?)https?:$/i.exec(authority)?.[1] : undefined;
  if (inside === undefined) return { uri, host: authority, scheme };
  return { uri: uri.replace(/^\/\/[^/]*/, "") || "/", host: inside, scheme };
}
