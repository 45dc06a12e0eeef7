/** What is kept of a session's course, how little, of how many sessions, and that it goes with the session. */

import t, { type Test } from "tap";
import { Credentials } from "../../src/auth/credentials.js";
import type { IngestEvent } from "../../src/contract/events/events.js";
import { decodeSessionToken, encodeSessionToken, mintSessionToken } from "../../src/contract/sessions/session-token.js";
import type { Timeline } from "../../src/contract/sessions/timeline.js";
import { storedRecordMismatch } from "../../src/contract/validators.js";
import { eraseSession } from "../../src/control-plane/erasure/erase-session.js";
import { limits } from "../../src/limits.js";
import { withEvents } from "../../src/recording/timeline.js";
import { Timelines } from "../../src/recording/timelines.js";
import { sessionKey } from "../../src/store/keys.js";
import { openStore } from "../../src/store/open-store.js";
import type { Store } from "../../src/store/store.js";
import { event as batchEvent } from "../support/batches.js";
import { ownerOf } from "../support/owner.js";
import { askUntil, firstTenant, startServer } from "../support/server.js";

const nowMs = Date.parse("2026-11-21T12:00:00Z");

function event(type: IngestEvent["type"], payload: IngestEvent["payload"], agoMs = 0): IngestEvent {
  const received_at = new Date(nowMs - agoMs).toISOString();
  return { request_id: "12345678", type, received_at, payload } as IngestEvent;
}

t.test(
  "a timeline has kinds and times of events, paths of pages, and coarse points; nothing else of what was sent",
  async (t) => {
    const timeline = withEvents(
      null,
      [
        event("page", { path: "/a?token=secret", host: "shop.example", title_hash: "cafe" }, 4000),
        event(
          "mouse",
          {
            points: [
              [0, 101.4, 9],
              [20, 101.9, 9.1],
              [40, 180, 90],
            ],
            trusted: true,
          },
          3000,
        ),
        event("mouse", { points: [[0, 180, 90]] }, 2500),
        event("click", { x: -5, y: 1e9, target_tag: "button", button: 0 }, 2000),
        event("key", { strokes: [[0, 80]], count: 12, backspaces: 2 }, 1000),
        event("form", { field_count: 3, honeypot: true }),
      ],
      nowMs,
    );
    t.same(timeline, {
      startedAtMs: nowMs - 4000,
      noted: 6,
      points: [
        [100, 8, "move"],
        [180, 92, "move"],
        [0, limits.timelinePxMax, "click"],
      ],
      moments: [
        { at: 0, type: "page", count: 1, path: "/a" },
        { at: 10, type: "mouse", count: 2 },
        { at: 20, type: "click", count: 1 },
        { at: 30, type: "key", count: 1 },
        { at: 40, type: "form", count: 1 },
      ],
    });
    t.equal(storedRecordMismatch("timeline", timeline), null);
  },
);

t.test("a timeline does not grow with its session, and a clock that jumps does not stretch it", async (t) => {
  let timeline = withEvents(null, [event("page", { path: "/" })], nowMs);
  for (let batch = 1; batch <= 60; batch++) {
    const points = Array.from({ length: 256 }, (_, row): [number, number, number] => [
      row,
      (row * 37) % 1200,
      batch * 10,
    ]);
    const events = [event("mouse", { points }, 86_400_000), event("page", { path: `/${"x".repeat(500)}${batch}` })];
    timeline = withEvents(timeline, events, nowMs + batch * 1000);
  }
  t.equal(timeline.points.length, limits.timelinePointsMax);
  t.equal(timeline.moments.length, limits.timelineEntriesMax);
  t.equal(timeline.noted, 121);
  for (const { at, path = "" } of timeline.moments) {
    t.ok(at <= 600 && path.length <= limits.timelinePathMax);
  }
  t.equal(timeline.points.at(-1)?.[1], 600, "the latest are kept");
});

interface Bed {
  readonly store: Store;
  readonly siteKey: string;
  readonly projectId: number;
  /** The token of a stored session. */
  session(number: number): string;
  timelines(sessionsMax: number): Timelines;
}

async function bed(t: Test): Promise<Bed> {
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  const { siteKey, projectId } = await ownerOf(store);
  return {
    store,
    siteKey,
    projectId,
    session: (number) => {
      const bytes = mintSessionToken(nowMs + number * 1000, (into) => into.fill(number));
      store.sessions.putSync(sessionKey(projectId, bytes), Buffer.from("a record"));
      return encodeSessionToken(bytes);
    },
    timelines: (sessionsMax) =>
      new Timelines({ store, credentials: new Credentials(store), sessionsMax, now: () => nowMs }),
  };
}

const bodyOf = (token: string | null, more: object = {}): Buffer =>
  Buffer.from(JSON.stringify({ session_token: token, events: [event("heartbeat", {})], ...more }));

/** Sends a batch as ingest does; whether it was followed. */
function send(timelines: Timelines, siteKey: string, token: string, body = bodyOf(token), accepted = 1): boolean {
  const keep = timelines.follow(siteKey, body);
  keep?.({ session_token: token, accepted, duplicates: 0 });
  return keep !== null;
}

