/** What verdictd serves beside the API: the SDK, health, and files that were read once at start. */
import type { HealthAnswer } from "../../../contract/api/api-types.js";
import { json, type Reply } from "../../reply.js";
import type { PublicRoute } from "../../route.js";
import { type FileBody, FileReply, fileHeaders } from "./file-reply.js";

/** A file to serve as it is. */
export interface Page {
  readonly path: string;
  readonly contentType: string;
  /** Text that takes long to make may be given as a function, which is called when it is first asked for. */
  readonly body: FileBody | (() => string);
  readonly headers?: Reply["headers"];
  /** Default: browsers ask anew each time, since a new version of the program brings new files under the same names. */
  readonly cacheControl?: string;
  /** For the OpenAPI document; default: that it is a file. */
  readonly summary?: string;
}

/**
 * A `GET` of one file without credential, compressed as the client accepts it, with ETag; clients ask again each time unless
 * `cacheControl` says otherwise.
 */
export function pageRoute({ path, contentType, body, headers, cacheControl, summary }: Page): PublicRoute {
  const fileOf = (given: FileBody): FileReply => new FileReply(given, contentType, cacheControl ?? "no-cache", headers);
  let file = typeof body === "function" ? null : fileOf(body);
  return {
    method: "get",
    path,
    credential: "none",
    answersHead: true,
    doc: {
      id: `getFile${path.replace(/[^A-Za-z0-9]+([A-Za-z0-9]?)/g, (_, letter: string) => letter.toUpperCase())}`,
      tag: "service",
      summary: summary ?? `The file ${path}`,
      answers: { 200: { contentType: contentType.replace(/;.*/, "") } },
    },
    headers: fileHeaders,
    handle: ({ headers: [acceptEncoding = "", ifNoneMatch = ""] }) => {
      file ??= fileOf(typeof body === "function" ? body() : body);
      return file.to(acceptEncoding, ifNoneMatch);
    },
  };
}

/** What `/readyz` asks. */
interface Health {
  /** Whether requests should be sent to this process, as the admin address says it too: `readiness.ts`. */
  readonly isReady: () => boolean;
}

/** `/healthz`, which answers 200 as long as the process runs, and `/readyz`, 200 or 503; no credential. */
export function healthRoutes({ isReady }: Health): PublicRoute[] {
  return [
    {
      method: "get",
      path: "/healthz",
      credential: "none",
      answersHead: true,
      doc: { id: "getHealth", tag: "service", summary: "Whether the process runs", answers: { 200: "HealthAnswer" } },
      handle: () => health(200, "ok"),
    },
    {
      method: "get",
      path: "/readyz",
      credential: "none",
      answersHead: true,
      doc: {
        id: "getReadiness",
        tag: "service",
        summary: "Whether the process is ready for requests",
        description:
          "For all threads of the process: the store can be read, the scoring threads run, and it is not stopping. With a cluster, also that this " +
          "process is not the only one that is cut off from it, and that its engines are still as `serve` demands. The admin address says " +
          "the same under the same path, and which of these is missing.",
        answers: { 200: "HealthAnswer", 503: "HealthAnswer" },
      },
      handle: () => (isReady() ? health(200, "ready") : health(503, "not ready")),
    },
  ];
}

function health(status: number, state: HealthAnswer["status"]): Reply {
  return json(status, { status: state } satisfies HealthAnswer);
}
