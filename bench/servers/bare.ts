/**
 * The baseline, in a process of its own: uWebSockets.js alone. It answers data-plane routes with constants: a body as long as verdictd's, and its
 * header lines without `Cache-Control` and `X-Content-Type-Options`. It reads request bodies whole, because no server could do less.
 */
import { App, type HttpResponse, us_socket_local_port } from "uWebSockets.js";

/** What the harness tells this process on its command line, as JSON. */
export interface BareAnswers {
  readonly verdict: string;
  readonly ingest: string;
  readonly challenge?: string;
  /** To a question about a request. */
  readonly request?: string;
}

const answers = JSON.parse(process.argv[2]!) as BareAnswers;
const requestId = "00000000aaaa-000";

function read(res: HttpResponse, answer: () => void): void {
  let bytes = 0;
  res.onAborted(() => {});
  res.onData((piece, isLast) => {
    bytes += piece.byteLength;
    if (!isLast) return;
    if (bytes === 0) throw new Error("an empty body");
    answer();
  });
}

App()
  .get("/v1/sessions/:session_token/verdict", (res) => {
    res.writeHeader("X-Request-Id", requestId);
    res.writeHeader("Content-Type", "application/json; charset=utf-8");
    res.end(answers.verdict);
  })
  .post("/v1/events", (res) =>
    read(res, () => {
      res.writeStatus("202 Accepted");
      res.writeHeader("X-Request-Id", requestId);
      res.writeHeader("Access-Control-Allow-Origin", "*");
      res.writeHeader("Content-Type", "application/json; charset=utf-8");
      res.end(answers.ingest);
    }),
  )
  .post("/v1/verdict", (res) =>
    read(res, () => {
      res.writeHeader("X-Request-Id", requestId);
      res.writeHeader("Content-Type", "application/json; charset=utf-8");
      res.end(answers.request ?? "");
    }),
  )
  .get("/v1/forward-auth", (res) => {
    res.writeStatus("204 No Content");
    res.writeHeader("X-Request-Id", requestId);
    res.writeHeader("X-Verdict", "likely_human");
    res.writeHeader("X-Verdict-Score", "60");
    res.writeHeader("X-Verdict-Action", "allow");
    res.endWithoutBody();
  })
  .post("/v1/challenges", (res) =>
    read(res, () => {
      res.writeHeader("X-Request-Id", requestId);
      res.writeHeader("Access-Control-Allow-Origin", "*");
      res.writeHeader("Content-Type", "application/json; charset=utf-8");
      res.end(answers.challenge ?? "");
    }),
  )
  .listen("127.0.0.1", 0, (socket) => {
    process.send!(socket ? us_socket_local_port(socket) : 0);
  });
process.on("disconnect", () => process.exit());
