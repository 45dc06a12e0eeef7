/** Nodes of a cluster: an attack that is spread over them is one incident, of which one node tells, and another one goes on. */
import { join } from "node:path";
import t from "tap";
import { AlertingNode } from "../../src/alerting/alerting-node.js";
import { deliveriesOf } from "../../src/alerting/alerting-rows.js";
import { Alerts } from "../../src/alerting/alerts.js";
import { Channels } from "../../src/alerting/channels.js";
import { IncidentLog } from "../../src/alerting/incident-log.js";
import { NodeReport, packReport, type ThreadReport, unpackReport } from "../../src/alerting/node-report.js";
import { AlertSender } from "../../src/alerting/sender.js";
import { minuteMs } from "../../src/contract/values/durations.js";
import { Accounts } from "../../src/control-plane/accounts/accounts.js";
import { Projects } from "../../src/control-plane/accounts/projects.js";
import { limits } from "../../src/limits.js";
import { openStore } from "../../src/store/open-store.js";
import type { Store } from "../../src/store/store.js";
import { good } from "../http/service.js";
import { programRequest } from "../incidents/synthetic-traffic.js";
import { waitUntil } from "../support/wait-until.js";
import { startReceiver } from "./receiver.js";

t.test(
  "two nodes see one attack, one of them stores and tells it, the other goes on when that one stops, and one that joins goes on, too",
  async (t) => {
    const folders = t.testdir({ shared: {}, one: {}, two: {}, three: {} });
    const shared = openStore(join(folders, "shared"));
    // Six seconds after a minute: it is over for good.
    let nowMs = Date.UTC(2026, 10, 2, 12) + 6000;
    const now = (): number => nowMs;
    const reports = new Map<number, Map<string, Buffer>>();
    let told = 0;
    const lease = { holder: "", untilMs: 0 };
    // Each node keeps the hours behind its baselines itself.
    const own = new Map<string, Store>();
    const viewOf = (name: string): Store => ({
      ...shared,
      baselines: own.get(name)!.baselines,
      nodeReports: {
        put: async (minute, report) => {
          const of = reports.get(minute) ?? new Map<string, Buffer>();
          reports.set(minute, of.set(name, report));
          told++;
        },
        others: async (minute) => new Map([...(reports.get(minute) ?? [])].filter(([node]) => node !== name)),
      },
      leases: {
        take: async (_name, ms) => {
          if (lease.holder !== name && lease.untilMs > nowMs) return false;
          Object.assign(lease, { holder: name, untilMs: nowMs + ms });
          return true;
        },
      },
    });
    const accounts = new Accounts(shared, now);
    const account = good(
      await accounts.createAccount({ name: "a", slug: "a", plan: "pro", isPersonal: false, subscription: "active" }),
    );
    const project = good(await new Projects(shared, now).create(account.id, "Shop"));
    const happened: string[] = [];
    const faults: unknown[] = [];
    const onFailure = (error: unknown): void => {
      faults.push(error);
    };
    const newNode = (name: string) => {
      own.set(name, openStore(join(folders, name)));
      const store = viewOf(name);
      const alerts = new Alerts(store, now);
      const sender = new AlertSender({ store, now, arePrivateAllowed: true, onFailure, onSettled: () => {} });
      const node = new AlertingNode({
        store,
        incidents: new IncidentLog(store, now),
        alerts,
        sender,
        now,
        observer: {
          onIncident: (what) => happened.push(`${name}: ${what}`),
          onAlert: (alert) => happened.push(`${name}: alert ${alert.name}`),
          onDelivery: () => {},
        },
        onFailure,
        linkOf: () => "https://bots.example.com/console",
        ownReport: () => ({ requests: [], matches: [] }),
      });
      return { node, sender, alerts };
    };
    const [one, two] = [newNode("one"), newNode("two")];
    let running = [one, two];
    t.teardown(async () => {
      for (const { node, sender } of running) {
        await node.close();
        await sender.drain();
      }
      for (const store of [shared, ...own.values()]) await store.close();
    });
    const hook = await startReceiver(t);
    const channel = good(await new Channels(shared, now, true).create(project, { kind: "webhook", url: hook.url }));
    const create = (name: string, when: object) =>
      one.alerts.create(project, { name, when: when as { incident: true }, channel_ids: [channel.id] });
    good(await create("Attack", { incident: true }));
    const logins = good(await create("Logins", { expression: 'path == "/login"', count: 90, minutes: 2 }));

    /** A minute with so many requests to each node. */
    const minute = async (count: number): Promise<void> => {
      const requests = Array.from({ length: count }, () => programRequest(nowMs, { projectId: project.id }));
      const matches = count === 0 ? [] : [{ projectId: project.id, alertId: logins.id, count }];
      for (const { node } of running) node.take({ requests, matches });
      const before = told;
      nowMs += minuteMs - 3000;
      await Promise.all(running.map(({ node }) => node.tick()));
      await waitUntil(
        async () => told - before,
        (reported) => count === 0 || reported === running.length,
      );
      nowMs += 3000;
      await Promise.all(running.map(({ node }) => node.tick()));
      await Promise.all(running.map(({ sender }) => sender.look()));
    };
    nowMs += 0;
    for (let index = 0; index < 3; index++) await minute(25);
    t.same(
      happened.filter((what) => !what.includes("Logins")),
      [],
      "150 of both",
    );
    await minute(25);
    t.same(
      happened.filter((what) => what.includes("alert")).map((what) => what.slice(5)),
      ["alert Logins", "alert Attack"],
      "each node alone saw 50 in two minutes, and 100 in four",
    );
    const incidents = () => {
      // Reads share a snapshot for a moment.
      shared.root.resetReadTxn();
      return good(new IncidentLog(shared, now).page(project.id, false, 50, null)).rows;
    };
    t.match(incidents(), [{ count: 200, endedAt: null, what: { path: "/login" } }]);
    t.equal(incidents().length, 1);
    await hook.until(2);
    shared.root.resetReadTxn();
    t.equal(deliveriesOf(shared, project.id, channel.id).length, 2, "one node sends");

    const leader = lease.holder === "one" ? one : two;
    running = running.filter((each) => each !== leader);
    await leader.node.close();
    await leader.sender.drain();
    const loginsOf = (name: string) =>
      [...own.get(name)!.baselines.getRange({})].flatMap(({ value }) => value.filter(([key]) => key === "path=/login"));
    const [stopped, goesOn] = leader === one ? ["one", "two"] : ["two", "one"];
    t.same(loginsOf(stopped!), [["path=/login", 200]], "its hour is of the traffic of both");
    for (let index = 0; index < 3; index++) await minute(50);
    t.match(incidents(), [{ count: 350 }], "the other one goes on, and counts nothing twice");

    const three = newNode("three");
    const [left] = running;
    running = [left!, three];
    await minute(50);
    running = [three];
    await left!.node.close();
    await left!.sender.drain();
    t.same(loginsOf(goesOn!), [["path=/login", 450]], "so is the other's, from before it stored anything");
    for (let index = 0; index < 3; index++) await minute(60);
    t.match(incidents(), [{ endedAt: null }], "one that joined during the attack takes it for the same");
    t.equal(incidents().length, 1);
    for (let index = 0; index < 16; index++) await minute(0);
    t.equal(incidents().length, 1);
    t.ok(incidents()[0]!.endedAt);
    const [began, ended] = [
      happened.filter((what) => what.includes("began")),
      happened.filter((what) => what.includes("ended")),
    ];
    t.same([began.length, ended.length], [1, 1]);
    t.not(began[0]!.slice(0, 3), ended[0]!.slice(0, 3), "told by another node than its beginning");
    t.same(faults, []);
  },
);

