/**
 * The console in a real browser: each of its tasks done once as a person would, by mouse, by keyboard and on a
 * phone. What has to do with credentials is in `test/browsers/console-credentials.test.ts`, the challenge and request scoring in
 * `console-challenge.test.ts`.
 */
import t from "tap";
import { rulePath } from "../../src/contract/verdicts/visitor-request.js";
import {
  Desk,
  inBothSchemes,
  markupAgent,
  markupName,
  markupPath,
  ofColour,
  readVerdict,
  strolling,
  traffic,
} from "../console/desk.js";
import { consoleServer } from "../console/visited-desk.js";
import { noChromium, skipFileIf } from "../support/chromium.js";
import { anotherTenant, askUntil } from "../support/server.js";

skipFileIf(t, noChromium);

const { server, tenant, browser, at, asked } = await consoleServer(t);
const { people, bots } = await traffic(server, tenant);
const rulesPath = `${at}/rules`;
/** Signed in once for all tests but those that sign in otherwise. */
const desk = await Desk.open(t, browser, server);
const { page } = desk;
await desk.signIn(tenant.token);
const ruleNames = async (): Promise<string[]> =>
  (await asked("GET", rulesPath)).json.map(({ name }: { name: string }) => name);

t.test("the page carries a strict policy and loads nothing from elsewhere", async (t) => {
  const answer = await server.ask("GET", "/console");
  t.equal(
    answer.headers.get("content-security-policy"),
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; " +
      "form-action 'none'; frame-ancestors 'none'",
  );
  t.notMatch(answer.text, /style=|<style|<script>|\son\w+=/, "nothing inline");
});

t.test("the overview shows what the API counts", async (t) => {
  const { data } = (await asked("GET", `/v1/projects/${tenant.projectId}/stats`)).json;
  // The hour may have ended between the traffic and now.
  const total = (kind: string, name: string) =>
    data.reduce((sum: number, row: Record<string, Record<string, number>>) => sum + row[kind]![name]!, 0);
  t.equal(total("verdicts", "likely_human"), people.length);
  const card = desk.page.getByRole("region", { name: "Verdicts on sessions, by band" });
  await card.getByText(`Likely human ${people.length}`).waitFor();
  await card.getByText(`Definite bot ${total("verdicts", "definite")}`).waitFor();
  await desk.page
    .getByRole("region", { name: "Verdicts on sessions, by action" })
    .getByText(`Allow ${total("actions", "allow")}`)
    .waitFor();
  await desk.says("No request without a session was judged in this time.");
  await desk.says(/20 scored sessions of the latest 20/);
  const paints = await desk.page.evaluate(() =>
    // biome-ignore lint/suspicious/noExplicitAny: the tests' types know no DOM
    [...(globalThis as any).document.querySelectorAll("canvas")].map(
      (canvas) => new Set(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data).size,
    ),
  );
  t.equal(paints.length, 3);
  for (const colours of paints) t.ok(colours > 8, "the chart is painted");
  await card.getByText("As a table").click();
  await card.getByRole("columnheader", { name: "Likely human" }).waitFor();
  await desk.picture("overview-light");
  for (const span of ["7 days", "30 days"]) {
    await desk.page.getByRole("radio", { name: span }).check();
    await card.getByText(`Likely human ${people.length}`).waitFor();
  }
  t.same(desk.broken, []);
});

t.test("every page is free of serious barriers in light and dark", async (t) => {
  await desk.says(/20 scored sessions/);
  for (const name of [
    "Overview",
    "Explore",
    "Sessions",
    "Blocks",
    "Rules",
    "Settings",
    "Keys",
    "Verified bots",
    "Members",
    "Account tokens",
    "Changes",
    "Usage",
  ]) {
    await desk.go(name);
    await desk.loaded();
    await desk.page.emulateMedia({ colorScheme: "dark" });
    t.same(await desk.barriers(), [], `${name}, dark`);
    await desk.picture(`${name.toLowerCase().replace(" ", "-")}-dark`);
    await desk.page.emulateMedia({ colorScheme: "light" });
    t.same(await desk.barriers(ofColour), [], `${name}, light`);
  }
  t.same(desk.broken, []);
});

