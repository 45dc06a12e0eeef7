/** The whole way from judged requests to a receiver, on a clock of the test's own: incidents stored, alerts fired, deliveries sent and repeated. */
import { createHmac } from "node:crypto";
import t, { type Test } from "tap";
import { type PastMatches, testAlert } from "../../src/alerting/alert-test.js";
import { AlertingNode } from "../../src/alerting/alerting-node.js";
import { deliveriesOf } from "../../src/alerting/alerting-rows.js";
import { Alerts } from "../../src/alerting/alerts.js";
import { Channels } from "../../src/alerting/channels.js";
import { IncidentLog } from "../../src/alerting/incident-log.js";
import type { ThreadReport } from "../../src/alerting/node-report.js";
import { AlertSender } from "../../src/alerting/sender.js";
import type { Delivery } from "../../src/contract/incidents/alerts.js";
import type { IncidentAnswer } from "../../src/contract/incidents/incidents.js";
import { minuteMs } from "../../src/contract/values/durations.js";
import { Accounts } from "../../src/control-plane/accounts/accounts.js";
import { Projects } from "../../src/control-plane/accounts/projects.js";
import { openStore } from "../../src/store/open-store.js";
import { good } from "../http/service.js";
import { programRequest } from "../incidents/synthetic-traffic.js";
import { waitUntil } from "../support/wait-until.js";
import { startReceiver } from "./receiver.js";

/** Three seconds after noon: at each later minute, the one before is over for good. */
const startMs = Date.UTC(2026, 10, 2, 12) + 3000;

/** A node on a store of its own with one project. */
async function startNode(t: Test) {
  const store = openStore(t.testdir());
  let nowMs = startMs;
  const now = (): number => nowMs;
  const accounts = new Accounts(store, now);
  const account = good(
    await accounts.createAccount({ name: "a", slug: "a", plan: "pro", isPersonal: false, subscription: "active" }),
  );
  const project = good(await new Projects(store, now).create(account.id, "Shop"));
  const alerts = new Alerts(store, now);
  const incidents = new IncidentLog(store, now);
  const settled: Delivery[] = [];
  const faults: unknown[] = [];
  const happened: string[] = [];
  const parts = { store, now, arePrivateAllowed: true, onFailure: (error: unknown) => faults.push(error) };
  const newSender = () => new AlertSender({ ...parts, onSettled: (delivery) => settled.push(delivery) });
  const sender = newSender();
  const nothing: ThreadReport = { requests: [], matches: [] };
  const newNode = () =>
    new AlertingNode({
      store,
      incidents: new IncidentLog(store, now),
      alerts,
      sender,
      now,
      observer: {
        onIncident: (what) => happened.push(what),
        onAlert: ({ name }) => happened.push(`alert ${name}`),
        onDelivery: () => {},
      },
      onFailure: (error) => faults.push(error),
      linkOf: (id, counted) =>
        `https://bots.example.com/console#/overview?${new URLSearchParams({ project: String(id), ...counted })}`,
      ownReport: () => nothing,
    });
  let node = newNode();
  t.teardown(async () => {
    await node.close();
    await waitUntil(
      async () => sender.isIdle,
      (isIdle) => isIdle,
    );
    await store.close();
    if (faults.length > 0) throw faults[0];
  });
  return {
    store,
    project,
    alerts,
    incidents,
    channels: new Channels(store, now, true),
    sender,
    newSender,
    settled,
    faults,
    happened,
    /** Lets minutes pass, each with this report. */
    minutes: async (count: number, report: (atMs: number) => ThreadReport = () => nothing): Promise<void> => {
      for (let minute = 0; minute < count; minute++) {
        node.take(report(nowMs));
        nowMs += minuteMs;
        await node.tick();
        await sender.look();
      }
    },
    /** Waits until no delivery is under way. */
    idle: () =>
      waitUntil(
        async () => sender.isIdle,
        (isIdle) => isIdle,
      ),
    pass: (ms: number): void => {
      nowMs += ms;
    },
    restart: async (): Promise<void> => {
      await node.close();
      node = newNode();
    },
  };
}

const attack =
  (projectId: number, count: number) =>
  (atMs: number): ThreadReport => ({
    requests: Array.from({ length: count }, () => programRequest(atMs, { projectId })),
    matches: [],
  });

