/** A real Chromium and a real Firefox pass verdictd's challenge through each proxy recipe and middleware: a navigation, a form, a script's fetch. */
import t, { type Test } from "tap";
import { openShop, type Shop, sessionScript, untilScored } from "../challenge/challenged-site.js";
import { fronts } from "../challenge/fronts.js";
import { type Arrive, type Tab, throughPlaywright, throughPuppeteer } from "../sdk/visitor.js";
import { launch, noChromium } from "../support/chromium.js";
import { launchFirefox, noFirefox } from "../support/firefox.js";
import { waitUntil } from "../support/wait-until.js";

/** Asks again while the page that is asked goes away: a page that has passed loads itself anew. */
async function until(tab: Tab, condition: string): Promise<void> {
  const last = await waitUntil<unknown>(
    () => tab.evaluate(condition).catch((error: unknown) => error),
    (seen) => seen === true,
  );
  if (last !== true) throw new Error(`${condition}: ${String(last)}`);
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
    t.same(await tab.evaluate(fetchScript()), throughScript);
  });
}

/** Asks, passes by `verdictd.challenge()` and asks again, with these headers. */
const fetchScript = (headers = "{}"): string => `(async () => {
  const ask = () => fetch("/c/data", { headers: ${headers} });
  const refused = await ask();
  const { code } = await refused.json();
  const passed = await window.verdictd.challenge();
  return { status: refused.status, action: refused.headers.get("x-verdict-action"), code, passed, after: await (await ask()).json() };
})()`;
const throughScript = {
  status: 403,
  action: "challenge",
  code: "CHALLENGE_REQUIRED",
  passed: true,
  after: { secret: 1 },
};

/** What hangs on the browser and not on what stands in front of the site. */
async function inBrowser(t: Test, shop: Shop, arrive: Arrive, origin: string): Promise<void> {
  await t.test("under a strict policy with Trusted Types", async (t) => {
    const tab = await visit(t, shop, arrive, `${origin}/strict`);
    t.same(await tab.evaluate(fetchScript()), throughScript);
  });
  await t.test("with the cookie off, by the token in memory", async (t) => {
    const tab = await visit(t, shop, arrive, `${origin}/cookieless`);
    t.equal(await tab.evaluate("document.cookie"), "");
    t.same(await tab.evaluate(fetchScript('{ "X-Service-Session": window.verdictd.token() }')), throughScript);
  });
  await t.test("ten tabs at once", async (t) => {
    const visitor = await arrive();
    t.teardown(() => visitor.leave());
    const tabs: Tab[] = [];
    for (let count = 0; count < 10; count++) tabs.push(await visitor.open());
    await tabs[0]!.goto(origin);
    await untilScored(shop, String(await tabs[0]!.evaluate(sessionScript)));
    // All are on the site before any is challenged; then all go at once.
    for (const tab of tabs) await tab.goto(origin);
    await Promise.all(tabs.map((tab) => tab.evaluate('void setTimeout(() => { location.href = "/c/page"; })')));
    await Promise.all(tabs.map((tab) => until(tab, says("You are in"))));
    t.pass("all ten are in");
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
        const origin = await front.open(t, shop);
        await throughFront(t, shop, arrive, origin);
        if (front.name === "Express") await inBrowser(t, shop, arrive, origin);
      });
    }
  });
}
