/**
 * What an analyst comes to the console for when somebody complains or something happens, each done once in a real browser: a reference leads to a
 * visitor, who is let through for a week; an incident is looked at and muted; an alert tells of the next one. `CONSOLE_PICTURES=1` leaves pictures.
 */
import t from "tap";
import { putRow } from "../../src/alerting/alerting-rows.js";
import { recordControlPlane } from "../../src/store/control-plane-changes.js";
import { startReceiver } from "../alerting/receiver.js";
import { Desk, inBothSchemes, loginIncident, look } from "../console/desk.js";
import { visitedDesk } from "../console/visited-desk.js";
import { noChromium, skipFileIf } from "../support/chromium.js";
import { askUntil } from "../support/server.js";

skipFileIf(t, noChromium);

const { server, tenant, bots, browser, at, asked, verdictOf, desk, page, dialog } = await visitedDesk(t);

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
  await dialog.getByRole("radio", { name: /^User agent:/ }).waitFor();
  await dialog.getByRole("radio", { name: /^Session:/ }).check();
  await dialog.getByRole("radio", { name: "After a week" }).check();
  await dialog.getByLabel(/^Why/).fill("A customer on the phone");
  await inBothSchemes(t, desk, "let-through");
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
  await desk.says("No exceptions: the rules decide about everybody.");
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

t.test("an exception for all addresses is asked about, and marked in the list and on the overview", async (t) => {
  const all = async () => (await asked("GET", `${at}/exceptions`)).json.data;
  const before = (await all()).length;
  await page.getByLabel("By").selectOption({ label: "Network" });
  await page.getByLabel("Which").fill("0.0.0.0/0");
  await page.getByRole("button", { name: "Let through…" }).click();
  const sure = dialog.getByLabel(/^Very many visitors/);
  await dialog.getByRole("button", { name: "Let through" }).click();
  t.notOk(await sure.evaluate((box) => (box as unknown as { checkValidity(): boolean }).checkValidity()));
  t.equal((await all()).length, before, "not without a tick");
  await inBothSchemes(t, desk, "let-all-through");
  await sure.check();
  await dialog.getByRole("button", { name: "Let through" }).click();
  await dialog.getByText(/^Let through until/).waitFor();
  await dialog.getByRole("button", { name: "Close" }).click();
  await page.getByRole("row", { name: /0\.0\.0\.0\/0.*very many visitors/ }).waitFor();
  await desk.go("Overview");
  await desk.says(/^An exception lets very many visitors through/);
  await asked("DELETE", `${at}/exceptions/${(await all()).at(-1).id}`);
});

t.test("who may only read is offered nothing that would be refused", async (t) => {
  const viewer = (await asked("POST", "/v1/members", { name: "Vi", email: "vi@example.com", role: "viewer" })).json;
  const other = await Desk.open(t, browser, server);
  await other.signIn(viewer.account_token);
  await other.says("Your role (viewer) can only read.");
  await other.go("Blocks");
  await other.says(/blocks? loaded/);
  t.equal(await other.page.getByRole("button", { name: /through/ }).count(), 0);
  await other.go("Exceptions");
  await other.page.getByRole("row", { name: /203\.0\.113\.7/ }).waitFor();
  t.equal(await other.page.getByRole("button", { name: /Let through|End now/ }).count(), 0);
  await other.page.goto(`${other.address}#/rules/new`);
  await other.says("You can try an expression and an action here; your role may not save them.");
  t.ok(await other.page.getByLabel("Name", { exact: true }).isDisabled());
  t.ok(await other.page.getByLabel("Active").isDisabled());
  t.notOk(await other.page.getByRole("textbox", { name: "Expression" }).isDisabled(), "it can be tried");
  t.same(other.broken, []);
});

t.test("an open incident leads the overview: what it is, what a rule would do, and the ways on", async (t) => {
  const incident = loginIncident(tenant.projectId, 600_000);
  await recordControlPlane(server.store, () => putRow(server.store, "incident", incident));
  // The overview that is open looks again in a quarter of a minute.
  await page.reload();
  await desk.title("Overview");
  const shown = page.getByRole("region", { name: "Incident on /login from 203.0.113.0/24" });
  await shown.getByText(/4,213 requests, with a peak of 610 a minute\. Usual in five minutes: 12\./).waitFor();
  await shown.getByText(/13 likely human, 0 logged in/).waitFor();
  await desk.says(/points against the 24 hours before|no data for the 24 hours before/);
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
  await inBothSchemes(t, desk, "mute");
  await dialog.getByRole("button", { name: "Mute", exact: true }).click();
  await shown.waitFor({ state: "hidden" });
  await desk.says("1 earlier or muted incident");
  await desk.says(/^1 open incident is muted until .*: see the list below\. No other incident is open\./);
  t.match((await asked("GET", `${at}/incidents?state=open`)).json.data, [{ id: 1, muted_until: /T/ }]);
});

t.test("an alert with a channel is written, tried, sent as a test, switched off and deleted", async (t) => {
  const receiver = await startReceiver(t);
  await desk.go("Alerts");
  await desk.says("No alerts yet: nobody is told when something happens.");
  await page.getByLabel("URL to send to").fill("http://user:secret@127.0.0.1/x");
  await page.getByRole("button", { name: "Add the channel" }).click();
  await page.getByRole("alert").first().waitFor();
  await page.getByLabel("URL to send to").fill(`${receiver.url}/hooks/very-secret`);
  await page.getByRole("button", { name: "Add the channel" }).click();
  await dialog.getByLabel("Secret that deliveries are signed with").waitFor();
  t.match(await dialog.getByLabel("URL").inputValue(), /very-secret/);
  await inBothSchemes(t, desk, "channel-secret");
  await dialog.getByRole("button", { name: "I have stored it" }).click();
  t.notMatch(await page.locator("main").textContent(), /very-secret/, "shown once");
  await page.getByRole("button", { name: /^Test Webhook/ }).click();
  await desk.says(/^Test of Webhook .*: delivered, answered 204/);
  t.equal(receiver.received.length, 1);
  const failed = { id: 9, at: "2026-11-27T12:00:00Z", alert_id: null, state: "failed", attempts: 1, next_at: null };
  await page.route("**/channels/*/test", (route) => route.fulfill({ json: { ...failed, status: 500, error: null } }), {
    times: 1,
  });
  await page.getByRole("button", { name: /^Test Webhook/ }).click();
  await page
    .getByRole("alert")
    .filter({ hasText: /^Test of Webhook .*: failed, answered 500/ })
    .waitFor();
  t.equal(await page.getByText(/: delivered, answered 204/).count(), 0);
  await page.getByRole("button", { name: /^Deliveries of Webhook/ }).click();
  await dialog.getByRole("row", { name: /test delivered, answered 204/ }).waitFor();
  await inBothSchemes(t, desk, "deliveries");
  await dialog.getByRole("button", { name: "Close" }).click();

  t.ok(await page.getByLabel(/^Webhook \d+, http/).isChecked(), "the only channel is ticked");
  t.equal(await page.getByLabel("Name", { exact: true }).inputValue(), "An incident begins");
  await page.getByLabel("Name", { exact: true }).fill("Many bots");
  await desk.says(/In the last 7 days it would have fired once\./);
  await page.getByLabel("The number of matching requests reaches a limit").check();
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
  await desk.says("No alerts yet: nobody is told when something happens.");
});

t.test("nothing broke the policy", async (t) => {
  t.same(desk.broken, []);
});
