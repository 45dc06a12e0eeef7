/** Credentials in the console, in a real browser: signing in and out, rotating a key, making and revoking account tokens. */
import type { Page, Route } from "playwright-core";
import t from "tap";
import { Desk } from "../console/desk.js";
import { consoleServer } from "../console/visited-desk.js";
import { noChromium, skipFileIf } from "../support/chromium.js";
import { newProject } from "../support/server.js";

skipFileIf(t, noChromium);

const { server, tenant, browser, asked } = await consoleServer(t);

const storage = (page: Page): Promise<[string, string]> =>
  page.evaluate(
    () =>
      [
        // biome-ignore lint/suspicious/noExplicitAny: the tests' types know no DOM
        JSON.stringify((globalThis as any).sessionStorage),
        // biome-ignore lint/suspicious/noExplicitAny: the tests' types know no DOM
        JSON.stringify((globalThis as any).localStorage) + (globalThis as any).document.cookie,
      ] as [string, string],
  );

t.test("a wrong token is refused, a right one is kept for open tabs only and forgotten on sign-out", async (t) => {
  const desk = await Desk.open(t, browser, server);
  const { page } = desk;
  await page.getByLabel("Account token").fill("vat_wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await desk.says("The server does not know this token.");
  t.same(await desk.barriers(), []);
  await desk.picture("sign-in-wrong");
  t.same((await storage(page))[0], "{}", "a refused token is not kept");
  await page.getByLabel("Account token").fill(tenant.privateKey);
  await page.getByRole("button", { name: "Sign in" }).click();
  await desk.says(/^This is a project’s private key, which belongs in your backend/);

  await desk.signIn(tenant.token);
  const [session, others] = await storage(page);
  t.ok(session.includes(tenant.token), "session storage has it");
  t.notOk(others.includes(tenant.token), "local storage and cookies do not");
  await page.reload();
  await desk.title("Overview");
  for (const name of ["Sessions", "Rules", "Account tokens"]) await desk.go(name);
  t.notOk(
    desk.asked.some((url) => url.includes(tenant.token)),
    "no address holds it",
  );
  const second = await desk.context.newPage();
  await second.goto(`${desk.address}#/rules`);
  await second.getByRole("heading", { level: 1, name: "Rules" }).waitFor();
  t.notOk((await storage(second))[1].includes(tenant.token), "handed over, not stored for others");
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("Account token").waitFor();
  t.same((await storage(page))[0], "{}");
  await second.getByText("You signed out in another tab.").waitFor();
  t.same((await storage(second))[0], "{}");
  const third = await desk.context.newPage();
  await third.goto(desk.address);
  await third.getByLabel("Account token").waitFor();
  await Promise.all([second.close(), third.close()]);
  t.same(desk.broken, []);
});

t.test("a key is rotated: the secret is shown once and can be copied", async (t) => {
  const desk = await Desk.open(t, browser, server, { permissions: ["clipboard-read", "clipboard-write"] });
  const { page } = desk;
  await desk.signIn(tenant.token);
  const projectId = await newProject(server, tenant.accountId);
  await page.reload();
  await page.getByRole("combobox", { name: "Project" }).selectOption(String(projectId));
  await page.waitForURL(new RegExp(`#/overview\\?project=${projectId}$`));
  await page.goto(`${desk.address}#/rules?project=${tenant.projectId}`);
  await desk.title("Rules");
  const chosen = page.getByRole("combobox", { name: "Project" });
  t.equal(await chosen.inputValue(), String(tenant.projectId), "a link names its project");
  await page.goto(`${desk.address}#/rules?project=999999`);
  await desk.title("No project");
  await chosen.selectOption(String(projectId));
  await desk.go("Overview");
  await page.getByRole("region", { name: "The first five minutes" }).getByText("Keys: not yet").waitFor();
  await desk.go("Keys");
  await page.getByRole("button", { name: "Enable scoring" }).click();
  const dialog = page.getByRole("dialog");
  const first = await dialog.getByLabel("Shown only once").inputValue();
  t.match(first, /^sk_/);
  await dialog.getByRole("button", { name: "I have stored it" }).click();
  await page.getByRole("button", { name: "Rotate the private key" }).click();
  await desk.picture("rotate");
  await dialog.getByRole("button", { name: "Rotate" }).click();
  await dialog.getByText("The new private key").waitFor();
  const second = await dialog.getByLabel("Shown only once").inputValue();
  await dialog.getByRole("button", { name: "Copy" }).click();
  await dialog.getByText("Copied").waitFor();
  // biome-ignore lint/suspicious/noExplicitAny: the tests' types know no DOM
  t.equal(await page.evaluate(() => (globalThis as any).navigator.clipboard.readText()), second);
  t.same(await desk.barriers(), []);
  await desk.picture("secret");
  await page.keyboard.press("Escape");
  t.ok(await dialog.isVisible(), "Escape does not lose the secret");
  await dialog.getByRole("button", { name: "I have stored it" }).click();
  t.notOk((await page.content()).includes(second), "gone with the dialog");
  const verdict = (token: string) => server.ask("GET", "/v1/sessions/sess_any/verdict", { token });
  t.equal((await verdict(first)).status, 401, "the old key is refused");
  t.equal((await verdict(second)).status, 200, "the new one is good");
  t.same(desk.broken, []);
});

t.test("a token is made, used and revoked; revoking one's own signs out", async (t) => {
  const desk = await Desk.open(t, browser, server);
  const { page } = desk;
  await desk.signIn(tenant.token);
  await desk.go("Account tokens");
  await page.getByLabel("projects:write").check();
  await page.getByRole("button", { name: "Create a token" }).click();
  const dialog = page.getByRole("dialog");
  const secret = await dialog.getByLabel("Shown only once").inputValue();
  await dialog.getByRole("button", { name: "I have stored it" }).click();
  t.equal((await server.ask("GET", "/v1/account", { token: secret })).status, 200);
  const { data } = (await asked("GET", "/v1/tokens")).json;
  const made = data.at(-1);
  t.same(made.abilities, ["projects:read", "projects:write"]);
  await page.getByRole("row", { name: "projects:read, projects:write" }).waitFor();
  await desk.picture("tokens");

  const other = await Desk.open(t, browser, server);
  await other.signIn(secret);
  // A page that asks for nothing by itself: the overview would find out within its 15 s, before the click on a slow machine.
  await other.go("Keys");
  await page.getByRole("button", { name: `Revoke token ${made.id}` }).click();
  await dialog.getByRole("button", { name: "Revoke" }).click();
  await desk.says(`Token ${made.id} is revoked.`);
  t.equal((await server.ask("GET", "/v1/account", { token: secret })).status, 401);
  // One answer is late: it comes when the next token is signed in, and must not end that.
  const held = new Promise<Route>((resolve) => {
    void other.page.route("**/v1/projects/*/incidents*", resolve, { times: 1 });
  });
  await other.page.getByRole("navigation").getByRole("link", { name: "Overview", exact: true }).click();
  await other.says("The token is no longer valid: sign in again.");
  t.same((await storage(other.page))[0], "{}", "and forgotten");

  const own = (await asked("POST", "/v1/tokens", { abilities: ["*"] })).json;
  await other.signIn(own.account_token);
  const late = await held;
  const answered = other.page.waitForResponse((response) => response.request() === late.request());
  await late.continue();
  t.equal((await answered).status(), 401);
  await other.go("Account tokens");
  await other.page.getByRole("button", { name: `Revoke token ${own.id}` }).click();
  await other.page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await other.says("The token is revoked.");
  t.same([...desk.broken, ...other.broken], []);
});