t.test("a rule with a fault is mended, backtested, saved, moved, and blocks when it is made active", async (t) => {
  await desk.go("Rules");
  await page.getByRole("link", { name: "New rule" }).click();
  await desk.title("New rule");
  await page.getByLabel("Name", { exact: true }).fill(markupName);
  const source = page.getByLabel("Expression");
  await source.fill('band == "definite"\n  AND score << 30');
  await desk.says("Line 2, column 14: expected");
  t.equal(await source.getAttribute("aria-invalid"), "true");
  t.match(await page.locator("pre.pointer").textContent(), /AND score << 30\n {13}▲/, "the place is marked");
  await inBothSchemes(t, desk, "rule with a fault");
  await desk.picture("rule-fault");
  await source.fill('band == "definite"\n  AND score < 30');
  await page.getByLabel("Action").selectOption("block");
  await desk.says("The expression is valid.");
  const draft = { expression: await source.inputValue(), action: "block" };
  const { matched, evaluated } = (await asked("POST", `${rulesPath}/test`, draft)).json;
  t.ok(matched > 0 && matched < evaluated, "the draft tells sessions apart");
  await desk.says(`Matches ${matched} of the ${evaluated} sessions of the last 24 hours.`);
  await page.getByRole("row", { name: `Block ${matched}` }).waitFor();
  await page.getByText("What an expression can say").click();
  await page.getByRole("row", { name: /^session_age integer/ }).waitFor();
  await inBothSchemes(t, desk, "rule backtest");
  await desk.picture("rule-backtest");
  t.equal((await ruleNames()).length, 2, "trying stores nothing");
  await page
    .getByRole("link", { name: /^sess_/ })
    .first()
    .click();
  await desk.title("Session");
  await page.goBack();
  await desk.says(`Matches ${matched} of the ${evaluated} sessions of the last 24 hours.`);
  t.equal(await source.inputValue(), draft.expression, "a draft outlives a look at a session");
  await page.getByRole("button", { name: "Save rule" }).click();
  await desk.title("Rules");
  await page.getByRole("heading", { name: markupName }).waitFor();
  t.equal((await ruleNames()).at(-1), markupName, "asked last");

  const handles = page.locator(".handle");
  const [first, third] = [await handles.nth(0).boundingBox(), await handles.nth(2).boundingBox()];
  await page.mouse.move(third!.x + 10, third!.y + 10);
  await page.mouse.down();
  await page.mouse.move(first!.x + 10, first!.y + 4, { steps: 8 });
  await desk.picture("rules-dragging");
  await page.mouse.up();
  await desk.says(`${markupName} is now 1 of 3`);
  t.equal((await ruleNames())[0], markupName, "dragged to the top");

  t.equal((await readVerdict(server, tenant, bots[0]!, "/a")).action, "allow", "inactive");
  await page.getByRole("switch", { name: `${markupName} is active` }).click();
  const asking = page.getByRole("dialog", { name: "Activate a rule that blocks?" });
  await asking.getByText(/^Matches \d+ of the \d+ sessions of the last 24 hours\.$/).waitFor();
  await inBothSchemes(t, desk, "rule switch");
  await desk.picture("rule-switch-on");
  t.equal((await readVerdict(server, tenant, bots[0]!, "/b")).action, "allow", "not before one has agreed");
  await asking.getByRole("button", { name: "Cancel" }).click();
  t.notOk(await page.getByRole("switch", { name: `${markupName} is active` }).isChecked());
  await page.getByRole("switch", { name: `${markupName} is active` }).click();
  await asking.getByText(/^Matches/).waitFor();
  await asking.getByRole("button", { name: "Activate it" }).click();
  await desk.says(`${markupName} is active`);
  for (const [index, token] of bots.entries()) {
    const verdict = await readVerdict(server, tenant, token, index === 0 ? markupPath : `/checkout/${index}`);
    t.equal(verdict.action, "block");
  }
  await page.getByRole("button", { name: "Refresh" }).click();
  await desk.says(`Matched ${bots.length} verdicts on sessions in the last 7 days`);
  await page.getByRole("link", { name: `Edit ${markupName}` }).click();
  // Of the last hour by minute, and of the last days by hour.
  const hits = page.getByRole("region", { name: "Hits", exact: true }).getByText(`On sessions ${bots.length}`);
  await hits.nth(1).waitFor();
  await desk.says("Last match:");
  const effect = page.getByRole("region", { name: "What changes" });
  await effect.getByText(/^Sessions: nothing changes/).waitFor();
  t.equal(await effect.getByText("Rules before it").count(), 0, "it does not stand in its own way");
  await inBothSchemes(t, desk, "rule page");
  await desk.picture("rule-hits");
  await page.goBack();
  await page.getByRole("link", { name: "Edit Challenge likely bots" }).click();
  await desk.title("Edit rule");
  await page.getByLabel("Name", { exact: true }).fill("Delay likely bots");
  await page.getByLabel("Action").selectOption("delay");
  await page.getByRole("button", { name: "Save rule" }).click();
  await desk.title("Rules");
  await desk.says("Delay likely bots");
  await page.getByRole("button", { name: "Delete Delay likely bots" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await desk.says("Delay likely bots is deleted");
  t.notOk((await ruleNames()).includes("Delay likely bots"));
  t.same(desk.broken, []);
});

t.test("blocks are found by search, a session is opened, and markup in them stays text", async (t) => {
  await askUntil(
    () => asked("GET", `/v1/projects/${tenant.projectId}/blocks`),
    ({ json }) => json.data.length === bots.length,
  );
  await desk.go("Blocks");
  await desk.says(`${bots.length} blocks loaded`);
  await desk.picture("blocks");
  await page.getByRole("searchbox").fill("onerror path");
  await desk.says("1 of 6 blocks");
  // As rules see it: what a URL can't hold is encoded.
  await page.getByText(rulePath(markupPath)!, { exact: true }).waitFor();
  await page.getByRole("searchbox").fill("/checkout/3");
  await desk.says("1 of 6 blocks");
  const told = await server.ask("GET", `/v1/sessions/${bots[2]}/verdict`, { token: tenant.privateKey });
  await page.getByRole("searchbox").fill(String(told.headers.get("x-request-id")).toUpperCase());
  await desk.says("1 block with this reference");
  const found = page.getByRole("row").nth(1);
  await found.getByText(String(told.headers.get("x-request-id"))).waitFor();
  await found.getByRole("link", { name: markupName }).waitFor();
  await page.getByRole("link", { name: bots[2]! }).waitFor();
  await page.getByRole("searchbox").fill("/checkout/3");
  await page.getByRole("link", { name: bots[3]! }).click();
  await desk.title("Session");
  await page.goBack();
  await desk.says(/^1 of \d+ blocks/);
  t.equal(await page.getByRole("searchbox").inputValue(), "/checkout/3", "the address holds the search");
  await page.goForward();
  await desk.title("Session");
  await page
    .getByRole("group")
    .getByText(/Blocked by rule/)
    .waitFor();
  await desk.go("Sessions");
  await page.getByLabel("Band").selectOption("definite");
  await desk.says(/6 sessions shown of 20 loaded/);
  await page.getByLabel("Session token").fill(bots.at(-1)!);
  await page.getByRole("button", { name: "Open" }).click();
  await desk.title("Session");
  await page.getByText(markupAgent, { exact: true }).waitFor();
  const shown = (await asked("GET", `/v1/projects/${tenant.projectId}/sessions/${bots.at(-1)}`)).json;
  for (const { id, contribution } of shown.detections) {
    const row = page.getByRole("row", { name: new RegExp(`^${id} `) });
    t.match(await row.textContent(), `+${contribution.toFixed(2)}`);
  }
  t.ok(shown.detections.length > 0);
  await desk.says("No pointer path is kept");
  await page.getByText("Action now").locator("..").getByRole("link", { name: markupName }).waitFor();
  await page.getByRole("button", { name: "This was a person" }).click();
  await desk.says(/^Marked as a person, /);
  await inBothSchemes(t, desk, "session");
  await desk.picture("session");
  await desk.go("Overview");
  const marks = page.getByRole("region", { name: "Sessions that you marked" });
  await marks
    .getByText("You marked 1 person: verdictd took 1 for a bot (false positives). You marked 0 bots:")
    .waitFor();
  await marks.getByRole("row", { name: `${shown.detections[0].id} ${shown.detections[0].slug} 1 0` }).waitFor();
  await marks.getByRole("button", { name: "1 person" }).click();
  const listed = marks.getByRole("table", { name: "Marked as a person" });
  await listed
    .getByRole("row", { name: /Definite bot/ })
    .getByRole("link", { name: bots.at(-1)! })
    .click();
  await desk.title("Session");
  await desk.go("Rules");
  await page.getByRole("heading", { name: markupName }).waitFor();
  // biome-ignore lint/suspicious/noExplicitAny: the tests' types know no DOM
  t.equal(await page.evaluate(() => (globalThis as any).hit), undefined, "nothing ran");
  t.equal(await page.locator("img, main script").count(), 0, "nothing became an element");
  t.same(desk.broken, []);
});

t.test("a session's pointer path is drawn and its events are listed", async (t) => {
  const stroller = await anotherTenant(server, "stroller");
  const token = await strolling(server, stroller);
  const timeline = `/v1/projects/${stroller.projectId}/sessions/${token}/trail`;
  const { json } = await askUntil(
    () => server.ask("GET", timeline, { token: stroller.token }),
    ({ json }) => json.noted === 6,
  );
  t.ok(json.points.length > 30);
  const desk = await Desk.open(t, browser, server);
  const { page } = desk;
  await desk.signIn(stroller.token);
  await desk.go("Sessions");
  await page.getByRole("link", { name: token }).click();
  await desk.title("Session");
  const drawn = new RegExp(`^Pointer path of ${json.points.length} points within .* pixels, clicks: 1$`);
  await page.getByRole("img", { name: drawn }).waitFor();
  await desk.says("It covers all events of the session");
  const lines = await page.locator(".timeline li").allTextContents();
  for (const [index, line] of [/Page \/shop $/, /Pointer moved +2 times$/, /Click/, /Page \/cart/].entries()) {
    t.match(lines[index], line);
  }
  for (const colorScheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme });
    t.same(await desk.barriers(), [], colorScheme);
    await desk.picture(`session-path-${colorScheme}`);
  }
  await page.setViewportSize({ width: 390, height: 844 });
  await desk.picture("session-path-phone");
  t.same(desk.broken, []);
});