t.test(
  "an incident is stored, told to a webhook and to Slack with a signature, goes on after a restart, and ends",
  async (t) => {
    const node = await startNode(t);
    const { project, alerts, channels, incidents } = node;
    const hook = await startReceiver(t);
    const slack = await startReceiver(t);
    const channel = good(await channels.create(project, { kind: "webhook", url: hook.url }));
    const slackChannel = good(await channels.create(project, { kind: "slack", url: slack.url }));
    good(
      await alerts.create(project, {
        name: "Attack",
        when: { incident: true },
        channel_ids: [channel.id, slackChannel.id],
      }),
    );
    await node.minutes(2, attack(project.id, 120));
    await Promise.all([hook.until(1), slack.until(1)]);
    const { headers, body } = hook.received[0]!;
    const told = JSON.parse(body);
    const timestamp = String(headers["x-verdictd-timestamp"]);
    const signature = createHmac("sha256", channel.secret).update(`${timestamp}.${body}`).digest("hex");
    t.equal(headers["x-verdictd-signature"], `v1=${signature}`);
    t.match(told, {
      type: "alert",
      alert: { name: "Attack" },
      project: { id: project.id, name: "Shop" },
      incident: { state: "open", what: { path: "/login" }, count: 240, rule_would: { newly_blocked: 240 } } satisfies
        | Partial<IncidentAnswer>
        | object,
      link: /console/,
    });
    t.equal(told.expression, told.incident.expression);
    t.match(JSON.parse(slack.received[0]!.body), { text: /Attack \(Shop\)/ });
    t.equal(slack.received[0]!.headers["x-verdictd-signature"], undefined);
    await node.restart();
    await node.minutes(2, attack(project.id, 120));
    const page = good(incidents.page(project.id, false, 50, null));
    t.equal(page.rows.length, 1, "the same incident goes on");
    t.match(page.rows[0], { count: 480, endedAt: null, peakPerMinute: 120 });
    await node.minutes(16);
    t.match(good(incidents.page(project.id, true, 50, null)).rows, []);
    t.same(node.happened, ["began", "alert Attack", "ended"]);
    t.equal(hook.received.length, 1);
  },
);

