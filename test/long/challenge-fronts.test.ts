/** A real Chromium and a real Firefox pass verdictd's challenge through each proxy recipe and middleware: a navigation, a form, a script's fetch. */
import t, { type Test } from "tap";
import { openShop, type Shop, sessionScript, untilScored } from "../challenge/challenged-site.js";
import { fronts } from "../challenge/fronts.js";
import { type Arrive, type Tab, throughPlaywright, throughPuppeteer } from "../sdk/visitor.js";
import { launch, noChromium } from "../support/chromium.js";
import { launchFirefox, noFirefox } from "../support/firefox.js";

/** Asks again while the page that is asked goes away: a page that has passed loads itself anew. */
async function until(tab: Tab, condition: string): Promise<void> {
  let last: unknown;
  for (let tries = 0; tries < 600; tries++) {
    try {
      last = await tab.evaluate(condition);
      if (last === true) return;
    } catch (error) {
      last = error;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${condition}: ${String(last)}`);
}

const says = (text: string): string => `document.body?.innerText.includes(${JSON.stringify(text)}) === true`;

async function visit(t: Test, shop: Shop, arrive: Arrive, address: string): Promise<Tab> {
  const visitor = await arrive();
  t.teardown(() => visitor.leave());
  const tab = await visitor.open();
  await tab.goto(address);
  await untilScored(shop, String(await tab.evaluate(sessionScript)));
  return tab;
}

/** How the present document was come to, and where it is. */
const whereScript =
  '[performance.getEntriesByType("navigation")[0].type, location.pathname + location.search + location.hash]';

async function throughFront(t: Test, shop: Shop, arrive: Arrive, origin: string): Promise<void> {
  await t.test("a navigation arrives where it was going, and the next is not challenged", async (t) => {
    const tab = await visit(t, shop, arrive, origin);
    await tab.evaluate('void setTimeout(() => { location.href = "/c/page?a=b#part"; })');
    await until(tab, says("You are in"));
    t.same(await tab.evaluate(whereScript), ["reload", "/c/page?a=b#part"], "the challenge's page loaded it again");
    await tab.goto(`${origin}/c/page?c=d`);
    await until(tab, says("You are in"));
    t.same(await tab.evaluate(whereScript), ["navigate", "/c/page?c=d"]);
  });
  await t.test("a posted form is not lost silently, and sent again it arrives", async (t) => {
    const tab = await visit(t, shop, arrive, `${origin}/form`);
    const press = 'void setTimeout(() => document.querySelector("main button").click())';
    await tab.evaluate(press);
    await until(tab, says("Your form was not sent"));
    await tab.evaluate(press);
    await until(tab, 'document.querySelector("form button") !== null');
    await tab.evaluate(press);
    await until(tab, says("Your form has arrived"));
  });
  await t.test("a script's fetch is told, and passes", async (t) => {
    const tab = await visit(t, shop, arrive, origin);
    const script = `(async () => {
      const refused = await fetch("/c/data");
      const { code } = await refused.json();
      const passed = await window.verdictd.challenge();
      return { status: refused.status, action: refused.headers.get("x-verdict-action"), code, passed, after: await (await fetch("/c/data")).json() };
    })()`;
    t.same(await tab.evaluate(script), {
      status: 403,
      action: "challenge",
      code: "CHALLENGE_REQUIRED",
      passed: true,
      after: { secret: 1 },
    });
  });
}

const shop = await openShop(t);
for (const [name, missing, start] of [
  ["Chromium", noChromium, async (t: Test) => throughPlaywright(await launch(t))],
  ["Firefox", noFirefox, async (t: Test) => throughPuppeteer(await launchFirefox(t))],
] as const) {
  t.test(name, { skip: missing ?? false }, async (t) => {
    const arrive = await start(t);
    for (const front of fronts) {
      await t.test(front.name, { skip: front.missing ?? false }, async (t) => {
        await throughFront(t, shop, arrive, await front.open(t, shop));
      });
    }
  });
}
