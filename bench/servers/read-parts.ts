/**
 * The bare server with some of what a verdict read can't do without, in a process of its own. verdictd does all of it, and the rest is its own: the key,
 * the cache, counting. Answers are constant.
 */
import { App, type HttpRequest, type HttpResponse, us_socket_local_port } from "uWebSockets.js";
import { ReadHeaders } from "../../src/http/handlers/data-plane/read-headers.js";
import { jsonHeaderLines } from "../../src/http/reply.js";
import { requestIds } from "../../src/http/request-id.js";

/** What the harness tells this process on its command line, as JSON. */
export interface ReadPartOptions {
  /**
   * 1: walks the headers, which shows where the request ends. 2: also takes the session's token and the query. 3: also answers with a request id and
   * the header lines of verdictd.
   */
  readonly parts: 1 | 2 | 3;
  readonly verdict: string;
}

const { parts, verdict } = JSON.parse(process.argv[2]!) as ReadPartOptions;
const headers = new ReadHeaders();
const nextId = requestIds();
/** Keeps the compiler from leaving out what was read. */
let characters = 0;

function answer(res: HttpResponse): void {
  if (parts === 3) {
    res.writeHeader("X-Request-Id", jsonHeaderLines(nextId()));
    res.tryEnd(verdict, 0);
    return;
  }
  res.writeHeader("X-Request-Id", "00000000aaaa-000");
  res.writeHeader("Content-Type", "application/json; charset=utf-8");
  res.end(verdict);
}

App()
  .get("/v1/sessions/:session_token/verdict", (res: HttpResponse, req: HttpRequest) => {
    if (headers.read(req).framing.isAmbiguous) throw new Error("an ambiguous request");
    characters += headers.path.length + headers.privateKey.length;
    if (parts >= 2) characters += (req.getParameter(0) ?? "").length + (req.getQuery() ?? "").length;
    answer(res);
  })
  .listen("127.0.0.1", 0, (socket) => {
    process.send!(socket ? us_socket_local_port(socket) : 0);
  });
process.on("disconnect", () => process.exit(characters > 0 ? 0 : 1));
