/**
 * What an analyst comes to the console for when somebody complains or something happens, each done once in a real browser: a reference leads to a
 * visitor, who is let through for a week. `CONSOLE_PICTURES=1` leaves pictures.
 */
import { readFileSync } from "node:fs";
import t from "tap";
import { putRow } from "../../src/alerting/alerting-rows.js";
import type { Incident } from "../../src/contract/incidents.js";
import { recordControlPlane } from "../../src/store/control-plane-changes.js";
import { startReceiver } from "../alerting/receiver.js";
import { Desk, look, readVerdict, traffic } from "../console/desk.js";
import { launch, noChromium } from "../support/chromium.js";
import { askUntil, firstTenant, startServer } from "../support/server.js";

if (noChromium !== undefined) {
  t.plan(0, noChromium);
  process.exit(0);
}

const server = await startServer(t, ["--verdict-ttl", "0", "--alert-private-addresses"]);
const tenant = await firstTenant(server);
const { bots } = await traffic(server, tenant);
const browser = await launch(t);
const at = `/v1/projects/${tenant.projectId}`;
const asked = (method: string, path: string, body?: unknown) =>
  server.ask(method, path, { token: tenant.token, ...(body !== undefined && { body }) });
await asked("POST", `${at}/rules`, { name: "No bots", expression: "score < 30", action: "block", is_active: true });
const verdictOf = (token: string) => readVerdict(server, tenant, token, "/checkout");

const desk = await Desk.open(t, browser, server);
const { page } = desk;
await desk.signIn(tenant.token);
const dialog = page.getByRole("dialog");

t.test("who complains with a reference is let through for a week, and no longer on demand", async (t) => {
  const [blocked] = bots;
  const answer = await server.ask("GET", `/v1/sessions/${blocked}/verdict?path=/checkout`, {
    token: tenant.privateKey,
  });
  t.equal(answer.json.action, "block");
  const reference = String(answer.headers.get("x-request-id"));
  await askUntil(
    () => asked("GET", `${at}/blocks?reference=${reference}`),
    ({ json }) => json.data.length === 1,
  );
  await desk.go("Blocks");
  await page.getByRole("searchbox").fill(reference);
  await desk.says("1 block with this reference");
  await look(t, desk, "blocks-found");
  await page.getByRole("button", { name: /^Let this visitor through… \(block \d+\)$/ }).click();
  await dialog.getByRole("radio", { name: /^Session:/ }).check();
  await dialog.getByRole("radio", { name: "After a week" }).check();
  await dialog.getByLabel(/^Why/).fill("A customer on the phone");
  t.same(await desk.barriers(), []);
  await desk.picture("let-through");
  await dialog.getByRole("button", { name: "Let through" }).click();
  await dialog.getByText(/^Let through until/).waitFor();
  await dialog.getByText(/definite/).waitFor();
  t.equal((await verdictOf(blocked!)).action, "allow", "at once");
  await dialog.getByRole("button", { name: "Close" }).click();
  await page.getByText(/^Let through until .* by session: A customer on the phone/).waitFor();

  await page.getByRole("link", { name: blocked! }).click();
  await desk.title("Session");
  await page.getByText(/^Let through until .* by session: A customer on the phone/).waitFor();
  await desk.go("Exceptions");
  const row = page.getByRole("row", { name: /A customer on the phone/ });
  await row.getByRole("link", { name: reference }).waitFor();
  await look(t, desk, "exceptions");
  const days = (Date.parse((await asked("GET", `${at}/exceptions`)).json.data[0].expires_at) - Date.now()) / 86_400_000;
  t.ok(days > 6.9 && days <= 7);
  await row.getByRole("button", { name: /^End now: / }).click();
  await dialog.getByRole("button", { name: "End now" }).click();
  await desk.says("Nobody is let through before the rules.");
  t.equal((await verdictOf(blocked!)).action, "block");
});

t.test("an address is let through until a date, from the page of exceptions", async (t) => {
  await page.getByLabel("Which").fill("203.0.113.300");
  await page.getByRole("button", { name: "Let through…" }).click();
  await dialog.getByRole("button", { name: "Let through" }).click();
  await dialog.getByRole("alert").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await page.getByLabel("Which").fill("203.0.113.7");
  await page.getByRole("button", { name: "Let through…" }).click();
  await dialog.getByRole("radio", { name: "On a date" }).check();
  const wanted = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 16);
  await dialog.getByLabel(/^Date and time/).fill(wanted);
  await dialog.getByRole("button", { name: "Let through" }).click();
  await dialog.getByText(/^Let through until/).waitFor();
  await dialog.getByRole("button", { name: "Close" }).click();
  await page.getByRole("row", { name: /203\.0\.113\.7/ }).waitFor();
  const [made] = (await asked("GET", `${at}/exceptions`)).json.data;
  t.match(made, { subject: { ip: "203.0.113.7" } });
  t.ok(Math.abs(Date.parse(made.expires_at) - Date.parse(wanted)) < 86_400_000, "as the browser's zone has it");
});

