/** `POST /v1/events` over real sockets, scoring threads and LMDB: the answer, its credentials, keys in the body, the quota. */
import t from "tap";
import { monthOf } from "../../src/store/keys.js";
import { batch, browserHeaders, event, events } from "../support/batches.js";
import { anotherTenant, firstTenant, startServer } from "../support/server.js";
import { storeUsage } from "../support/stored-session.js";
import { seenOnce } from "../support/test-store.js";
import { everyKeyOnce } from "./every-key.js";

t.test("ingest", async (t) => {
  const server = await startServer(t);
  const tenant = await firstTenant(server);
  const free = await anotherTenant(server, "free", { plan: "free" });
  const { store } = server;
  const key = { "x-service-site-key": tenant.siteKey, ...browserHeaders };
  const send = (body: unknown, headers: Record<string, string> = key) =>
    server.ask("POST", "/v1/events", { headers, body });

  await t.test("a first contact answers 202 with a minted token and exact counts, and never a score", async (t) => {
    const { status, json, headers } = await send(batch("first000", 3));
    t.equal(status, 202);
    t.match(json.session_token, /^sess_[A-Za-z0-9_-]{22,128}$/);
    t.same({ ...json, session_token: "" }, { session_token: "", accepted: 3, duplicates: 0 });
    t.match(headers.get("content-type"), /^application\/json/);
    t.equal(headers.get("retry-after"), null);
  });

  await t.test("the returned token is used again and keeps the session", async (t) => {
    const first = await send(batch("again000"));
    const second = await send(batch("again001", 2, first.json.session_token));
    t.same(second.json, { session_token: first.json.session_token, accepted: 2, duplicates: 0 });
  });

  await t.test("a token that is malformed, unknown or of another project gets a new one", async (t) => {
    const foreign = await server.ask("POST", "/v1/events", {
      headers: { "x-service-site-key": free.siteKey },
      body: batch("foreign0"),
    });
    const odd = ["", "x", "sess_", `sess_${"a".repeat(129)}`, `sess_${"A".repeat(28)}`, "sess_é", "\u0000"];
    for (const [index, token] of [...odd, foreign.json.session_token].entries()) {
      const { status, json } = await send(batch(`odd${index}0000`, 1, token));
      t.equal(status, 202, JSON.stringify(token));
      t.not(json.session_token, token);
      t.equal(json.accepted, 1);
    }
  });

  await t.test("tokens are unique strings", async (t) => {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => send(batch(`uniq${index}-00`))));
    t.equal(new Set(answers.map(({ json }) => json.session_token)).size, 20);
  });

  await t.test(
    "a start ticket is evidence: batches with one, used or not, and without one are taken alike",
    async (t) => {
      const asked = await server.ask("POST", "/v1/start-tickets", { headers: key });
      t.equal(asked.status, 200);
      t.equal(asked.headers.get("access-control-allow-origin"), "*");
      t.equal(asked.headers.get("cache-control"), "no-store");
      const { start_ticket } = asked.json;
      const firedOf = async (prefix: string, payload: object): Promise<number[]> => {
        const { status, json } = await send({ session_token: null, events: [event(`${prefix}-1`, { ...payload })] });
        t.equal(status, 202);
        const path = `/v1/projects/${tenant.projectId}/sessions/${json.session_token}`;
        const { json: session } = await server.ask("GET", path, { token: tenant.token });
        return session.detections.map(({ id }: { id: number }) => id);
      };
      const late = { any_pointer: ["fine", "hover"] };
      t.same(await firedOf("ticket01", { ...late, start_ticket }), []);
      let uses = 0;
      const again = await seenOnce(
        () => firedOf(`ticket02${uses++}`, { ...late, start_ticket }),
        (fired) => fired.length > 0,
      );
      t.same(again, [100408], "used before");
      t.same(await firedOf("ticket03", { ...late, start_ticket: "A".repeat(38) }), [100408], "made up");
      t.same(await firedOf("ticket04", late), [100410], "none, though the second file has reported");
      t.same(await firedOf("ticket05", {}), [], "an SDK without the second file");
      const refused = await server.ask("POST", "/v1/start-tickets", { headers: { "x-service-site-key": "pk_wrong" } });
      t.match([refused.status, refused.json.code], [401, "UNAUTHENTICATED"]);
    },
  );

  await t.test("a repeat inside one batch counts once", async (t) => {
    const [one] = events("inside00", 1);
    const { json } = await send({ session_token: null, events: [one, one, ...events("inside01", 1), one] });
    t.same([json.accepted, json.duplicates], [2, 2]);
  });

  await t.test("a repeat across batches is a duplicate, even with another payload", async (t) => {
    const first = await send(batch("across00", 2));
    const again = await send({
      session_token: first.json.session_token,
      events: [...events("across00", 2).map((each) => ({ ...each, payload: { path: "/other" } })), event("across01-x")],
    });
    t.same([again.json.accepted, again.json.duplicates], [1, 2]);
  });

  await t.test("request ids are remembered per session only", async (t) => {
    await send(batch("shared00"));
    const other = await send(batch("shared00"));
    t.same([other.json.accepted, other.json.duplicates], [1, 0]);
  });

  await t.test("100 events are accepted, 0 and 101 are refused", async (t) => {
    t.equal((await send(batch("hundred0", 100))).json.accepted, 100);
    t.equal((await send(batch("hundred1", 101))).status, 422);
    t.equal((await send(batch("hundred2", 0))).status, 422);
  });

  await t.test("every event type is accepted, with any whitelisted payload key", async (t) => {
    const types = "page visibility focus heartbeat mouse click touch scroll key form env timing".split(" ");
    const all = types.map((type, index) => ({ ...event(`types000-${index}`), type, payload: everyKeyOnce() }));
    const { status, text } = await send({ session_token: null, events: all });
    t.equal(status, 202, text);
  });

  await t.test("the payload keys of the first version are accepted with the values they had then", async (t) => {
    const { status, text } = await send({
      session_token: null,
      events: [{ ...event("oldkeys0"), payload: firstKeys }],
    });
    t.equal(status, 202, text);
  });

  await t.test("unknown keys beside the batch's own are ignored", async (t) => {
    const { status } = await send({ ...batch("ignored0"), sdk_version: "1", score: 99 });
    t.equal(status, 202);
  });

  await t.test("a site key in the body is as good as the header", async (t) => {
    const { status, json } = await send({ ...batch("inbody00"), site_key: tenant.siteKey }, {});
    t.equal(status, 202);
    t.equal(json.accepted, 1);
  });

  await t.test("a text/plain beacon with the site key in its body is as good as JSON", async (t) => {
    const body = JSON.stringify({ ...batch("beacon00", 2), site_key: tenant.siteKey });
    const { status, json } = await send(body, { "content-type": "text/plain;charset=UTF-8" });
    t.equal(status, 202);
    t.equal(json.accepted, 2);
  });

  await t.test("the site key of the header is preferred to that of the body", async (t) => {
    const good = await send({ ...batch("prefer00"), site_key: "pk_wrong" });
    t.equal(good.status, 202, "a good header wins");
    const bad = await send({ ...batch("prefer01"), site_key: tenant.siteKey }, { "x-service-site-key": "pk_wrong" });
    t.equal(bad.status, 401, "a bad header wins");
    const other = await send({ ...batch("prefer02"), site_key: free.siteKey });
    const verdict = await server.ask("GET", `/v1/sessions/${other.json.session_token}/verdict`, {
      token: tenant.privateKey,
    });
    t.not(verdict.json.verdict, "not_computed", "the session is the header's project's");
  });

  await t.test("a missing or bad site key answers 401 UNAUTHENTICATED, whatever the body", async (t) => {
    const odd: Record<string, string>[] = [
      {},
      { "x-service-site-key": "" },
      { "x-service-site-key": "pk_" },
      { "x-service-site-key": `pk_${"a".repeat(43)}` },
      { "x-service-site-key": "a".repeat(2000) },
      { "x-service-site-key": tenant.privateKey },
      { "x-service-site-key": tenant.token },
      { authorization: `Bearer ${tenant.siteKey}` },
    ];
    for (const headers of odd) {
      const { status, json } = await send("not even JSON", headers);
      t.same([status, json.code], [401, "UNAUTHENTICATED"], JSON.stringify(headers).slice(0, 60));
    }
    t.equal((await send({ ...batch("nokey000"), site_key: 7 }, {})).status, 401);
  });

  await t.test("an Idempotency-Key has 1 to 255 characters, wherever the site key stands", async (t) => {
    const inBody = { ...batch("idemp000"), site_key: tenant.siteKey };
    for (const [length, status] of [
      [1, 202],
      [255, 202],
      [0, 422],
      [256, 422],
    ] as const) {
      const idempotency = { "idempotency-key": "k".repeat(length) };
      t.equal((await send(batch(`idemp${length}00`), { ...key, ...idempotency })).status, status, `${length}, header`);
      t.equal((await send(inBody, idempotency)).status, status, `${length}, body`);
      const beacon = { ...inBody, idempotency_key: "k".repeat(length) };
      t.equal((await send(beacon, {})).status, status, `${length}, both in the body`);
    }
    const { status, json } = await send({ ...inBody, idempotency_key: 7 }, {});
    t.match([status, json.message], [422, /idempotency_key/]);
  });

  await t.test(
    "the batch that takes the account above its quota is accepted with over_quota, and those after it",
    async (t) => {
      const ask = (prefix: string, count: number) =>
        server.ask("POST", "/v1/events", {
          headers: { "x-service-site-key": free.siteKey },
          body: batch(prefix, count),
        });
      await storeUsage(store, free.accountId, Date.now() - 40 * 86_400_000, 10_000_000);
      await storeUsage(store, free.accountId, Date.now(), 99_997);
      const below = await ask("quota000", 3);
      t.equal(below.json.over_quota, undefined, "exactly the quota is not above it, and other months do not count");
      // On a cluster every thread counts what it knew a second ago.
      let tries = 0;
      const above = await seenOnce(
        () => ask(`quota001${tries++}`, 2),
        ({ json }) => json.over_quota === true,
      );
      t.equal(above.status, 202);
      t.match(above.json, { accepted: 2, duplicates: 0, over_quota: true });
      const next = await seenOnce(
        () => ask(`quota002${tries++}`, 2),
        ({ json }) => json.over_quota === true,
      );
      t.equal(next.json.over_quota, true);
      const read = await server.ask("GET", `/v1/sessions/${above.json.session_token}/verdict`, {
        token: free.privateKey,
      });
      t.not(read.json.verdict, "not_computed", "what is over quota is scored all the same");
      t.equal((await send(batch("quota003"))).json.over_quota, undefined, "an unlimited plan has no flag");
      const metered = 100_000 + 2 * tries;
      const events = await seenOnce(
        () => store.counts.eventsInMonth(free.accountId, monthOf(Date.now())),
        (count) => count >= metered,
      );
      t.equal(events, metered, "accepted events are metered");
    },
  );

  await t.test("hundreds of requests in a burst are never answered 429 and carry no Retry-After", async (t) => {
    const statuses = new Set<number>();
    for (let round = 0; round < 4; round++) {
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, index) => send(batch(`burst${round}-${index}-0`))),
      );
      for (const { status, headers } of answers) {
        statuses.add(status);
        if (headers.get("retry-after") !== null) t.fail("a Retry-After");
      }
    }
    t.same([...statuses], [202]);
  });
});

