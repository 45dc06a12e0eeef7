/** Hostile values where pages could show them, in a real browser: nothing of them runs, nothing becomes an element, the policy is in force. */
import { createServer } from "node:http";
import type { Browser, Page } from "playwright-core";
import t, { type Test } from "tap";
import { denialResponse } from "../../src/middleware/denial-page.js";
import { launch, noChromium } from "../support/chromium.js";
import { listening } from "../support/listening.js";
import { startServer } from "../support/server.js";

const hostile = `"><img src=x onerror="globalThis.hit=1"><script>globalThis.hit=1</script>'--></title><svg onload=hit=1>`;

/** What the page made of it; `planted` is what an attacker would want to be there. */
async function looked(t: Test, page: Page, name: string): Promise<void> {
  // biome-ignore lint/suspicious/noExplicitAny: the tests' types know no DOM
  t.equal(await page.evaluate(() => (globalThis as any).hit), undefined, `${name}: nothing ran`);
  t.equal(await page.locator('img[src="x"], svg[onload], [onerror]').count(), 0, `${name}: nothing became an element`);
}

/** Whether a script that somebody got into the page after all would run: the policy's part of the promise. */
async function runsInline(page: Page): Promise<boolean> {
  return page.evaluate(() => {
    // biome-ignore lint/suspicious/noExplicitAny: the tests' types know no DOM
    const world = globalThis as any;
    const script = world.document.createElement("script");
    try {
      script.textContent = "globalThis.planted = 1";
    } catch {
      // Trusted Types: not even the text is taken.
      return false;
    }
    world.document.body.append(script);
    return world.planted === 1;
  });
}

t.test("hostile values", { skip: noChromium ?? false }, async (t) => {
  const browser: Browser = await launch(t);

  await t.test("on the page of a visitor who is not let through", async (t) => {
    const pages = { block: { title: hostile, message: hostile, contact: hostile } };
    const site = createServer((request, response) => {
      const { status, headers, body } = denialResponse(
        { kind: "block", verdictId: decodeURIComponent(request.url ?? "") },
        "text/html",
        pages,
      );
      response.writeHead(status, headers).end(body);
    });
    const page = await browser.newPage();
    await page.goto(`http://${await listening(t, site)}/${encodeURIComponent(hostile)}`);
    await looked(t, page, "block page");
    t.equal(await page.getByText(hostile).count(), 3, "it is shown as the text it is");
    t.equal(await runsInline(page), false, "the policy stops what escaping would miss");
    await page.close();
  });

  await t.test("in the demo, its address and the visitor's user agent", async (t) => {
    const server = await startServer(t, ["--demo"]);
    const context = await browser.newContext({ userAgent: `Mozilla/5.0 ${hostile}` });
    const page = await context.newPage();
    const reported = page.waitForResponse((answer) => answer.url().includes("/v1/events") && answer.status() === 202);
    const shown = page.waitForResponse((answer) => answer.url().includes("/demo/verdict"));
    await page.goto(
      `http://127.0.0.1:${server.port}/demo?q=${encodeURIComponent(hostile)}#${encodeURIComponent(hostile)}`,
    );
    await Promise.all([reported, shown]);
    await looked(t, page, "demo");
    t.equal(await runsInline(page), false);
    for (const path of ["/docs", "/console", "/nothing"]) {
      await page.goto(`http://127.0.0.1:${server.port}${path}?q=${encodeURIComponent(hostile)}`);
      await looked(t, page, path);
      if (path !== "/nothing") t.equal(await runsInline(page), false, `${path}: the policy is in force`);
    }
    await context.close();
  });
});