t.test("who may only read is offered nothing that would be refused", async (t) => {
  const viewer = (await asked("POST", "/v1/members", { name: "Vi", email: "vi@example.com", role: "viewer" })).json;
  const other = await Desk.open(t, browser, server);
  await other.signIn(viewer.account_token);
  await other.says("Your role, viewer, may only read.");
  await other.go("Blocks");
  await other.says(/blocks? loaded/);
  t.equal(await other.page.getByRole("button", { name: /through/ }).count(), 0);
  await other.go("Exceptions");
  await other.page.getByRole("row", { name: /203\.0\.113\.7/ }).waitFor();
  t.equal(await other.page.getByRole("button", { name: /Let through|End now/ }).count(), 0);
  t.same(other.broken, []);
});

t.test("an open incident leads the overview: what it is, what a rule would do, and the ways on", async (t) => {
  const nowMs = Date.now();
  const incident: Incident = {
    id: 1,
    projectId: tenant.projectId,
    startedAt: new Date(nowMs - 600_000).toISOString(),
    endedAt: null,
    seenAt: new Date(nowMs).toISOString(),
    what: { path: "/login", network: "203.0.113.0/24" },
    count: 4213,
    baseline: 11.6,
    peakPerMinute: 610,
    bands: { confident_automated: 4200, likely_human: 13 },
    actions: { allow: 4213 },
    expression: 'path == "/login" AND ip == "203.0.113.0/24"',
    ruleWould: { newly_blocked: 4213, likely_human: 13, logged_in: 0 },
  };
  await recordControlPlane(server.store, () => putRow(server.store, "incident", incident));
  await desk.go("Overview");
  const shown = page.getByRole("region", { name: "Incident on /login from 203.0.113.0/24" });
  await shown.getByText(/4,213 requests, at most 610 a minute\. Five minutes usually have 12\./).waitFor();
  await shown.getByText(/13 likely human, 0 logged in/).waitFor();
  await desk.says(/points against the 24 hours before|nothing to compare in the 24 hours before/);
  await desk.loaded();
  await look(t, desk, "overview-incident");

  await shown.getByRole("link", { name: "Draft rule" }).click();
  await desk.title("New rule");
  t.equal(await page.getByLabel("Expression").inputValue(), incident.expression, "in two clicks");
  t.equal(await page.getByLabel("Action").inputValue(), "block");
  await page.goBack();
  await shown.getByRole("link", { name: "Explore" }).click();
  await desk.title("Explore");
  t.equal(await page.getByLabel("Expression").inputValue(), incident.expression);
  await page.goBack();
  await shown.getByRole("button", { name: "Mute…" }).click();
  await dialog.getByLabel("For").selectOption({ label: "A day" });
  t.same(await desk.barriers(), []);
  await dialog.getByRole("button", { name: "Mute", exact: true }).click();
  await shown.waitFor({ state: "hidden" });
  await desk.says("1 earlier or muted incident");
  t.match((await asked("GET", `${at}/incidents?state=open`)).json.data, [{ id: 1, muted_until: /T/ }]);
});