t.test("settings are changed and the bands follow the threshold", async (t) => {
  await desk.go("Settings");
  await page.getByLabel(/^Threshold/).fill("60");
  t.match(await page.getByRole("list", { name: /^Bands/ }).textContent(), /1 to 10.*11 to 30.*31 to 59.*60 to 99/);
  await page.getByLabel("Visitors who are logged in").selectOption("never_block");
  await page.getByLabel("Allow verified bots").uncheck();
  await page.getByRole("button", { name: "Save settings" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText(/^Changed: /).waitFor();
  await dialog.getByText(/^Sessions: (?:nothing changes|.* unchanged)/).waitFor();
  await inBothSchemes(t, desk, "settings dialog");
  t.equal(
    (await asked("GET", `/v1/projects/${tenant.projectId}/scoring`)).json.likely_bot_threshold,
    30,
    "only asked so far",
  );
  await dialog.getByRole("button", { name: "Save settings" }).click();
  await desk.says("Saved: it applies from the next verdict on.");
  const { json } = await asked("GET", `/v1/projects/${tenant.projectId}/scoring`);
  t.match(json, {
    bot_settings: { allow_verified: false, protect_static: true, logged_in_policy: "never_block" },
    likely_bot_threshold: 60,
  });
  await asked("PUT", `/v1/projects/${tenant.projectId}/scoring/settings`, {
    likely_bot_threshold: 30,
    allow_verified: true,
  });
  t.same(desk.broken, []);
});

t.test("verified bots are searched and usage is shown, as far as the plan goes", async (t) => {
  await desk.go("Verified bots");
  await desk.page.getByRole("searchbox").fill("googlebot.com");
  await desk.page.getByRole("cell", { name: ".googlebot.com" }).first().waitFor();
  await desk.go("Usage");
  const usage = (await asked("GET", "/v1/usage")).json;
  await desk.says(`${usage.events} events, no quota`);

  const free = await anotherTenant(server, "frugal", { plan: "free" });
  const other = await Desk.open(t, browser, server);
  await other.signIn(free.token);
  await other.says("No verdict was asked for in this time.");
  await other.go("Sessions");
  await other.says("No session yet");
  await other.go("Verified bots");
  await other.says("plan does not include this list");
  await other.go("Usage");
  await other.says("0 of 100,000 events (0%)");
  t.same(await other.barriers(), []);
  await other.picture("usage-quota");
  t.same([...desk.broken, ...other.broken], []);
});

t.test("a rule is written and moved by keyboard alone", async (t) => {
  const desk = await Desk.open(t, browser, server);
  const { page } = desk;
  const { keyboard } = page;
  await page.getByLabel("Account token").waitFor();
  await keyboard.type(tenant.token);
  await keyboard.press("Enter");
  await desk.title("Overview");
  await desk.tabTo("Rules", "Shift+Tab");
  await keyboard.press("Enter");
  await desk.title("Rules");
  await page.getByRole("heading", { name: markupName }).waitFor();
  await desk.tabTo("New rule");
  await keyboard.press("Enter");
  await desk.title("New rule");
  await page.getByLabel("Name", { exact: true }).waitFor();
  await desk.tabTo("Name");
  await keyboard.type("By keyboard");
  await desk.tabTo("Expression");
  await keyboard.type('path starts_with "/login"');
  await desk.says("The expression is valid.");
  await desk.tabTo("Action");
  await keyboard.type("Chal");
  await desk.tabTo("Save rule");
  await keyboard.press("Enter");
  await desk.title("Rules");
  await page.getByRole("heading", { name: "By keyboard" }).waitFor();
  const before = await ruleNames();
  t.equal(before.at(-1), "By keyboard");
  await desk.tabTo(`Move By keyboard, ${before.length} of ${before.length}: arrow keys`);
  await keyboard.press("ArrowUp");
  await desk.says(`By keyboard is now ${before.length - 1} of ${before.length}`);
  await keyboard.press("ArrowUp");
  await desk.says(`By keyboard is now ${before.length - 2} of ${before.length}`);
  t.equal((await ruleNames()).at(-3), "By keyboard", "the handle kept the focus");
  await desk.tabTo("By keyboard is active");
  await keyboard.press("Space");
  // The first rule that challenges: what it does and needs is said before.
  await page
    .getByRole("dialog")
    .getByText(/sessions of the last 24 hours/)
    .waitFor();
  await desk.tabTo("Activate it");
  await keyboard.press("Enter");
  await desk.says("By keyboard is active");
  const rule = (await asked("GET", rulesPath)).json.find(({ name }: { name: string }) => name === "By keyboard");
  t.match(rule, { action: "challenge", is_active: true, expression_source: 'path starts_with "/login"' });
  await desk.tabTo("Delete By keyboard");
  await keyboard.press("Enter");
  await keyboard.press("Escape");
  t.ok((await ruleNames()).includes("By keyboard"), "Escape takes it back");
  t.same(desk.broken, []);
});

t.test("on a phone nothing is wider than the screen, and a finger opens, moves and switches", async (t) => {
  const desk = await Desk.open(t, browser, server, {
    viewport: { width: 390, height: 844 },
    isMobile: true,
    hasTouch: true,
  });
  const { page } = desk;
  await desk.signIn(tenant.token);
  await desk.says(/20 scored sessions/);
  const fits = async (name: string): Promise<void> => {
    await desk.loaded();
    t.equal(await desk.overflow(), 0, `${name} fits`);
  };
  await fits("Overview");
  await desk.picture("phone-overview");
  await desk.go("Explore");
  await page.getByRole("table", { name: /^Sessions that match/ }).waitFor();
  await fits("Explore");
  const found = page.getByRole("table", { name: /^Sessions that match/ }).locator("tbody");
  const { height } = (await found.boundingBox())!;
  t.ok(height <= 75 * (await found.locator("tr").count()), `${height} px for the sessions that were found`);
  for (const name of ["Blocks", "Settings", "Keys", "Verified bots", "Account tokens", "Changes", "Usage"]) {
    await desk.go(name);
    await fits(name);
  }
  await desk.go("Sessions");
  await fits("Sessions");
  const tallest = (): Promise<number> =>
    page.locator("tbody tr").evaluateAll((rows) => Math.max(...rows.map((row) => row.getBoundingClientRect().height)));
  t.ok((await tallest()) <= 90, `a session with its agent takes ${await tallest()} px`);
  await desk.picture("phone-sessions");
  t.same(await desk.barriers(), []);
  await page.getByRole("link", { name: bots[0]! }).tap();
  await desk.title("Session");
  await desk.says("No pointer path is kept");
  await fits("Session");
  await desk.picture("phone-session");
  await desk.go("Rules");
  await fits("Rules");
  await desk.picture("phone-rules");
  t.same(await desk.barriers(), []);
  await page.getByRole("link", { name: `Edit ${markupName}` }).tap();
  await desk.says("The expression is valid.");
  await fits("Edit rule");
  await desk.picture("phone-rule");
  await page.getByRole("link", { name: "All rules" }).tap();
  await page.getByRole("heading", { name: markupName }).waitFor();
  // Last: Chromium takes a drag this quick for a flick, and would swallow a tap that follows.
  const [first, second] = await ruleNames();
  // The hits of rules come after the rules, and move them.
  await desk.loaded();
  await page
    .getByText(/in the last hour/)
    .first()
    .waitFor();
  const handle = (await page.locator(".handle").first().boundingBox())!;
  t.ok(handle.width >= 24 && handle.height >= 24, "the handle is large enough for a finger");
  const touch = await desk.context.newCDPSession(page);
  const finger = (type: "touchStart" | "touchMove", y: number) =>
    touch.send("Input.dispatchTouchEvent", { type, touchPoints: [{ x: handle.x + 12, y }] });
  await finger("touchStart", handle.y + 12);
  await page.locator("li.dragged").waitFor();
  const card = (await page.getByRole("listitem").filter({ hasText: second! }).boundingBox())!;
  for (const share of [0.1, 0.5, 0.9]) await finger("touchMove", card.y + card.height * share);
  await desk.picture("phone-dragging");
  await touch.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  await desk.says(`${first} is now 2 of`);
  t.same((await ruleNames()).slice(0, 2), [second, first], "dragged by a finger");
  t.same(desk.broken, []);
});

t.test("a server that is gone is told, and what was read stays", async (t) => {
  await desk.go("Overview");
  await desk.says(/20 scored sessions/);
  await server.end("SIGTERM");
  await desk.page.getByRole("button", { name: "Refresh" }).first().click();
  await desk.page.getByRole("alert").getByText("The server does not answer.").waitFor();
  t.ok(await desk.page.getByText(/20 scored sessions/).isVisible());
  await desk.picture("server-gone");
});
