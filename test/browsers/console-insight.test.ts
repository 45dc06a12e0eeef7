/**
 * What an analyst comes to the console for when somebody complains or something happens, each done once in a real browser: a reference leads to a
 * visitor, who is let through for a week. `CONSOLE_PICTURES=1` leaves pictures.
 */
import { readFileSync } from "node:fs";
import t from "tap";
import { putRow } from "../../src/alerting/alerting-rows.js";
import { recordControlPlane } from "../../src/store/control-plane-changes.js";
import { startReceiver } from "../alerting/receiver.js";
import { Desk, loginIncident, look, readVerdict, traffic } from "../console/desk.js";
import { batch, browserHeaders } from "../support/batches.js";
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
  const incident = loginIncident(tenant.projectId, 600_000);
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
  // Of the minute that has not ended it says nothing, and all that there is may be of this one.
  await desk.says(/^(?:In the last 7 days it would have fired|It would not have fired in the last 7 days)/);
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

t.test("a rule gets a place and an end, and is told which rules stand before it", async (t) => {
  const rules = async () => (await asked("GET", `${at}/rules`)).json;
  const wide = (await rules()).find(({ name }: { name: string }) => name === "No bots");
  await desk.go("Rules");
  await page.getByRole("link", { name: "New rule" }).click();
  await desk.title("New rule");
  await page.getByLabel("Name", { exact: true }).fill("Partner");
  await page.getByRole("textbox", { name: "Expression" }).fill("score < 20");
  await page.getByLabel("Action").selectOption("allow");
  const effect = page.getByRole("region", { name: "What changes" });
  await effect
    .getByText(/Rules before it decide some of what it matches/)
    .getByRole("link", { name: /No bots/ })
    .waitFor();
  await page.getByLabel(/^Place/).selectOption("first");
  await effect
    .getByText(/It decides some of what rules behind it decide now/)
    .getByRole("link", { name: /No bots/ })
    .waitFor();
  await effect
    .getByText(/newly let in/)
    .first()
    .waitFor();
  await page.getByRole("radio", { name: "After a week" }).check();
  await page.getByLabel("Active").check();
  await look(t, desk, "rule-effect");
  await page.reload();
  await page.getByLabel(/^Place/).waitFor();
  t.equal(await page.getByLabel(/^Place/).inputValue(), "first", "the address holds the place");
  t.ok(await page.getByRole("radio", { name: "After a week" }).isChecked());
  await page.getByRole("button", { name: "Save rule" }).click();
  await desk.title("Rules");
  const made = (await rules()).find(({ name }: { name: string }) => name === "Partner");
  t.ok(made.sort_order < wide.sort_order, "first");
  const days = (Date.parse(made.expires_at) - Date.now()) / 86_400_000;
  t.ok(days > 6.9 && days <= 7);
  await desk.says(/^expires/);
  await desk.go("Changes");
  await asked("PATCH", `${at}/rules/${made.id}`, { expression: "score < 5" });
  await page.getByRole("button", { name: "Refresh" }).click();
  await page
    .getByRole("button", { name: /^Revert: Rule changed, rule \d+ "Partner"/ })
    .first()
    .click();
  t.same(await desk.barriers(), []);
  await dialog.getByRole("button", { name: "Revert" }).click();
  await desk.says(/^Reverted: rule \d+ "Partner" is as it was before/);
  t.equal((await rules()).find(({ id }: { id: number }) => id === made.id).expression_source, "score < 20");
});

t.test("five hundred rules are searched, and not all drawn at once", async (t) => {
  for (let each = 0; each < 120; each++) {
    const body = { name: `Bulk ${each}`, expression: `path == "/bulk/${each}"`, action: "log", is_active: false };
    await asked("POST", `${at}/rules`, { ...body, sort_order: 1000 + each });
  }
  await desk.go("Rules");
  await page.getByRole("button", { name: "Show more" }).waitFor();
  t.equal(await page.locator(".rules > li").count(), 50);
  await page.getByRole("searchbox").fill("/bulk/77");
  await desk.says(/^1 rule of 12\d/);
  t.equal(await page.locator(".rules > li").count(), 1);
});

