/** A real Chromium passes verdictd's challenge without being asked to: page, form, script, tabs, policies, and what is told where it fails. */
import AxeBuilder from "axe-core";
import type { BrowserContext, Page } from "playwright-core";
import t, { type Test } from "tap";
import { sessionScript, untilScored } from "../challenge/challenged-site.js";
import { type ChallengedSite, openChallengedSite } from "../challenge/fronts.js";
import { launchUsual, noChromium } from "../support/chromium.js";

/** The page loads itself anew when it has passed, which may be before it has loaded. */
const atOnce = { waitUntil: "commit" } as const;

async function visit(site: ChallengedSite, context: BrowserContext, path = "/"): Promise<Page> {
  const page = await context.newPage();
  await page.goto(site.origin + path);
  await untilScored(site, String(await page.evaluate(sessionScript)));
  return page;
}

t.test("Chromium", { skip: noChromium ?? false }, async (t) => {
  const site = await openChallengedSite(t);
  const browser = await launchUsual(t);
  // Pages that stay open go on working, beside the tests that follow.
  const visitor = async (t: Test, options: Parameters<typeof browser.newContext>[0] = {}): Promise<BrowserContext> => {
    const context = await browser.newContext(options);
    t.teardown(() => context.close());
    return context;
  };

  await t.test("a navigation ends on the page that was asked for, and stays cleared", async (t) => {
    const page = await visit(site, await visitor(t));
    const answer = await page.goto(`${site.origin}/c/page?a=b#part`, atOnce);
    t.equal(answer?.status(), 403);
    t.equal(answer?.headers()["x-verdict-action"], "challenge");
    t.equal(answer?.headers()["cache-control"], "no-store");
    await page.getByText("You are in").waitFor();
    t.equal(page.url(), `${site.origin}/c/page?a=b#part`);
    t.equal((await page.goto(`${site.origin}/c/page`))?.status(), 200);
  });

  await t.test("ten tabs at once all pass", async (t) => {
    const context = await visitor(t);
    const first = await visit(site, context);
    const tabs = [first, ...(await Promise.all(Array.from({ length: 9 }, () => context.newPage())))];
    await Promise.all(tabs.map((tab) => tab.goto(`${site.origin}/c/page`, atOnce)));
    await Promise.all(tabs.map((tab) => tab.getByText("You are in").waitFor()));
    t.pass("all ten are in");
  });

  await t.test("a form that was posted is not lost silently", async (t) => {
    const page = await visit(site, await visitor(t), "/form");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText("Your form was not sent").waitFor();
    await page.getByRole("button", { name: "Go back" }).click();
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText("Your form has arrived").waitFor();
    t.pass("sent again it arrives");
  });

  const fetchThroughChallenge = (headers = "{}") => `(async () => {
    const ask = () => fetch("/c/data", { headers: ${headers} });
    const refused = await ask();
    const body = await refused.json();
    const passed = await Promise.all([window.verdictd.challenge(), window.verdictd.challenge()]);
    const answered = await ask();
    return { status: refused.status, action: refused.headers.get("x-verdict-action"), code: body.code, passed, after: answered.status };
  })()`;
  const throughScript = {
    status: 403,
    action: "challenge",
    code: "CHALLENGE_REQUIRED",
    passed: [true, true],
    after: 200,
  };

  await t.test("a script's fetch is told, and passes by verdictd.challenge()", async (t) => {
    const page = await visit(site, await visitor(t));
    t.same(await page.evaluate(fetchThroughChallenge()), throughScript);
  });

  await t.test("with the cookie off, by the token in memory", async (t) => {
    const page = await visit(site, await visitor(t), "/cookieless");
    const own = '{ "X-Service-Session": window.verdictd.token() }';
    t.same(await page.evaluate(fetchThroughChallenge(own)), throughScript);
    t.same(await page.context().cookies(), []);
  });

  await t.test("under a strict policy with Trusted Types", async (t) => {
    const page = await visit(site, await visitor(t), "/strict");
    const workers: string[] = [];
    page.on("worker", (worker) => workers.push(new URL(worker.url()).pathname));
    t.same(await page.evaluate(fetchThroughChallenge()), throughScript);
    t.ok(workers.includes("/challenge.js"), "in a worker");
  });

  await t.test("without Web Crypto, as on plain HTTP, and without workers", async (t) => {
    const context = await visitor(t);
    await context.addInitScript("delete Crypto.prototype.subtle; delete window.Worker;");
    const page = await visit(site, context);
    t.same(await page.evaluate(fetchThroughChallenge()), throughScript);
  });

  await t.test("what the page says while it works and when it fails, to everybody", async (t) => {
    for (const colorScheme of ["light", "dark"] as const) {
      const context = await visitor(t, { viewport: { width: 320, height: 640 }, colorScheme, reducedMotion: "reduce" });
      const page = await visit(site, context);
      let answer: (status: number) => void = () => {};
      const held = new Promise<number>((resolve) => {
        answer = resolve;
      });
      await page.route("**/v1/challenges", async (route) => route.fulfill({ status: await held, body: "{}" }));
      await page.goto(`${site.origin}/c/page`);
      await page.getByRole("status").getByText("Checking").waitFor();
      const faults = async (): Promise<unknown> => {
        // The page's own policy lets no script of ours in; the debugger's evaluation is not held by it.
        await page.evaluate(AxeBuilder.source);
        const { violations } = (await page.evaluate("axe.run()")) as { violations: { id: string; nodes: object[] }[] };
        return violations.map(({ id }) => id);
      };
      t.same(await faults(), [], `axe-core finds nothing, ${colorScheme}`);
      t.equal(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), true, "it fits 320 px");
      t.equal(await page.locator("progress").isVisible(), false, "nothing moves for who wants no motion");
      t.match(await page.locator("code").textContent(), /^[\w-]{8,}$/, "an id for support");
      answer(409);
      await page.getByRole("status").getByText("did not work").waitFor();
      t.ok(await page.getByRole("button", { name: "Try again" }).isVisible());
      t.same(await faults(), []);
    }
  });

  await t.test("a pass that does not hold is not tried without end", async (t) => {
    const page = await visit(site, await visitor(t));
    let passes = 0;
    await page.route("**/v1/challenges/solution", (route) => {
      passes++;
      return route.fulfill({ json: { cleared: true } });
    });
    await page.goto(`${site.origin}/c/page`, atOnce);
    await page.getByRole("status").getByText("could not confirm").waitFor();
    t.match(await page.locator("code").textContent(), /^[\w-]{8,}$/, "with the reference");
    t.equal(await page.getByRole("button").count(), 0, "which no button leads around before half a minute is over");
    await page.getByRole("button", { name: "Try again" }).waitFor();
    t.equal(passes, 1, "no further work, until the visitor wants it");
  });

  await t.test("in the visitor's language, right to left where it is", async (t) => {
    const page = await visit(
      site,
      await visitor(t, { locale: "ar-EG", extraHTTPHeaders: { "Accept-Language": "ar-EG,en;q=0.5" } }),
    );
    await page.route("**/v1/challenges", (route) => route.abort());
    await page.goto(`${site.origin}/c/page`, atOnce);
    await page.locator("h1").waitFor();
    t.same(await page.evaluate("[document.documentElement.lang, document.documentElement.dir]"), ["ar", "rtl"]);
    t.match(await page.locator("h1").textContent(), /لحظة/);
  });

  await t.test("without JavaScript the page says what to do", async (t) => {
    const scripted = await visitor(t);
    const page = await visit(site, scripted);
    const plain = await visitor(t, { javaScriptEnabled: false, storageState: await scripted.storageState() });
    await page.close();
    const reader = await plain.newPage();
    t.equal((await reader.goto(`${site.origin}/c/page`))?.status(), 403);
    t.match(await reader.locator("main").innerText(), /needs JavaScript/);
    t.match(await reader.locator("code").textContent(), /^[\w-]{8,}$/);
  });
});