t.test("a channel to a name that leads to this machine is not stored", async (t) => {
  const { store, project } = await startNode(t);
  const channels = new Channels(store, Date.now, false);
  const made = await channels.create(project, { kind: "webhook", url: "https://localhost/x" });
  t.match(made, { message: /^the URL is at a private or loopback address/ });
  const allowing = new Channels(store, Date.now, true);
  const unknown = await allowing.create(project, { kind: "webhook", url: "http://no-such-host.invalid/x" });
  t.match(
    unknown,
    { message: /^the URL's host could not be resolved: .*must begin with https/ },
    "http may be for a public address",
  );
  t.same(channels.list(project.id), []);
});

t.test("a muted incident, and a new one of the same values, alert nobody", async (t) => {
  const node = await startNode(t);
  const { project, alerts, channels, incidents } = node;
  const hook = await startReceiver(t);
  const channel = good(await channels.create(project, { kind: "webhook", url: hook.url }));
  await node.minutes(2, attack(project.id, 120));
  const [first] = good(incidents.page(project.id, true, 50, null)).rows;
  good(await incidents.mute(project, first!.id, 48));
  good(await alerts.create(project, { name: "Attack", when: { incident: true }, channel_ids: [channel.id] }));
  await node.minutes(100);
  await node.minutes(2, attack(project.id, 220));
  const rows = good(incidents.page(project.id, false, 50, null)).rows;
  t.equal(rows.length, 2);
  t.same(rows[0]!.mutedUntil, rows[1]!.mutedUntil);
  t.same(node.happened, ["began", "ended", "began"]);
});

t.test("an alert with a count fires at the end of the minute, and once in ten minutes", async (t) => {
  const node = await startNode(t);
  const { project, alerts, channels } = node;
  const hook = await startReceiver(t);
  const channel = good(await channels.create(project, { kind: "webhook", url: hook.url }));
  const when = { expression: 'path == "/login"', count: 10, minutes: 3 };
  const alert = good(await alerts.create(project, { name: "Logins", when, channel_ids: [channel.id] }));
  const matches = (count: number) => (): ThreadReport => ({
    requests: [],
    matches: [{ projectId: project.id, alertId: alert.id, count }],
  });
  await node.minutes(2, matches(4));
  t.same(node.happened, []);
  await node.minutes(1, matches(4));
  await hook.until(1);
  const told = JSON.parse(hook.received[0]!.body);
  t.match(told, { count: 12, expression: when.expression });
  const link = Object.fromEntries(new URLSearchParams(told.link.split("?")[1]));
  t.match(link, { q: when.expression, of: "requests", to: told.at }, "leads to what was counted");
  t.ok(Date.parse(link["to"]!) - Date.parse(link["from"]!) >= 3 * minuteMs);
  await node.minutes(9, matches(4));
  t.equal(node.happened.length, 1);
  await node.minutes(1, matches(4));
  t.equal(node.happened.length, 2);
  await node.minutes(20, matches(3));
  t.equal(node.happened.length, 2);
});

t.test(
  "a failed delivery is tried again 10 s, 1, 10 and 60 min later, then it has failed; one sender of two has it",
  async (t) => {
    const node = await startNode(t);
    const { project, alerts, channels, store } = node;
    const hook = await startReceiver(t, (reply) => reply.writeHead(500).end());
    const channel = good(await channels.create(project, { kind: "webhook", url: hook.url }));
    const alert = good(
      await alerts.create(project, { name: "A", when: { incident: true }, channel_ids: [channel.id] }),
    );
    t.equal(await alerts.fire(alert, () => "{}"), true);
    t.equal(await alerts.fire(alert, () => "{}"), false, "once in ten minutes");
    const senders = [node.sender, node.newSender()];
    const look = () => Promise.all(senders.map((sender) => sender.look()));
    for (const [tries, waitMs] of [0, 10_000, 60_000, 600_000, 3_600_000].entries()) {
      if (waitMs > 0) {
        node.pass(waitMs - 1);
        await look();
        t.equal(deliveriesOf(store, project.id, channel.id)[0]!.attempts, tries);
        node.pass(1);
      }
      await look();
      await waitUntil(
        async () => deliveriesOf(store, project.id, channel.id)[0]!,
        ({ attempts, claimedMs }) => attempts === tries + 1 && claimedMs === 0,
      );
    }
    t.match(deliveriesOf(store, project.id, channel.id), [{ state: "failed", attempts: 5, status: 500 }]);
    t.equal(hook.received.length, 5);
    await Promise.all(senders.map((sender) => sender.drain()));
    t.equal(node.settled.length, 1);
  },
);

t.test("a sender that died leaves a delivery to the next, and a clock that went back does not hold it", async (t) => {
  const node = await startNode(t);
  const { project, alerts, channels, store } = node;
  const hook = await startReceiver(t);
  const channel = good(await channels.create(project, { kind: "webhook", url: hook.url }));
  const alert = good(await alerts.create(project, { name: "A", when: { incident: true }, channel_ids: [channel.id] }));
  await alerts.fire(alert, () => "{}");
  const [delivery] = deliveriesOf(store, project.id, channel.id);
  store.alerting.putSync([project.id, 4, channel.id, delivery!.id], { ...delivery!, claimedMs: startMs + 30_000 });
  await node.sender.look();
  t.equal(hook.received.length, 0);
  node.pass(30_000);
  await node.sender.look();
  await hook.until(1);
  await node.idle();
});

t.test("a disk that is full delays an incident and its alert, and loses neither", async (t) => {
  const node = await startNode(t);
  const { project, alerts, channels, store, incidents } = node;
  const hook = await startReceiver(t);
  const channel = good(await channels.create(project, { kind: "webhook", url: hook.url }));
  good(await alerts.create(project, { name: "Attack", when: { incident: true }, channel_ids: [channel.id] }));
  const full = Object.assign(Object.create(store.root) as typeof store.root, {
    childTransaction: () => Promise.reject(new Error("ENOSPC: no space left on device")),
  });
  const { root } = store;
  Object.assign(store, { root: full });
  await node.minutes(3, attack(project.id, 120));
  Object.assign(store, { root });
  t.same(node.happened, []);
  t.ok(node.faults.length > 0, "the log says why");
  node.faults.length = 0;
  await node.minutes(1, attack(project.id, 120));
  t.same(node.happened, ["began", "alert Attack"]);
  t.match(good(incidents.page(project.id, true, 50, null)).rows, [{ count: 480 }]);
  await hook.until(1);
});

t.test("a draft's past is told of up to a hundred times, the earliest ones, and whether there were more", async (t) => {
  const told = (count: number) => {
    const pastMatches: PastMatches = async (_project, _when, _range, onMatch) => {
      for (let each = 0; each < count; each++) onMatch(startMs + each * 10 * minuteMs, 1);
      return { evaluated: count };
    };
    const range = { fromMs: startMs, untilMs: startMs + 1000 * 10 * minuteMs };
    const when = { expression: "score < 30", count: 1, minutes: 1 };
    return testAlert({ store: null as never, pastMatches }, null as never, when, range, null as never);
  };
  const all = await told(100);
  t.match(all, { isCut: false, evaluated: 100 });
  t.equal(all!.timesMs.length, 100);
  t.same(await told(101), { ...all, isCut: true, evaluated: 101 });
});
