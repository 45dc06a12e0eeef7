/** Requests that come in pieces: wherever TCP cuts one, it is the same request. */
import t from "tap";
import { isNewerRelease } from "../../src/http/uws.js";
import { batch } from "../support/batches.js";
import { RawClient, rawRequest } from "../support/raw-socket.js";
import { firstTenant, startServer } from "../support/server.js";

t.test("a request is answered alike wherever it is cut", async (t) => {
  const server = await startServer(t);
  const { siteKey } = await firstTenant(server);
  const beside = await RawClient.open(server.port);
  t.teardown(() => beside.leave());
  /** The status of the answer to a request that the server reads in two pieces. */
  const cutAt = async (request: string, at: number): Promise<number | undefined> => {
    const client = await RawClient.open(server.port);
    client.write(request.slice(0, at));
    // One thread answers both connections: by the time it answers here it has read the first piece.
    beside.write(rawRequest("GET", "/healthz"));
    if ((await beside.answer())?.status !== 200) throw new Error("the server does not answer");
    client.write(request.slice(at));
    const answer = await client.answer();
    client.leave();
    return answer?.status;
  };
  const get = rawRequest("GET", "/healthz");
  const body = JSON.stringify(batch("splitted"));
  const post = rawRequest("POST", "/v1/events", { "X-Service-Site-Key": siteKey }, body);
  const requests: [request: string, status: number][] = [
    [get, 200],
    [post.slice(0, post.indexOf("\r\n\r\n") + 4 + body.length), 202],
  ];
  for (const [request, status] of requests) {
    const version = request.indexOf(" HTTP/1.1");
    const head = request.indexOf("\r\n\r\n") + 4;
    const wrong: number[] = [];
    for (let at = 1; at <= head; at++) {
      if (at < request.length && (await cutAt(request, at)) !== status) wrong.push(at - version);
    }
    // On an older glibc the older release is what there is: wrong behind the method and in the version, and nowhere else.
    const behindMethod = request.indexOf("/") - version;
    const isKnown = (at: number): boolean =>
      !isNewerRelease && (at === behindMethod || (at > 0 && at < " HTTP/1.1\r\n".length));
    t.same(
      wrong.filter((at) => !isKnown(at)),
      [],
      request.slice(0, version),
    );
    t.comment(
      `${isNewerRelease ? "newer" : "older"} release, wrong where it is cut at: ${wrong.join(" ") || "nowhere"}`,
    );
  }
});
