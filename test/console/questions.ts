/**
 * The twelve questions of an analyst, each answered in the console from its overview: what is pressed and where the answer stands. They are asked of
 * a small store (`test/browsers`) and of one with a day of a large site (`test/long`); what they find is the same.
 */
import { readFileSync } from "node:fs";
import type { Locator, Page } from "playwright-core";
import type { Test } from "tap";
import { putRow } from "../../src/alerting/alerting-rows.js";
import { recordControlPlane } from "../../src/store/control-plane-changes.js";
import { type Receiver, startReceiver } from "../alerting/receiver.js";
import { automatedBatch, batch, browserHeaders } from "../support/batches.js";
import { type Answer, askerAs, askUntil, type Tenant, type TestServer } from "../support/server.js";
import { Desk, loginIncident, readVerdict } from "./desk.js";

/** An answer takes at most so many from the overview. */
const clicksMax = 4;

/** What the questions are asked of, as `prepare` leaves it. */
interface Scene {
  readonly server: TestServer;
  readonly tenant: Tenant;
  /** Signed in as the owner. */
  readonly desk: Desk;
  /** Of the customer who was blocked. */
  readonly session: string;
  /** As the page of the block showed it to the customer. */
  readonly reference: string;
  readonly receiver: Receiver;
  /** A token that may only read. */
  readonly viewerToken: string;
  readonly ask: (method: string, path: string, body?: unknown) => Promise<Answer>;
}

const attackers = 30;
const attackNetwork = "203.0.113";
/** Where a rule of the shop stops people. */
const stoppedPath = "/till";

/**
 * What an analyst asks about, as it happened at a shop: an attack on /login, a customer who was blocked, Googlebot and a fake one, a person stopped
 * by a rule, a colleague's change. Signs in.
 */
export async function prepare(t: Test, server: TestServer, tenant: Tenant, desk: Desk): Promise<Scene> {
  const at = `/v1/projects/${tenant.projectId}`;
  const ask = askerAs(server, tenant.token);
  const rule = (name: string, expression: string, sort_order: number) =>
    ask("POST", `${at}/rules`, { name, expression, action: "block", is_active: true, sort_order });
  await rule("No bots", `score < 30 AND path == "/checkout"`, 10);
  await rule("Till closed", `path == "${stoppedPath}"`, 20);
  await ask("PUT", `${at}/request-scoring`, { enabled: true });
  const events = async (body: object): Promise<string> => {
    const headers = { ...browserHeaders, "x-service-site-key": tenant.siteKey };
    return (await server.ask("POST", "/v1/events", { headers, body })).json.session_token;
  };
  const judge = (ip: string, path: string, agent: string) =>
    server.ask("POST", "/v1/verdict", {
      token: tenant.privateKey,
      body: { request: { path, ip, headers: [["User-Agent", agent]] } },
    });
  for (let each = 0; each < attackers; each++)
    await judge(`${attackNetwork}.${each}`, "/login", "python-requests/2.32");
  const google = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";
  await judge("66.249.66.1", "/products/12345", google);
  await judge("198.51.100.9", "/", google);
  const person = await events(batch("stopped-person", 4));
  await readVerdict(server, tenant, person, stoppedPath);

  const session = await events(automatedBatch("customer"));
  const answer = await server.ask("GET", `/v1/sessions/${session}/verdict?path=/checkout`, {
    token: tenant.privateKey,
  });
  const reference = String(answer.headers.get("x-request-id"));
  const member = await ask("POST", "/v1/members", { name: "Ada", email: "ada@example.com", role: "admin" });
  await server.ask("PUT", `${at}/challenge`, { token: member.json.account_token, body: { enabled: true } });
  const viewer = await ask("POST", "/v1/members", { name: "Vi", email: "vi@example.com", role: "viewer" });
  const receiver = await startReceiver(t);
  await ask("POST", `${at}/channels`, { kind: "webhook", url: `${receiver.url}/hook` });
  const incident = loginIncident(tenant.projectId, 600_000);
  await recordControlPlane(server.store, () => putRow(server.store, "incident", incident));
  await askUntil(
    () => ask("GET", `${at}/blocks?reference=${reference}`),
    ({ json }) => json.data.length === 1,
  );
  await askUntil(
    () => ask("GET", `${at}/crawlers`),
    ({ json }) => json.data.some(({ impostors }: { impostors: number }) => impostors > 0),
  );
  await desk.signIn(tenant.token);
  const viewerToken = viewer.json.account_token;
  return { server, tenant, desk, session, reference, receiver, viewerToken, ask };
}

/** Presses as a person does, and counts: a click and Enter are one each, what is typed is free. */
class Clicks {
  count = 0;

  constructor(readonly page: Page) {}