t.test("Ctrl+K leads to a reference, a session, an address, a rule and a page", async (t) => {
  const find = async (text: string, expected: RegExp) => {
    await page.keyboard.press("Control+k");
    await dialog.getByRole("searchbox").fill(text);
    await dialog.getByRole("link", { name: expected }).first().waitFor();
    if (text === "Bulk 77") t.same(await desk.barriers(), []);
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "hidden" });
  };
  await find("7cc11833b9eb-1h", /^Block with the reference/);
  await page.waitForURL(/#\/blocks\?.*q=7cc11833b9eb-1h/);
  await find(bots[1]!, /^Session sess_/);
  await desk.title("Session");
  await find("203.0.113.0/24", /^Sessions of the address/);
  await desk.title("Explore");
  t.equal(await page.getByLabel("Expression").inputValue(), 'ip == "203.0.113.0/24"');
  await find("Bulk 77", /^Rule \d+ Bulk 77/);
  await desk.title("Edit rule");
  await find("crawl", /^Crawlers/);
  await desk.title("Crawlers");
});

t.test("a new project begins with its first steps, which follow what is done", async (t) => {
  await desk.go("Projects");
  await page.getByLabel("Name", { exact: true }).fill("Second shop");
  await look(t, desk, "projects");
  await page.getByRole("button", { name: "Create the project" }).click();
  await desk.title("Overview");
  const steps = page.getByRole("region", { name: "The first five minutes" });
  await steps.getByRole("button", { name: "Enable scoring" }).click();
  const key = await steps.getByLabel(/^Your private key/).inputValue();
  t.match(key, /^sk_/);
  const script = await steps.getByLabel("In the head of your pages").inputValue();
  const siteKey = /data-site-key="(pk_[^"]+)"/.exec(script)![1]!;
  t.ok((await steps.getByLabel("From your backend").inputValue()).includes(key), "the snippet holds the real key");
  t.equal(await page.locator(".tiles").count(), 0, "no zeros");
  await desk.loaded();
  await look(t, desk, "first-steps");
  const sent = await server.ask("POST", "/v1/events", {
    headers: { ...browserHeaders, "x-service-site-key": siteKey },
    body: batch("first", 3),
  });
  await steps.getByText("Script seen in a browser: done").waitFor();
  await server.ask("GET", `/v1/sessions/${sent.json.session_token}/verdict?path=/`, { token: key });
  await steps.getByText("First verdict: done").waitFor();
  await steps.getByText("Token reached your backend: done").waitFor();
});

t.test("a page of the documentation that is none is a page", async (t) => {
  const answer = await server.ask("GET", "/docs/nope");
  t.equal(answer.status, 404);
  t.match(answer.headers.get("content-type"), /^text\/html/);
  t.match(answer.text, /<a href="\/docs">/);
});

t.test("a link into the API page opens the route that it is of, on a page of a few screens", async (t) => {
  await page.goto(`http://127.0.0.1:${server.port}/docs/api#op-muteIncident`);
  await page.getByText("Until then neither it nor another one with the same").waitFor();
  const open = () => page.locator("details.folded[open]").count();
  t.equal(await open(), 1);
  await page.locator("details.folded[open] a[href*='#type-']").first().click();
  await page.waitForURL(/#type-/);
  await page.locator("details.folded[open] h3[id^='type-']").waitFor();
  // biome-ignore lint/suspicious/noExplicitAny: the tests' types know no DOM
  const height: number = await page.evaluate(() => (globalThis as any).document.documentElement.scrollHeight);
  t.ok(height < 30_000, `${height} px`);
});

t.test("nothing broke the policy", async (t) => {
  t.same(desk.broken, []);
});