t.test("timelines are kept of the latest sessions, and go with the session", async (t) => {
  const { store, siteKey, projectId, session, timelines } = await bed(t);
  const keeper = timelines(3);
  const tokens = [1, 2, 3, 4, 5].map(session);
  for (const token of tokens) send(keeper, siteKey, token);
  send(keeper, siteKey, tokens[4]!);
  send(keeper, siteKey, tokens[4]!, bodyOf(tokens[4]!), 0);
  send(keeper, "", tokens[3]!, bodyOf(tokens[3]!, { site_key: siteKey }));
  send(keeper, "pk_of_nobody", tokens[3]!);
  t.equal(await keeper.read(projectId, tokens[4]!), null, "nothing before the flush");
  await keeper.flush();
  t.same(
    await Promise.all(tokens.map(async (token) => (await keeper.read(projectId, token))?.noted)),
    [undefined, undefined, 1, 2, 2],
    "the oldest went; a repeat and a wrong key record nothing",
  );
  send(keeper, siteKey, tokens[4]!);
  await eraseSession(store, tokens[4]!);
  await keeper.flush();
  t.equal(await keeper.read(projectId, tokens[4]!), null, "what comes late does not bring an erased session back");
  t.equal(await keeper.read(projectId, "sess_x"), null);
  t.equal(await keeper.read(projectId + 1, tokens[3]!), null, "another project's");

  const off = timelines(0);
  t.equal(send(off, siteKey, tokens[3]!), false);
  await off.flush();
  t.equal(store.trails.getKeysCount(), 0, "turned off, those of before are forgotten");
});

t.test("under load a share of the sessions is followed, each of them whole, and all again afterwards", async (t) => {
  const { siteKey, session, timelines } = await bed(t);
  const keeper = timelines(1000);
  t.equal(send(keeper, siteKey, session(1), Buffer.alloc(limits.timelineBodyBytesMax + 1)), false, "too large");
  const random = (seed: number): string => {
    const bytes = mintSessionToken(nowMs, (into) => {
      for (const index of into.keys()) into[index] = (seed * 2_654_435_761 + index * 40_503 * seed) >>> 13;
    });
    return encodeSessionToken(bytes);
  };
  const tokens = Array.from({ length: 400 }, (_, seed) => random(seed + 1));
  t.ok(tokens.every((token) => decodeSessionToken(token) !== null));
  const round = (): string[] => tokens.filter((token) => send(keeper, siteKey, token));
  t.equal(round().length, limits.timelineBatchesPerFlush);
  let followed: string[] = [];
  for (let seconds = 0; seconds < 12; seconds++) {
    await keeper.flush();
    followed = round();
  }
  t.ok(followed.length > 0 && followed.length <= limits.timelineBatchesPerFlush, `${followed.length} followed`);
  await keeper.flush();
  const again = round();
  t.ok(
    again.some((token) => followed.includes(token)),
    "the same sessions",
  );
  for (let seconds = 0; seconds < 14; seconds++) await keeper.flush();
  t.equal(send(keeper, siteKey, session(7)), true, "quiet again: whoever comes");
});

t.test("a batch's times are read as ingest reads them, however they are written", async (t) => {
  const server = await startServer(t);
  const { projectId, siteKey, token } = await firstTenant(server);
  const times = ["2026-11-21T12:00:00,5Z", "2026-11-21T12:00:00+01", "2026-11-21 12:00", "0001-01-01T00:00:00Z"];
  for (const [index, received_at] of times.entries()) {
    const events = [{ ...batchEvent(`times000-${index}`), received_at }];
    const sent = await server.ask("POST", "/v1/events", {
      headers: { "x-service-site-key": siteKey },
      body: { session_token: null, events },
    });
    t.equal(sent.status, 202, received_at);
    const path = `/v1/projects/${projectId}/sessions/${sent.json.session_token}/trail`;
    const timeline = await askUntil(
      () => server.ask("GET", path, { token }),
      ({ status, json }) => status !== 200 || json.noted > 0,
    );
    t.equal(timeline.status, 200);
    t.equal(timeline.json.moments[0].path, "/");
  }
  t.same((await server.command("check")).faults, [], "what is stored is sound");
});

t.test("a timeline with times that are no numbers, as earlier versions stored them, counts as none", async (t) => {
  const { store, siteKey, projectId, session, timelines } = await bed(t);
  const token = session(1);
  const key = sessionKey(projectId, decodeSessionToken(token)!);
  const damaged = {
    startedAtMs: Number.NaN,
    noted: 1,
    points: [],
    moments: [{ at: Number.NaN, type: "page", count: 1 }],
  };
  store.trails.putSync(key, damaged as Timeline);
  const keeper = timelines(3);
  t.equal(await keeper.read(projectId, token), null);
  send(keeper, siteKey, token);
  await keeper.flush();
  t.equal((await keeper.read(projectId, token))?.startedAtMs, nowMs, "the next batch begins it anew");
});
