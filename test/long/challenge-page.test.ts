/**
 * The challenge page in each of its states as people meet it: by screen reader, keyboard, zoom and language, with motion and JavaScript off; and
 * a tab that slept while its challenge expired.
 */
import AxeBuilder from "axe-core";
import type { Browser, BrowserContext, Page } from "playwright-core";
import t, { type Test } from "tap";
import { rendererPids } from "../../bench/challenge/slow-renderer.js";
import { makePuzzles, puzzleKeys } from "../../src/challenge/puzzle.js";
import { challengeTexts } from "../../src/middleware/challenge-texts.js";
import { sessionScript, untilScored } from "../challenge/challenged-site.js";
import { openChallengedSite } from "../challenge/fronts.js";
import { launch, noChromium, skipFileIf } from "../support/chromium.js";

skipFileIf(t, noChromium);

const site = await openChallengedSite(t);
const browser: Browser = await launch(t);
type ContextOptions = Parameters<Browser["newContext"]>[0];

/** A page of a visitor whose session has a score, so that the next request to `/c/…` is challenged. */
async function visit(t: Test, options: ContextOptions = {}, path = "/"): Promise<Page> {
  const context = await browser.newContext(options);
  t.teardown(() => context.close());
  const page = await context.newPage();
  await page.goto(site.origin + path);
  await untilScored(site, String(await page.evaluate(sessionScript)));
  return page;
}

const states = ["working", "failed", "done", "form"] as const;
type State = (typeof states)[number];

/** Brings the page into a state and keeps it there. */
async function bring(page: Page, state: State): Promise<void> {
  if (state === "working") await page.route("**/v1/challenges", () => {});
  if (state === "failed") await page.route("**/v1/challenges", (route) => route.fulfill({ status: 409, body: "{}" }));
  if (state === "form") {
    await page.goto(`${site.origin}/form`);
    await page.getByRole("button", { name: "Send" }).click();
  } else {
    let loads = 0;
    // The page loads itself again once it has passed; an answer without content leaves it where it is.
    if (state === "done") {
      await page.route("**/c/page", (route) => (loads++ === 0 ? route.continue() : route.fulfill({ status: 204 })));
    }
    await page.goto(`${site.origin}/c/page`, { waitUntil: "commit" });
  }
}

interface Spoken {
  readonly role: string;
  readonly name: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** What a screen reader is given, in its order. */
async function spoken(page: Page): Promise<Spoken[]> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send("Accessibility.getFullAXTree");
  await session.detach();
  return nodes
    .filter(({ ignored }) => !ignored)
    .map(({ role, name, properties = [] }) => ({
      role: String(role?.value),
      name: String(name?.value ?? "").trim(),
      properties: Object.fromEntries(properties.map((each) => [each.name, each.value.value])),
    }));
}

async function faultsOf(page: Page): Promise<string[]> {
  // The page's own policy lets no script of ours in; the debugger's evaluation is not held by it.
  await page.evaluate(AxeBuilder.source);
  const rules = '{ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }';
  const { violations } = (await page.evaluate(`axe.run(${rules})`)) as { violations: { id: string }[] };
  return violations.map(({ id }) => id);
}

