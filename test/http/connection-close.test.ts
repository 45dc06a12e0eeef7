/** `Connection: close` of a request: the answer says so, and the connection is closed, on every kind of route. */
import t from "tap";
import { RawClient } from "../support/raw-socket.js";
import { firstTenant, startServer } from "../support/server.js";

const server = await startServer(t);
const tenant = await firstTenant(server);
const privateKey = `Authorization: Bearer ${tenant.privateKey}`;
const authorization = `Authorization: Bearer ${tenant.token}`;
const small = '{"events":[]}';

const requests: Readonly<Record<string, readonly [line: string, status: number, ...headers: string[]]>> = {
  ingest: ["POST /v1/events", 422, `X-Service-Site-Key: ${tenant.siteKey}`, `Content-Length: ${small.length}`],
  verdict: [`GET /v1/sessions/sess_${"A".repeat(28)}/verdict`, 200, privateKey],
  "forward-auth": ["GET /v1/forward-auth", 204, `X-Service-Private-Key: ${tenant.privateKey}`],
  "a list": [`GET /v1/projects/${tenant.projectId}/rules`, 200, authorization],
  preflight: ["OPTIONS /v1/events", 204],
  health: ["GET /healthz", 200],
  HEAD: ["HEAD /healthz", 200],
  "a large page": ["GET /openapi.json", 200],
  "404": ["GET /nowhere", 404],
  "405": ["DELETE /v1/events", 405],
};

function textOf([line, , ...headers]: readonly [string, number, ...string[]], connection: readonly string[]): string {
  const lines = [`${line} HTTP/1.1`, "Host: localhost", ...headers, ...connection, "", ""].join("\r\n");
  return line.startsWith("POST") ? lines + small : lines;
}

t.test("whoever asks to close is told so, and the connection is closed", async (t) => {
  for (const [what, request] of Object.entries(requests)) {
    const [line, status] = request;
    const toHead = line.startsWith("HEAD");
    await t.test(`${what}: the answer says that it is the last, and is`, async (t) => {
      for (const option of ["close", "Close", "keep-alive, close", "close, TE"]) {
        const client = await RawClient.open(server.port);
        await client.write(textOf(request, [`Connection: ${option}`]));
        const answer = await client.answer(toHead);
        t.same([answer?.status, answer?.headers.get("connection")], [status, "close"], option);
        // A large answer to a list is whole and marked; uWebSockets leaves it to the client to close, or to the time of idle connections.
        if (what !== "a large page" || option.length === 5)
          t.equal(await client.answer(toHead), null, `${option}: closed`);
        else client.leave();
      }
    });

    await t.test(`${what}: without it the connection stays`, async (t) => {
      const client = await RawClient.open(server.port);
      for (const options of [[], ["Connection: keep-alive"], ["Connection: closed, TE"]]) {
        await client.write(textOf(request, options));
        const answer = await client.answer(toHead);
        t.same([answer?.status, answer?.headers.get("connection")], [status, undefined], options.join());
      }
      client.leave();
    });
  }
});