t.test("an alert with a channel is written, tried, sent as a test, switched off and deleted", async (t) => {
  const receiver = await startReceiver(t);
  await desk.go("Alerts");
  await desk.says("No alert: nobody is told when something happens.");
  await page.getByLabel("Address that is sent to").fill("http://user:secret@127.0.0.1/x");
  await page.getByRole("button", { name: "Add the channel" }).click();
  await page.getByRole("alert").first().waitFor();
  await page.getByLabel("Address that is sent to").fill(`${receiver.url}/hooks/very-secret`);
  await page.getByRole("button", { name: "Add the channel" }).click();
  await dialog.getByLabel("Secret that deliveries are signed with").waitFor();
  t.match(await dialog.getByLabel("Address").inputValue(), /very-secret/);
  t.same(await desk.barriers(), []);
  await dialog.getByRole("button", { name: "I have stored it" }).click();
  t.notMatch(await page.locator("main").textContent(), /very-secret/, "shown once");
  await page.getByRole("button", { name: /^Test Webhook/ }).click();
  await desk.says(/^Test of Webhook .*: delivered, answered 204/);
  t.equal(receiver.received.length, 1);
  await page.getByRole("button", { name: /^Deliveries of Webhook/ }).click();
  await dialog.getByRole("row", { name: /test delivered, answered 204/ }).waitFor();
  await dialog.getByRole("button", { name: "Close" }).click();

  await page.getByLabel("Name", { exact: true }).fill("Many bots");
  await desk.says(/In the last 7 days it would have fired 1 time\./);
  await page.getByLabel("So many requests match an expression").check();
  await page.getByRole("textbox", { name: "Expression" }).fill("score <<");
  await desk.says(/^Line 1, column/);
  await page.getByRole("textbox", { name: "Expression" }).fill("score < 30");
  await page.getByLabel("At least").fill("1");
  await desk.says(/In the last 7 days it would have fired/);
  await page.getByLabel(/^Webhook \d+, http/).check();
  await look(t, desk, "alerts");
  await page.getByRole("button", { name: "Create the alert" }).click();
  await desk.says("Many bots is active.");
  const [made] = (await asked("GET", `${at}/alerts`)).json.data;
  t.match(made, { name: "Many bots", when: { expression: "score < 30", count: 1, minutes: 5 }, is_active: true });
  t.equal(made.channel_ids.length, 1);
  await page.getByRole("switch", { name: "Many bots is active" }).click();
  await askUntil(
    () => asked("GET", `${at}/alerts`),
    ({ json }) => json.data[0].is_active === false,
  );
  await page.getByRole("button", { name: "Delete Many bots" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await desk.says("No alert: nobody is told when something happens.");
});

t.test("crawlers are listed with their visits, and those who only pretend to be one", async (t) => {
  await asked("PUT", `${at}/request-scoring`, { enabled: true });
  const headers = [["User-Agent", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"]];
  const visit = async (ip: string, path: string) =>
    (await server.ask("POST", "/v1/verdict", { token: tenant.privateKey, body: { request: { path, ip, headers } } }))
      .json;
  t.equal((await visit("66.249.66.1", "/products/12345")).verdict, "verified");
  await visit("198.51.100.9", "/");
  await askUntil(
    () => asked("GET", `${at}/crawlers`),
    ({ json }) => json.data.some(({ impostors }: { impostors: number }) => impostors > 0),
  );
  await desk.go("Crawlers");
  const row = page.getByRole("row", { name: /Google/ }).first();
  await row.getByText("/products/*").waitFor();
  await look(t, desk, "crawlers");
  await page.getByRole("link", { name: "1", exact: true }).click();
  await desk.title("Explore");
  t.equal(await page.getByLabel("Expression").inputValue(), "detection_ids contains 400101");
});

t.test(
  "requests without a session are explored by samples and counters, scaled up, by band, and compared",
  async (t) => {
    const headers = [["User-Agent", "python-requests/2.32.3"]];
    const ask = (path: string, ip: string) =>
      server.ask("POST", "/v1/verdict", { token: tenant.privateKey, body: { request: { path, ip, headers } } });
    for (let each = 0; each < 24; each++) await ask(`/page${each % 12}`, `198.51.100.${each % 12}`);
    await ask("/%D9%85%D8%B1%D8%AD%D8%A8%D8%A7", "198.51.100.1");
    const counted = async () => (await asked("GET", `${at}/traffic?group_by=path&subject=request`)).json.meta.total;
    await askUntil(
      () => asked("GET", `${at}/traffic?group_by=declared_bot&subject=request`),
      ({ json }) =>
        json.data.some(({ value, count }: { value: string; count: number }) => /requests/.test(value) && count === 25),
    );
    await desk.go("Explore");
    await page.getByRole("radio", { name: "Requests without a session" }).check();
    const total = await counted();
    await desk.says(`${total} requests of ${total}`);
    const paths = page.getByRole("region", { name: "Path", exact: true });
    t.equal(await paths.locator("li").count(), 10);
    await paths.getByRole("button", { name: /^All .*values? of Path$/ }).click();
    await paths.getByText("/مرحبا", { exact: true }).waitFor();
    t.ok((await paths.locator("li").count()) > 12, "all values of a panel are opened");
    await paths.getByRole("button", { name: "/page1", exact: true }).click();
    await desk.says(`2 requests of ${total}`);
    t.equal(await page.getByLabel("Expression").inputValue(), 'path == "/page1"');
    await page.getByText("Compare with the time before").click();
    await desk.says(/In the time before, as long: 0, so 2 more/);
    await desk.loaded();
    await look(t, desk, "explore-requests");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "CSV" }).click(),
    ]);
    const csv = readFileSync(await download.path(), "utf8")
      .trimEnd()
      .split("\r\n");
    t.match(csv[0], /country,asn,as_name,user_agent,.*agent,/);
    t.equal(csv.length, 3);
    await page.getByRole("button", { name: "Alert me of these…" }).click();
    await desk.title("Alerts");
    t.equal(await page.getByRole("textbox", { name: "Expression" }).inputValue(), 'path == "/page1"');
    await page.goBack();
    await desk.title("Explore");
    await page.evaluate(() => {
      // biome-ignore lint/suspicious/noExplicitAny: the tests' types know no DOM
      const { navigator } = globalThis as any;
      navigator.clipboard.writeText = async (text: string) => {
        // biome-ignore lint/suspicious/noExplicitAny: the tests' types know no DOM
        (globalThis as any).copiedText = text;
      };
    });
    await page.getByRole("button", { name: "Copy link" }).click();
    await desk.says("Copied");
    // biome-ignore lint/suspicious/noExplicitAny: the tests' types know no DOM
    const link: string = await page.evaluate(() => (globalThis as any).copiedText);
    const shared = new URLSearchParams(link.split("?")[1]);
    t.match(
      [shared.get("from"), shared.get("to"), shared.get("of"), shared.get("project")],
      [/T/, /T/, "requests", String(tenant.projectId)],
      "another sees the same time, whenever the link is opened",
    );
  },
);

t.test("nothing broke the policy", async (t) => {
  t.same(desk.broken, []);
});