for (const language of Object.keys(challengeTexts)) {
  const texts = challengeTexts[language]!;
  const statusOf: Record<State, string> = {
    working: texts.working,
    failed: texts.failed,
    done: texts.done,
    form: texts.form,
  };
  const buttonOf: Record<State, string | null> = { working: null, failed: texts.again, done: null, form: texts.back };

  t.test(`${language}: each state by screen reader, keyboard and axe-core`, async (t) => {
    for (const state of states) {
      const colorScheme = states.indexOf(state) % 2 === 0 ? "light" : "dark";
      const page = await visit(t, { locale: language, colorScheme });
      await bring(page, state);
      await page.getByRole("status").getByText(statusOf[state], { exact: true }).waitFor();
      const button = buttonOf[state];
      // It comes with the words, in one step of the script.
      const heard = await spoken(page);
      const of = (role: string): Spoken[] => heard.filter((each) => each.role === role);
      t.same(
        of("RootWebArea").map(({ name }) => name),
        [texts.title],
        `${state}: the tab's title`,
      );
      t.match(of("main"), [{ role: "main" }], "one landmark");
      t.match(of("heading"), [{ name: texts.title, properties: { level: 1 } }]);
      t.match(of("status"), [{ properties: { live: "polite", atomic: true } }], "a live region tells how it goes");
      t.same(
        of("button").map(({ name }) => name),
        button === null ? [] : [button],
      );
      t.same(
        of("progressbar").map(({ name }) => name),
        state === "working" ? [texts.working] : [],
      );
      const read = of("StaticText").map(({ name }) => name);
      t.ok(read.includes(texts.message) && read.includes(texts.reference), "what happens, and the words before the id");
      t.ok(read.indexOf(texts.message) < read.indexOf(statusOf[state]), "in the order in which it is read");
      t.same(await page.evaluate("[document.documentElement.lang, document.documentElement.dir]"), [
        language,
        language === "ar" ? "rtl" : "ltr",
      ]);
      t.equal(await page.evaluate("getComputedStyle(document.body).direction"), language === "ar" ? "rtl" : "ltr");
      await page.keyboard.press("Tab");
      t.equal(await page.evaluate("document.activeElement?.textContent ?? null"), button ?? (await bodyText(page)));
      t.same(await faultsOf(page), [], `${state}: axe-core finds nothing, ${colorScheme}`);
      await page.context().close();
    }
  });

  t.test(`${language}: zoomed to 200 % and 400 %, and with letters twice as large, nothing is cut off`, async (t) => {
    const page = await visit(t, { locale: language });
    await bring(page, "failed");
    await page.getByRole("button", { name: texts.again }).waitFor();
    for (const [width, height, letters] of [
      [640, 512, 1],
      [320, 256, 1],
      [320, 640, 2],
    ] as const) {
      await page.setViewportSize({ width, height });
      await page.evaluate(`document.documentElement.style.fontSize = "${letters * 100}%"`);
      const outside = await page.evaluate(`[...document.querySelectorAll("main *")].filter((each) => {
        const { left, right } = each.getBoundingClientRect();
        return left < 0 || right > innerWidth || each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 0;
      }).map(({ tagName }) => tagName)`);
      t.same(outside, [], `${width} px, letters times ${letters}`);
      t.equal(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), true);
    }
  });

  t.test(`${language}: without JavaScript it says what to do, with the id`, async (t) => {
    const page = await visit(t, { locale: language });
    const storageState = await page.context().storageState();
    const plain: BrowserContext = await browser.newContext({
      locale: language,
      javaScriptEnabled: false,
      storageState,
    });
    t.teardown(() => plain.close());
    const reader = await plain.newPage();
    t.equal((await reader.goto(`${site.origin}/c/page`))?.status(), 403);
    const text = await reader.locator("main").innerText();
    t.ok(text.includes(texts.noScript), text);
    t.match(await reader.locator("code").innerText(), /^[\w-]{8,}$/);
  });
}

function bodyText(page: Page): Promise<unknown> {
  return page.evaluate("document.body.textContent");
}

t.test("nothing moves for who wants no motion", async (t) => {
  for (const [reducedMotion, isShown] of [
    ["reduce", false],
    ["no-preference", true],
  ] as const) {
    const page = await visit(t, { reducedMotion });
    await bring(page, "working");
    await page.getByRole("status").waitFor();
    await page.locator(".late").waitFor({ state: "detached" });
    t.equal(await page.locator("progress").isVisible(), isShown, reducedMotion);
    t.same(await page.evaluate("document.getAnimations().length"), 0);
  }
});

/** A challenge of the session that its project made and that ended a second ago. */
async function expiredChallenge(session: string) {
  const project = site.server.store.projects.get(site.tenant.projectId)!;
  const data = { session, issued_at_ms: Date.now() - 601_000, rule: 0, counted_at_ms: 0 };
  const work = { cost: 1, counterMax: 1 };
  return {
    puzzles: await makePuzzles(puzzleKeys(project.privateKeyHash!), work, data, Math.floor(Date.now() / 1000) - 1),
  };
}

t.test("a tab that slept until its challenge had expired asks for another, and arrives", async (t) => {
  const page = await visit(t);
  const answers: number[] = [];
  page.on("response", (response) => {
    if (response.url().endsWith("/v1/challenges/solution")) answers.push(response.status());
  });
  let asked = 0;
  await page.route("**/v1/challenges", async (route) => {
    if (asked++ > 0) return route.continue();
    const { session_token } = route.request().postDataJSON() as { session_token: string };
    // All that the page runs is stopped, as in a computer that sleeps, and wakes to a challenge whose time is over.
    const pids = await rendererPids(browser);
    for (const pid of pids) process.kill(pid, "SIGSTOP");
    const expired = await expiredChallenge(session_token);
    const answered = route.fulfill({ status: 200, json: expired });
    // Time is the subject: the sleep.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    for (const pid of pids) process.kill(pid, "SIGCONT");
    return answered;
  });
  await page.goto(`${site.origin}/c/page`, { waitUntil: "commit" });
  await page.getByText("You are in").waitFor();
  t.same(answers, [422, 200]);
});

t.test("a computer that slept in the middle of the work starts the work again", async (t) => {
  const page = await visit(t);
  await page.context().addInitScript(`
    delete window.Worker;
    const now = performance.now.bind(performance);
    let leap = 0;
    performance.now = () => now() + leap;
    const derive = crypto.subtle.deriveBits.bind(crypto.subtle);
    let calls = 0;
    crypto.subtle.deriveBits = (...given) => {
      if (++calls === 5) leap = 660_000;
      return derive(...given);
    };
  `);
  const answers: number[] = [];
  page.on("response", (response) => {
    if (response.url().endsWith("/v1/challenges/solution")) answers.push(response.status());
  });
  await page.goto(`${site.origin}/c/page`, { waitUntil: "commit" });
  await page.getByText("You are in").waitFor();
  t.same(answers, [422, 200], "what took too long is no solution; the next is");
});
