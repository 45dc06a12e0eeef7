/** The rule of every dialog of the console that asks before something is done, in a real browser. */
import type { Locator, Route } from "playwright-core";
import t, { type Test } from "tap";
import { Desk, focusedName } from "../console/desk.js";
import { consoleServer } from "../console/visited-desk.js";
import { noChromium, skipFileIf } from "../support/chromium.js";
import { waitUntil } from "../support/wait-until.js";

skipFileIf(t, noChromium);

const { server, tenant, browser } = await consoleServer(t);

/** The list of tokens with one to revoke, and the dialog that asks about it, which is closed. */
async function tokensPage(t: Test) {
  const made = (await server.ask("POST", "/v1/tokens", { token: tenant.token, body: { abilities: ["*"] } })).json;
  const desk = await Desk.open(t, browser, server);
  await desk.signIn(tenant.token);
  await desk.go("Account tokens");
  const { page } = desk;
  const name = `Revoke token ${made.id}`;
  const dialog = page.getByRole("dialog", { name: `${name}?` });
  const open = async () => {
    await page.getByRole("button", { name }).click();
    await dialog.waitFor();
  };
  const closed = () => dialog.waitFor({ state: "hidden" });
  // The focus comes back when all that goes with the dialog is gone.
  const focused = (name: string) =>
    waitUntil(
      () => page.evaluate(focusedName),
      (seen) => seen === name,
    );
  const yes = dialog.getByRole("button", { name: "Revoke" });
  const exists = async () => (await server.ask("GET", "/v1/account", { token: made.account_token })).status === 200;
  return { desk, page, name, dialog, open, closed, focused, yes, exists, path: `**/v1/tokens/${made.id}` };
}

/** Where a dialog is once it is seen and no longer moves: its text may come in another font, or its browser close it for a moment. */
async function settledBox(dialog: Locator) {
  let before = "";
  const look = async () => {
    const box = await dialog.boundingBox();
    const isSettled = box !== null && JSON.stringify(box) === before;
    before = JSON.stringify(box);
    return isSettled ? box : null;
  };
  return (await waitUntil(look, (box) => box !== null))!;
}

t.test("a dialog that failed says why and stays open; opened again it has forgotten", async (t) => {
  const { desk, page, dialog, open, closed, yes, exists, path } = await tokensPage(t);
  await page.route(path, (route) => route.abort(), { times: 1 });
  await open();
  await yes.click();
  await dialog.getByRole("alert").waitFor();
  t.ok(await dialog.isVisible());
  t.ok(await exists());
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await closed();
  t.equal(await page.getByRole("alert").count(), 0, "nor is it said on the page");
  await open();
  t.equal(await dialog.getByRole("alert").count(), 0);
  await yes.click();
  await closed();
  t.notOk(await exists(), "it is done by a later try");
  t.same(desk.broken, []);
});

t.test("an action that failed on the page is forgotten once a dialog's action has succeeded", async (t) => {
  const { desk, page, open, closed, yes, exists } = await tokensPage(t);
  await page.route("**/v1/tokens", (route) => (route.request().method() === "POST" ? route.abort() : route.fallback()));
  await page.getByRole("button", { name: "Create a token" }).click();
  await page.getByRole("alert").waitFor();
  await open();
  await yes.click();
  await closed();
  t.notOk(await exists());
  t.equal(await page.getByRole("alert").count(), 0);
  t.same(desk.broken, []);
});

for (const isCancelledFirst of [false, true]) {
  const claim = isCancelledFirst
    ? "one that was told of when the dialog was cancelled is forgotten once the next dialog's action has succeeded"
    : "an action of the page that fails behind a dialog is told of after the dialog's action has succeeded";
  t.test(claim, async (t) => {
    const { desk, page, dialog, open, closed, yes, exists } = await tokensPage(t);
    const held = new Promise<Route>((resolve) => {
      void page.route("**/v1/tokens", (route) =>
        route.request().method() === "POST" ? resolve(route) : void route.fallback(),
      );
    });
    await page.getByRole("button", { name: "Create a token" }).click();
    const route = await held;
    await open();
    await route.abort();
    const fault = page.locator("main .fault");
    await fault.waitFor();
    if (isCancelledFirst) {
      const inert = await fault.elementHandle();
      await dialog.getByRole("button", { name: "Cancel" }).click();
      await closed();
      // Screen readers read out an alert that comes into the page, not one that was there while it was inert.
      await inert!.waitForElementState("hidden");
      t.equal(await fault.count(), 1);
      await open();
    }
    await yes.click();
    await closed();
    t.notOk(await exists());
    t.equal(await fault.count(), isCancelledFirst ? 0 : 1);
    t.same(desk.broken, []);
  });
}

t.test("Escape and a press outside close it, and the focus goes back to the button", async (t) => {
  const { page, name, dialog, open, closed, focused, exists } = await tokensPage(t);
  await open();
  await page.keyboard.press("Escape");
  await closed();
  t.equal(await focused(name), name);
  await open();
  const { x, y, width } = await settledBox(dialog);
  await page.mouse.move(x + 5, y + 5);
  await page.mouse.down();
  await page.mouse.move(x - 20, y + 5);
  await page.mouse.up();
  t.ok(await dialog.isVisible(), "what was pressed inside ends outside");
  await page.mouse.click(x + 5, y + 5);
  t.ok(await dialog.isVisible(), "its edge is inside");
  await page.mouse.click(x + width + 20, y + 5);
  await closed();
  t.equal(await focused(name), name);
  t.ok(await exists(), "nothing was done");
});

t.test(
  "while it runs, a second click does nothing and nothing closes it; then the focus goes where it can",
  async (t) => {
    const { desk, page, dialog, open, closed, focused, yes, exists, path } = await tokensPage(t);
    let calls = 0;
    const held = new Promise<Route>((resolve) => {
      void page.route(path, (route) => {
        calls++;
        resolve(route);
      });
    });
    await open();
    await yes.click();
    const route = await held;
    await yes.click({ force: true });
    await dialog.getByRole("button", { name: "Cancel" }).click({ force: true });
    // Chromium closes a dialog by the second Escape, whatever was said to the first.
    for (let presses = 0; presses < 3; presses++) await page.keyboard.press("Escape");
    await page.mouse.click(5, 5);
    // One that the browser closed opens again in the task of its event.
    await settledBox(dialog);
    t.ok(await exists());
    await route.continue();
    await closed();
    t.equal(calls, 1);
    t.notOk(await exists());
    t.ok(await focused("Account tokens"), "the button is gone: the title has it");
    t.same(desk.broken, []);
  },
);