t.test("a batch that scoring can't take any more is shed without an error", async (t) => {
  const server = await startServer(t, ["--queue-mb", "1", "--sample-above-mb", "1"]);
  const tenant = await firstTenant(server);
  const key = { "x-service-site-key": tenant.siteKey };
  const fat = events("shed0000", 90).map((each) => ({
    ...each,
    payload: { user_agent: "u".repeat(500), path: "/".repeat(500) },
  }));
  const answers = await Promise.all(
    Array.from({ length: 60 }, () =>
      server.ask("POST", "/v1/events", { headers: key, body: { session_token: null, events: fat } }),
    ),
  );
  const statuses = answers.map(({ status }) => status);
  t.strictSame(
    [...new Set(statuses)].filter((status) => status !== 202 && status !== 204),
    [],
  );
  t.ok(statuses.includes(202), "some are taken");
  t.ok(statuses.includes(204), "some are shed");
});

/** Every key that clients may send from the first version on, with a value as they send it. Written out: what is deployed does not change with the contract. */
const firstKeys = {
  path: "/p",
  host: "h.example",
  referrer_host: "r.example",
  title_hash: "abc",
  state: "visible",
  visible_ms: 1,
  active_ms: 1,
  idle_ms: 1,
  nav_type: "navigate",
  x: 1,
  y: 2,
  dx: 1,
  dy: 1,
  t: 5,
  dt: 5,
  button: 0,
  buttons: 1,
  pressure: 0.5,
  radius: 1,
  pointer_type: "mouse",
  trusted: true,
  dwell: 80,
  coalesced: 1.5,
  target_tag: "a",
  depth: 0.5,
  direction: "down",
  points: [
    [0, 1, 2],
    [16, 3, 5],
  ],
  flight: 90,
  strokes: [
    [0, 80],
    [120, 70],
  ],
  count: 2,
  backspaces: 0,
  pastes: 0,
  field_count: 2,
  fill_ms: 900,
  autofill: false,
  honeypot: false,
  submit: true,
  webdriver: false,
  driver_artifacts: [],
  user_agent: "Mozilla/5.0",
  ua_brands: ["Chromium/140"],
  ua_mobile: false,
  platform: "Linux",
  languages: ["en"],
  timezone: "Europe/Berlin",
  tz_offset: -60,
  cpu: 8,
  memory: 8,
  touch_points: 0,
  plugins: 5,
  mime_types: 2,
  screen_w: 1920,
  screen_h: 1080,
  avail_w: 1920,
  avail_h: 1050,
  inner_w: 1200,
  inner_h: 900,
  outer_w: 1210,
  outer_h: 990,
  dpr: 1,
  color_depth: 24,
  any_pointer: ["fine", "hover"],
  ua_platform: "Linux",
  ua_architecture: "x86",
  ua_bitness: "64",
  ua_full_version: "156.0.8078.79",
  system_fonts: ["linux"],
  start_ticket: "t",
  webgl_vendor: "v",
  webgl_renderer: "r",
  chrome_object: true,
  permissions_mismatch: false,
  notification_permission: "default",
  native_tampered: [],
  iframe_mismatch: [],
  worker_mismatch: [],
  eval_length: 33,
  stack_probe: false,
  rtt: 50,
  ttfb: 30,
  dcl: 200,
  load: 400,
  raf_mean: 16.6,
  raf_sd: 1,
};
