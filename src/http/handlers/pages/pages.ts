/** What verdictd serves beside the API: the SDK, health, and files that were read once at start. */
import { createHash } from "node:crypto";
import { json, type Reply } from "../../reply.js";
import type { PublicRoute } from "../../route.js";

/** A file to serve as it is. */
export interface Page {
  readonly path: string;
  readonly contentType: string;
  readonly body: Uint8Array | string;
  readonly headers?: Reply["headers"];
}

export function pageRoute({ path, contentType, body, headers = [] }: Page): PublicRoute {
  const tag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
  const all = [...headers, ["ETag", tag], ["X-Content-Type-Options", "nosniff"]] as const;
  return { method: "get", path, credential: "none", handle: () => ({ status: 200, body, contentType, headers: all }) };
}

export interface Health {
  /** Whether requests should be sent here: store open, workers up, not stopping. */
  readonly isReady: () => boolean;
}

export function healthRoutes({ isReady }: Health): PublicRoute[] {
  return [
    { method: "get", path: "/healthz", credential: "none", handle: () => json(200, { status: "ok" }) },
    {
      method: "get",
      path: "/readyz",
      credential: "none",
      handle: () => (isReady() ? json(200, { status: "ready" }) : json(503, { status: "not ready" })),
    },
  ];
}
