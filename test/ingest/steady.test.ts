/** How often the SDK is let send: once a verdict stands batches may be rarer, until something happens that may change it. */
import t from "tap";
import type { EventType } from "../../src/contract/events/events.js";
import { F, newFeatures } from "../../src/engines/session-features.js";
import { standingOf } from "../../src/ingest/steady.js";
import { wobblyPath } from "../engines/sessions.js";
import { batch, browserHeaders, event } from "../support/batches.js";
import { firstTenant, startServer } from "../support/server.js";

t.test("the answer to a batch says how often the SDK is to send", async (t) => {
  const server = await startServer(t, ["--steady-interval", "5"]);
  const tenant = await firstTenant(server);
  const headers = { "x-service-site-key": tenant.siteKey, ...browserHeaders };
  let ids = 0;
  const id = () => `steady-${String(++ids).padStart(6, "0")}`;
  let token: string | null = null;
  const send = async (...events: object[]): Promise<string | null> => {
    const {
      status,
      json,
      headers: answered,
    } = await server.ask("POST", "/v1/events", { headers, body: { session_token: token, events } });
    t.equal(status, 202);
    t.equal(answered.get("access-control-expose-headers"), "X-Verdict-Interval, X-Verdict-Packing");
    t.equal(answered.get("x-verdict-packing"), "2");
    token = json.session_token as string;
    return answered.get("x-verdict-interval");
  };
  let at = 0;
  const moves = () => {
    at += 15_000;
    const points = wobblyPath(250, at);
    return { ...event(id(), { t: at, points, count: 250, pointer_type: "mouse", trusted: true }), type: "mouse" };
  };
  const environment = { webdriver: false, user_agent: browserHeaders["user-agent"], languages: ["en-GB"], cpu: 8 };
  t.equal(await send(event(id()), { ...event(id(), environment), type: "env" }), "1", "nothing is known yet");
  const told: (string | null)[] = [];
  for (let count = 0; count < 12; count++) told.push(await send(moves()));
  t.match(told.join(), /^1,1,1,(1,)*2,(2,)+5(,5)*$/, "twice where it is likely to stand, then as the operator says");

  t.equal(await send({ ...event(id(), { path: "/checkout" }), type: "page" }, moves()), "1", "another page");
  t.equal(await send(moves()), "5");
  t.equal(await send({ ...event(id(), { count: 1 }), type: "key" }), "5", "keys: the first into a form come at once");
  t.equal(await send({ ...event(id(), { field_count: 1, submit: true }), type: "form" }), "1", "a form that was sent");
  t.equal(await send(moves()), "5");
  t.equal(
    await send({ ...event(id(), { stack_probe: true }), type: "env" }),
    "1",
    "a debugger's client that comes late",
  );
  t.equal(await send(moves()), "1", "which the verdict knows now");

  const refused = await server.ask("POST", "/v1/events", {
    headers: { ...headers, "x-service-site-key": "pk_none" },
    body: batch("none0000"),
  });
  t.equal(refused.headers.get("x-verdict-interval"), null, "a refusal says nothing of it");
});

t.test("keys keep the pace until the verdict is firm; a sign of an agent always does", async (t) => {
  const features = newFeatures();
  features.numbers[F.batches] = 8;
  const told = (score: number, type: EventType, detectionIds: number[] = []) =>
    standingOf({ score, detectionIds }, features, [{ request_id: "one", type, received_at: "", payload: {} }]);
  t.same(
    [79, 80, 94, 95].map((score) => told(score, "mouse")),
    [undefined, "likely", "likely", "firm"],
  );
  t.same(
    [94, 95].map((score) => told(score, "key")),
    [undefined, "firm"],
  );
  t.equal(told(99, "mouse", [300_601]), undefined);
  t.equal(told(99, "mouse", [300_599, 300_700]), "firm");
  features.numbers[F.batches] = 7;
  t.equal(told(99, "mouse"), "likely");
  features.numbers[F.batches] = 4;
  t.equal(told(99, "mouse"), undefined);
});