  async on(target: Locator): Promise<void> {
    this.count++;
    await target.click();
  }

  async link(name: string | RegExp, within: Page | Locator = this.page): Promise<void> {
    await this.on(within.getByRole("link", { name, ...(typeof name === "string" && { exact: true }) }).first());
  }

  async button(name: string | RegExp, within: Page | Locator = this.page): Promise<void> {
    await this.on(within.getByRole("button", { name, ...(typeof name === "string" && { exact: true }) }).first());
  }

  /** Goes to what has this name: Ctrl+K, the name, Enter. */
  async find(text: string): Promise<void> {
    await this.page.keyboard.press("Control+k");
    const dialog = this.page.getByRole("dialog");
    await dialog.getByRole("searchbox").fill(text);
    await dialog.getByRole("link").first().waitFor();
    this.count++;
    await this.page.keyboard.press("Enter");
  }
}

/** A question, and the way to its answer: resolves once the answer stands on the page. */
interface Question {
  readonly asked: string;
  readonly answer: (scene: Scene, clicks: Clicks, t: Test) => Promise<void>;
}

const incidentName = `Incident on /login from ${attackNetwork}.0/24`;
const incidentOf = (page: Page) => page.getByRole("region", { name: incidentName });
const panel = (page: Page, name: string) => page.getByRole("region", { name, exact: true });
const dialogOf = (page: Page) => page.getByRole("dialog");

