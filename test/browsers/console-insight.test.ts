/**
 * What an analyst comes to the console for when somebody complains or something happens, each done once in a real browser: a reference leads to a
 * visitor, who is let through for a week. `CONSOLE_PICTURES=1` leaves pictures.
 */
import t from "tap";
import { Desk, look, readVerdict, traffic } from "../console/desk.js";
import { launch, noChromium } from "../support/chromium.js";
import { askUntil, firstTenant, startServer } from "../support/server.js";

if (noChromium !== undefined) {
  t.plan(0, noChromium);
  process.exit(0);
}

const server = await startServer(t, ["--verdict-ttl", "0"]);
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

t.test("nothing broke the policy", async (t) => {
  t.same(desk.broken, []);
});
