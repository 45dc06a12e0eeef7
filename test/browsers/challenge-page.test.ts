/** The challenge's page where things are not as usual: a refusal, refused storage, old libraries, a script that never comes, frames, shadowed cookies. */
import AxeBuilder from "axe-core";
import type { BrowserContext, Page } from "playwright-core";
import t, { type Test } from "tap";
import { sessionScript, untilScored } from "../challenge/challenged-site.js";
import { type ChallengedSite, openChallengedSite } from "../challenge/fronts.js";
import { launch, launchUsual, noChromium } from "../support/chromium.js";
import { waitUntil } from "../support/wait-until.js";

/** The page loads itself anew when it has passed, which may be before it has loaded. */
const atOnce = { waitUntil: "commit" } as const;

async function visit(site: ChallengedSite, context: BrowserContext, address = `${site.origin}/`): Promise<Page> {
  const page = await context.newPage();
  await page.goto(address);
  await untilScored(site, String(await page.evaluate(sessionScript)));
  return page;
}

/** What axe-core finds. */
async function faults(page: Page): Promise<readonly string[]> {
  // The page's own policy lets no script of ours in; the debugger's evaluation is not held by it.
  await page.evaluate(AxeBuilder.source);
  const { violations } = (await page.evaluate("axe.run()")) as { violations: { id: string }[] };
  return violations.map(({ id }) => id);
}

t.test("Chromium", { skip: noChromium ?? false }, async (t) => {
  const site = await openChallengedSite(t);
  const browser = await launchUsual(t, ["--host-resolver-rules=MAP *.test 127.0.0.1"]);
  // Pages that stay open go on working, beside the tests that follow.
  const visitor = async (t: Test, script = ""): Promise<BrowserContext> => {
    const context = await browser.newContext();
    t.teardown(() => context.close());
    if (script !== "") await context.addInitScript(script);
    return context;
  };

  await t.test("a browser that a program drives is refused, with the reference, and starts no more work", async (t) => {
    const driven = await launch(t);
    const page = await visit(site, await driven.newContext());
    const sent: [path: string, status: number][] = [];
    page.on("response", (answer) => {
      const { pathname } = new URL(answer.url());
      if (pathname.startsWith("/v1/challenges")) sent.push([pathname, answer.status()]);
    });
    const answer = await page.goto(`${site.origin}/c/page`, atOnce);
    await page.getByRole("status").getByText("could not confirm").waitFor();
    t.equal(await page.locator("code").textContent(), answer?.headers()["x-verdict-id"]);
    t.equal(await page.locator("progress").isVisible(), false);
    t.same(await faults(page), []);
    await waitUntil(
      async () => sent.length,
      (count) => count >= 3,
    );
    t.same(sent, [
      ["/v1/challenges", 200],
      ["/v1/challenges/solution", 403],
      ["/v1/challenges", 403],
    ]);
    await page.close();
  });

  await t.test(
    "without sessionStorage it passes, and a pass that does not hold is not tried without end",
    async (t) => {
      const refused =
        'Object.defineProperty(window, "sessionStorage", { get() { throw new DOMException("refused", "SecurityError"); } });';
      const page = await visit(site, await visitor(t, refused));
      await page.goto(`${site.origin}/c/page`, atOnce);
      await page.getByText("You are in").waitFor();
      const other = await visit(site, await visitor(t, refused));
      let passes = 0;
      await other.route("**/v1/challenges/solution", (route) => {
        passes++;
        return route.fulfill({ json: { cleared: true } });
      });
      await other.goto(`${site.origin}/c/page`, atOnce);
      await other.getByRole("status").getByText("could not confirm").waitFor();
      t.equal(passes, 1);
    },
  );

  await t.test("where cookies are refused a form is not asked for again and again", async (t) => {
    const page = await visit(site, await visitor(t), `${site.origin}/form`);
    // As Chromium's setting has it; by then the session's own cookie is there.
    const debuggerSession = await page.context().newCDPSession(page);
    await debuggerSession.send("Emulation.setDocumentCookieDisabled", { disabled: true });
    await page.getByRole("button", { name: "Send" }).click({ noWaitAfter: true });
    await page.getByRole("status").getByText("could not confirm").waitFor();
    t.equal(await page.getByText("Your form was not sent").count(), 0);
    await page.close();
  });

  await t.test("where a library has replaced toJSON", async (t) => {
    const context = await visitor(
      t,
      `
      Array.prototype.toJSON = function () { return JSON.stringify(Array.from(this, String)); };
      Object.defineProperty(Object.prototype, "toJSON", { value() { return "replaced"; }, configurable: true, writable: true });
    `,
    );
    const page = await context.newPage();
    const bodies: string[] = [];
    page.on("request", (request) => {
      if (request.url().endsWith("/v1/challenges/solution")) bodies.push(request.postData() ?? "");
    });
    await page.goto(`${site.origin}/`);
    await untilScored(site, String(await page.evaluate(sessionScript)));
    await page.goto(`${site.origin}/c/page`, atOnce);
    await page.getByText("You are in").waitFor();
    t.equal(JSON.parse(Buffer.from(JSON.parse(bodies[0]!).solution, "base64").toString("utf8")).length, 8);
  });

  await t.test("where challenge.js does not come, the style alone tells, with a link and the reference", async (t) => {
    const page = await visit(site, await visitor(t));
    let isStuck = true;
    await page.route("**/challenge.js", (route) => (isStuck ? undefined : route.continue()));
    await page.goto(`${site.origin}/c/page`, atOnce);
    const late = page.locator(".late");
    await late.waitFor({ state: "attached" });
    t.equal(await late.isVisible(), false);
    await late.waitFor({ state: "visible" });
    t.ok(await late.getByRole("link", { name: "Try again" }).isVisible());
    t.match(await page.locator("code").textContent(), /^[\w-]{8,}$/);
    t.same(await faults(page), []);
    isStuck = false;
    await late.getByRole("link", { name: "Try again" }).click({ noWaitAfter: true });
    await page.getByText("You are in").waitFor();
  });

  await t.test("in the site's own frame it shows and passes", async (t) => {
    const page = await visit(site, await visitor(t));
    await page.goto(`${site.origin}/frame`, atOnce);
    await page.frameLocator("iframe").getByText("You are in").waitFor();
    t.pass("the order is shown in its frame");
  });

  await t.test("a cookie of the whole domain stays the only one", async (t) => {
    const context = await visitor(t);
    const origin = `http://www.shop.test:${new URL(site.origin).port}`;
    const page = await visit(site, context, `${origin}/domain`);
    const ownCookies = async () => (await context.cookies()).filter(({ name }) => name === "service_session");
    const before = await waitUntil(ownCookies, (all) => all.length > 0);
    t.match(before, [{ domain: ".shop.test" }]);
    await page.goto(`${origin}/c/page`, atOnce);
    await page.getByText("You are in").waitFor();
    await page.evaluate(sessionScript);
    const after = await waitUntil(ownCookies, (all) => all.length === 1);
    t.match(after, [{ domain: ".shop.test", value: before[0]!.value }]);
  });
});