/** In the order of the day; what one changes the next ones may find. */
const questions: readonly Question[] = [
  {
    asked: "is there an attack now, since when, on what, by whom",
    answer: async ({ desk: { page } }, clicks) => {
      const shown = incidentOf(page);
      await shown.getByText(/^Since .*: 4,213 requests/).waitFor();
      await clicks.link("Explore", shown);
      await panel(page, "User agent")
        .getByRole("button", { name: /^python-requests/ })
        .first()
        .waitFor();
      await panel(page, "Address")
        .getByRole("button", { name: new RegExp(`^${attackNetwork}`) })
        .first()
        .waitFor();
    },
  },
  {
    asked: "which rule would stop it, and whom would it hurt",
    answer: async ({ desk }, clicks) => {
      await incidentOf(desk.page)
        .getByText(/13 likely human, 0 logged in/)
        .waitFor();
      await clicks.link("Draft rule", incidentOf(desk.page));
      await panel(desk.page, "What changes")
        .getByText(/Requests without a session: ≈ [1-9][\d,]* newly blocked/)
        .waitFor();
    },
  },
  {
    asked: "do it, watch it, undo it",
    answer: async ({ server, tenant, desk, ask }, clicks, t) => {
      const { page } = desk;
      await clicks.link("Draft rule", incidentOf(page));
      await clicks.button("Save rule");
      await clicks.button("Save and activate it", dialogOf(page));
      await desk.title("Rules");
      const body = { request: { path: "/login", ip: `${attackNetwork}.1`, headers: [["User-Agent", "curl/8.9.1"]] } };
      t.equal((await server.ask("POST", "/v1/verdict", { token: tenant.privateKey, body })).json.action, "block");
      const rule = page.getByRole("listitem").filter({ hasText: incidentName });
      await rule.getByText(/^Matched .*[1-9][\d,]* (verdicts? )?on (a request|requests) without a session/).waitFor();
      await rule.getByRole("img", { name: /in the last hour, by minute$/ }).waitFor();
      await clicks.on(rule.getByRole("switch"));
      await desk.says(`${incidentName} is inactive`);
      const rules = (await ask("GET", `/v1/projects/${tenant.projectId}/rules`)).json;
      t.equal(rules.find(({ name }: { name: string }) => name === incidentName).is_active, false);
    },
  },
  {
    asked: "a customer complains with a reference: find him, explain, let him through for a week",
    answer: async ({ server, tenant, desk, session, reference }, clicks, t) => {
      const { page } = desk;
      await clicks.find(reference);
      await desk.says("1 block with this reference");
      await clicks.link(session);
      await desk.title("Session");
      await panel(page, "Timeline")
        .getByText(/No bots/)
        .first()
        .waitFor();
      await clicks.button("Let this visitor through…");
      await dialogOf(page).getByLabel(/^Why/).fill("A customer on the phone");
      await clicks.button("Let through", dialogOf(page));
      await dialogOf(page)
        .getByText(/^Let through until/)
        .waitFor();
      t.equal((await readVerdict(server, tenant, session, "/checkout")).action, "allow");
    },
  },
  {
    asked: "which crawlers come how much, is one fake",
    answer: async ({ desk }, clicks) => {
      await clicks.link("Crawlers", desk.page.getByRole("navigation"));
      await desk.page.getByRole("row", { name: /^Google .* [1-9][\d,]* [1-9][\d,]* / }).waitFor();
    },
  },
  {
    asked: "are we hurting people",
    answer: async ({ desk: { page } }, clicks) => {
      const stopped = panel(page, "Sessions").getByRole("term").filter({ hasText: "Likely people stopped" });
      await clicks.link(/^[1-9]/, stopped.locator(".."));
      await page.getByRole("row", { name: /Likely human.*Till closed/ }).waitFor();
    },
  },
  {
    asked: "what changed since last week, who changed it",
    answer: async ({ desk: { page } }, clicks) => {
      await clicks.link("Changes", page.getByRole("navigation"));
      await page.getByRole("row", { name: /Ada, token \d+ Challenge changed/ }).waitFor();
    },
  },
  {
    asked: "top paths, networks, agents of bots",
    answer: async ({ desk: { page } }, clicks) => {
      await clicks.on(
        panel(page, "Requests without a session").getByRole("definition").filter({ hasText: "%" }).getByRole("link"),
      );
      await panel(page, "Path").getByRole("button", { name: "/login", exact: true }).waitFor();
      await panel(page, "Network").getByText(`${attackNetwork}.0/24`).waitFor();
      await panel(page, "User agent")
        .getByText(/python-requests/)
        .waitFor();
    },
  },
  {
    asked: "export for a report",
    answer: async ({ desk: { page } }, clicks, t) => {
      await clicks.link("Explore", incidentOf(page));
      const download = page.waitForEvent("download");
      await clicks.button("CSV");
      const lines = readFileSync(await (await download).path(), "utf8")
        .trimEnd()
        .split("\r\n");
      t.match(lines[0], /at,method,host,path,ip,country/);
      t.ok(lines.length > attackers);
    },
  },
  {
    asked: "compare two ranges",
    answer: async ({ desk }, clicks) => {
      await clicks.link("Explore", desk.page.getByRole("navigation"));
      await clicks.on(desk.page.getByLabel("Compare with the previous period"));
      await desk.says(/^In the previous period of the same length: /);
    },
  },
  {
    asked: "be told when it happens again",
    answer: async ({ desk, tenant, ask }, clicks, t) => {
      const { page } = desk;
      await clicks.link("Explore", incidentOf(page));
      await clicks.button("Alert me to these…");
      await page.getByLabel("Name", { exact: true }).fill("Logins again");
      await page.getByLabel("At least").fill("50");
      t.ok(await page.getByLabel(/^Webhook \d+, http/).isChecked(), "the only channel is ticked");
      await clicks.button("Create the alert");
      await desk.says("Logins again is active.");
      const [alert] = (await ask("GET", `/v1/projects/${tenant.projectId}/alerts`)).json.data;
      t.match(alert, { name: "Logins again", when: { expression: /login/, count: 50 }, is_active: true });
      t.equal(alert.channel_ids.length, 1);
    },
  },
  {
    asked: "share a view with somebody who may only read",
    answer: async ({ desk: { page, context }, server, viewerToken }, clicks, t) => {
      await context.grantPermissions(["clipboard-read", "clipboard-write"]);
      await clicks.link("Explore", incidentOf(page));
      const headline = page.locator(".headline");
      await headline.waitFor();
      await clicks.button("Copy link");
      await page.getByText("Copied").waitFor();
      // biome-ignore lint/suspicious/noExplicitAny: the tests' types know no DOM
      const link: string = await page.evaluate(() => (globalThis as any).navigator.clipboard.readText());
      const other = await Desk.open(t, context.browser()!, server);
      await other.signIn(viewerToken);
      await other.page.goto(link);
      await other.page.locator(".headline").waitFor();
      t.equal(await other.page.locator(".headline").textContent(), await headline.textContent());
      t.equal(await other.page.getByRole("button", { name: /Make this a rule|Delete these/ }).count(), 0);
    },
  },
];

/** Asks all twelve, each from the overview; `told` gets how many clicks and ms an answer took. */
export async function askAll(
  t: Test,
  scene: Scene,
  told: (asked: string, clicks: number, ms: number) => void,
): Promise<void> {
  for (const { asked, answer } of questions) {
    await t.test(asked, async (t) => {
      const { page } = scene.desk;
      await page.goto(`${scene.desk.address}#/overview`);
      await scene.desk.title("Overview");
      const clicks = new Clicks(page);
      const fromMs = performance.now();
      await answer(scene, clicks, t);
      told(asked, clicks.count, performance.now() - fromMs);
      t.ok(clicks.count <= clicksMax, `${clicks.count} clicks`);
    });
  }
  t.same(scene.desk.broken, [], "nothing broke the policy");
}
