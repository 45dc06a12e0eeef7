/** Shedding over real sockets, by a queue that takes nothing: what it costs and what it leaves of the connection. */

import t from "tap";
import { Credentials } from "../../src/auth/credentials.js";
import { defaultPlans } from "../../src/contract/configuration/plans.js";
import { unidentified } from "../../src/contract/evidence/visitor.js";
import { ingestRoutes } from "../../src/http/handlers/data-plane/ingest.js";
import { HttpServer, meteredRows } from "../../src/http/server.js";
import { IngestQueue } from "../../src/ingest/queue.js";
import { limits } from "../../src/limits.js";
import { RouteMeters } from "../../src/metrics/route-meters.js";
import { ServiceMeters } from "../../src/metrics/service-meters.js";
import { openStore } from "../../src/store/open-store.js";
import { chunked, RawClient, rawRequest } from "../support/raw-socket.js";

t.test("a batch that is shed", async (t) => {
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  const credentials = new Credentials(store);
  const failures: unknown[] = [];
  let missed = 0;
  let begun = 0;
  let underWay = 0;
  const routes = ingestRoutes({
    queue: new IngestQueue({
      run: () => Promise.reject(new Error("nothing should come here")),
      tasksMax: 1,
      sampleAboveBytes: 0,
      shedAboveBytes: 0,
      meter: new ServiceMeters(),
      onFailure: (error) => failures.push(error),
    }),
    disk: { hasRoom: true },
    credentials,
    clientIp: (socketAddress) => socketAddress,
    identities: { peek: () => unidentified, resolve: () => Promise.resolve(unidentified) },
    timelines: { follow: () => null },
    askedSessions: { hasAny: () => false, begin: () => null },
    underWay: {
      begin: () => {
        begun++;
        underWay++;
        return { end: () => underWay-- };
      },
    },
    steadyInterval: 3,
    visits: { report: () => t.fail("it was not taken"), missed: () => missed++ },
    now: Date.now,
    onFailure: (error) => failures.push(error),
  });
  const meters = new RouteMeters(meteredRows(routes));
  const server = new HttpServer({
    routes,
    credentials,
    plans: defaultPlans,
    findProject: () => null,
    strictAbilities: false,
    onTokenUsed: () => {},
    controlPlaneFault: () => null,
    onTick: () => {},
    onFailure: (error) => failures.push(error),
    meterOf: (method, path) => meters.of(method, path),
    accessLog: null,
    certificate: null,
  });
  const listening = await server.listen("127.0.0.1", 0);
  t.teardown(() => listening.close());
  const open = async (): Promise<RawClient> => {
    const client = await RawClient.open(listening.port);
    t.teardown(() => client.leave());
    return client;
  };
  const body = JSON.stringify({ session_token: null, events: [] }).padEnd(1000);
  const whole = rawRequest("POST", "/v1/events", {}, body);

  await t.test("is answered by its headers alone, and the rest of it goes by", async (t) => {
    const client = await open();
    const half = whole.length - 500;
    for (let round = 0; round < 3; round++) {
      client.write(whole.slice(0, half));
      const answer = await client.answer();
      t.equal(answer?.status, 204);
      t.equal(answer?.headers.get("access-control-allow-origin"), "*");
      client.write(whole.slice(half));
    }
    client.write(rawRequest("OPTIONS", "/v1/events"));
    t.equal((await client.answer())?.headers.get("access-control-max-age"), "86400", "the connection is in step");
  });

  await t.test("may come in a pipeline", async (t) => {
    const client = await open();
    client.write(whole.repeat(5));
    for (let count = 0; count < 5; count++) t.equal((await client.answer())?.status, 204);
  });

  await t.test("in chunks is shed when it is whole", async (t) => {
    const client = await open();
    client.write(rawRequest("POST", "/v1/events", { "Transfer-Encoding": "chunked" }) + chunked([body, body]));
    t.equal((await client.answer())?.status, 204);
  });

  await t.test("is refused where its headers are wrong", async (t) => {
    const status = async (headers: Record<string, string>, text = body): Promise<number | undefined> => {
      const client = await open();
      client.write(rawRequest("POST", "/v1/events", headers, text));
      return (await client.answer())?.status;
    };
    t.equal(await status({ "X-Service-Site-Key": "pk_wrong" }), 401);
    t.equal(await status({ "Content-Length": String(body.length) }), 422, "two lengths");
    t.equal(await status({}, " ".repeat(limits.ingestBodyBytesMax + 1)), 422, "a body over the bound");
  });

  t.same(failures, []);
  t.ok(begun > 0);
  t.equal(underWay, 0, "no verdict waits for what was shed");
  t.ok(missed > 0, "no page is silent that such a report may have followed");
});