t.test("a node's report is bounded, keeps small projects whole, and stands for all", async (t) => {
  const report = new NodeReport(Math.random);
  const many = limits.nodeReportRequestsMax * 3;
  const thread = (projectId: number, count: number): ThreadReport => ({
    requests: Array.from({ length: count }, () => programRequest(0, { projectId })),
    matches: [{ projectId, alertId: projectId, count }],
  });
  for (const each of [thread(1, many), thread(2, 7), thread(1, many)]) report.add(each);
  const taken = await unpackReport(await packReport(report.take()));
  t.equal(taken.requests.length, limits.nodeReportRequestsMax);
  const weightOf = (id: number) =>
    Math.round(taken.requests.filter(({ projectId }) => projectId === id).reduce((sum, { weight }) => sum + weight, 0));
  t.same([weightOf(1), weightOf(2)], [2 * many, 7]);
  t.same(
    taken.matches.map(({ alertId, count }) => [alertId, count]),
    [
      [1, 2 * many],
      [2, 7],
    ],
  );
  t.same(report.take(), { requests: [], matches: [] });
  await t.rejects(unpackReport(Buffer.from("damaged")));
  const bomb = await packReport({
    requests: [],
    matches: [],
    more: "x".repeat(limits.nodeReportBytesMax),
  } as ThreadReport);
  await t.rejects(unpackReport(bomb), "no more than a report takes");
});
