/**
 * The challenge and request scoring in the console, in a real browser: their settings, the pass rate beside rules, recipes for rules, what the
 * overview counts, and blocks without a session.
 */
import t from "tap";
import { type RuleRecipe, ruleRecipes } from "../../src/console/rule-recipes.js";
import { Desk, ofColour, readVerdict, strolling } from "../console/desk.js";
import { consoleServer } from "../console/visited-desk.js";
import { batch, browserHeaders } from "../support/batches.js";
import { ChallengedVisitor } from "../support/challenges.js";
import { noChromium, skipFileIf } from "../support/chromium.js";
import { anotherTenant, askerAs, askUntil } from "../support/server.js";

skipFileIf(t, noChromium);

const { server, tenant, browser, at } = await consoleServer(t);
const asked = askerAs(server, tenant.token, `${at}/`);

const newSession = async (name: string): Promise<string> => {
  const headers = { ...browserHeaders, "x-service-site-key": tenant.siteKey };
  const { json } = await server.ask("POST", "/v1/events", { headers, body: batch(name) });
  await askUntil(
    () => asked("GET", `sessions/${json.session_token}`),
    (answer) => answer.json.verdict !== "not_computed",
  );
  return json.session_token;
};

t.test("the challenge is turned on by keyboard, and what the server refuses is told", async (t) => {
  const desk = await Desk.open(t, browser, server);
  const { page } = desk;
  const { keyboard } = page;
  await desk.signIn(tenant.token);
  await desk.go("Settings");
  const card = page.getByRole("region", { name: "Challenge" });
  const box = card.getByLabel("Use verdictd’s own challenge");
  await box.waitFor();
  t.equal(await box.isChecked(), false);
  await desk.tabTo("Use verdictd’s own challenge");
  await keyboard.press("Space");
  await desk.tabTo("Difficulty");
  await keyboard.type("Low");
  await desk.tabTo("Minutes that a pass is valid, 1 to 1440");
  await keyboard.press("Control+A");
  await keyboard.type("5000");
  await keyboard.press("Enter");
  const minutes = card.getByLabel(/^Minutes/);
  t.equal(
    // biome-ignore lint/suspicious/noExplicitAny: the tests' types know no DOM
    await minutes.evaluate((field: any) => field.validity.rangeOverflow),
    true,
  );
  t.match((await asked("GET", "challenge")).json, { enabled: false }, "nothing was stored");
  await keyboard.press("Control+A");
  await keyboard.type("45");
  await card.getByLabel("Origin of the script").fill("https://bots.example");
  await card.getByLabel("Path prefix").fill("/bots");
  await desk.tabTo("Save challenge");
  await keyboard.press("Enter");
  await card.getByRole("status").getByText("Saved: the challenge is on.").waitFor();
  t.same((await asked("GET", "challenge")).json, {
    enabled: true,
    difficulty: "low",
    clearance_minutes: 45,
    clearance_networks: 4,
    script_origin: "https://bots.example",
    path_prefix: "/bots",
  });
  for (const colorScheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme });
    t.same(await desk.barriers(), [], colorScheme);
  }
  await desk.picture("settings-challenge");
  await box.uncheck();
  await card.getByRole("button", { name: "Save challenge" }).click();
  await card.getByText("Saved: the challenge is off.").waitFor();
  t.same((await asked("GET", "challenge")).json, {
    enabled: false,
    difficulty: "low",
    clearance_minutes: 45,
    clearance_networks: 4,
    script_origin: "https://bots.example",
    path_prefix: "/bots",
  });
  await desk.go("Rules");
  await desk.says(/Pass rate: not counted, because verdictd’s own challenge is/);
  t.same(desk.broken, []);
});

t.test("passed and failed challenges are counted beside their rule, in the session and on the overview", async (t) => {
  await asked("PUT", "challenge", { enabled: true, difficulty: "low" });
  const rule = (name: string, place: string) =>
    asked("POST", "rules", { name, expression: `path starts_with "${place}"`, action: "challenge" });
  t.equal((await rule("Wide rule", "/wide")).status, 201);
  t.equal((await rule("Quiet rule", "/quiet")).status, 201);
  const visitor = new ChallengedVisitor(server, tenant);
  const sessions = await Promise.all(["one", "two", "three"].map(newSession));
  for (const session of sessions) t.equal((await readVerdict(server, tenant, session, "/wide")).action, "challenge");
  t.equal((await visitor.pass(sessions[0]!)).status, 200);
  t.equal((await visitor.pass(sessions[1]!)).status, 200);
  t.equal((await visitor.issue(sessions[2]!)).status, 200);
  t.equal((await visitor.send(sessions[2]!, "e30=")).status, 422);

  const desk = await Desk.open(t, browser, server);
  const { page } = desk;
  await desk.signIn(tenant.token);
  for (const [name, value] of [
    ["Challenges issued", "3"],
    ["Challenges passed", "2"],
    ["Challenges failed", "1"],
  ] as const) {
    const tile = page.locator(".tiles > div").filter({ hasText: name });
    await tile.getByText(value, { exact: true }).waitFor();
  }
  await desk.go("Rules");
  const item = (name: string) => page.getByRole("listitem").filter({ hasText: name });
  await item("Wide rule").getByText("Pass rate 67%").waitFor();
  await item("Wide rule")
    .getByText(/2 of 3 challenges passed/)
    .waitFor();
  await item("Quiet rule").getByText("Pass rate: no challenge of this rule was loaded in the last 7 days.").waitFor();
  t.equal(
    await item("Block definite bots")
      .getByText(/Pass rate/)
      .count(),
    0,
    "only where it means something",
  );
  await desk.says(/The pass rate measures false positives/);
  // As on a first visit: no verdict has said yet which rule challenges the session.
  t.equal((await visitor.pass(await newSession("four"))).status, 200);
  type Counted = { challenges_by_rule?: Record<string, { passed: number }> };
  await askUntil(
    () => asked("GET", "stats?by=rule"),
    ({ json }) => json.data.some((row: Counted) => row.challenges_by_rule?.["0"]?.passed === 1),
  );
  await page.getByRole("button", { name: "Refresh" }).first().click();
  await item("Quiet rule")
    .getByText(/^Pass rate: none of its own\. Challenges of first visits, .* 1 of 1 passed/)
    .waitFor();
  for (const colorScheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme });
    t.same(await desk.barriers(), [], colorScheme);
  }
  await desk.picture("rules-pass-rate");
  await page.setViewportSize({ width: 320, height: 800 });
  t.equal(await desk.overflow(), 0, "it fits a narrow phone");
  await page.setViewportSize({ width: 1280, height: 900 });

  await desk.go("Sessions");
  await page.getByRole("link", { name: sessions[0]! }).click();
  await desk.title("Session");
  const { cleared_at } = (await asked("GET", `sessions/${sessions[0]}`)).json;
  t.type(cleared_at, "string");
  const fact = (name: string) => page.locator(".facts > div").filter({ hasText: name });
  await fact("Challenge passed").locator(`time[datetime="${cleared_at}"]`).waitFor();
  await page.locator(".timeline li").filter({ hasText: "Passed the challenge" }).waitFor();
  t.same(await desk.barriers(), []);
  await desk.go("Sessions");
  await page.getByRole("link", { name: sessions[2]! }).click();
  await fact("Challenge passed").getByText("never").waitFor();
  t.same(desk.broken, []);
});

t.test(
  "requests without a session: judged once that is on, stopped by a recipe, counted and listed apart",
  async (t) => {
    const shop = await anotherTenant(server, "shop");
    const ask = askerAs(server, shop.token, `/v1/projects/${shop.projectId}/`);
    // What the card does not show is kept when the card is saved.
    t.equal((await ask("PUT", "request-scoring", { skip_paths: ["/health"] })).status, 200);
    const visitor = await strolling(server, shop);
    await askUntil(
      () => ask("GET", `sessions/${visitor}`),
      ({ json }) => json.verdict !== "not_computed",
    );
    t.equal((await readVerdict(server, shop, visitor, "/shop")).action, "allow");
    const desk = await Desk.open(t, browser, server);
    const { page } = desk;
    await desk.signIn(shop.token);
    await desk.go("Settings");
    const card = page.getByRole("region", { name: "Request scoring" });
    const box = card.getByLabel("Judge requests of visitors without a scored session");
    await box.waitFor();
    t.equal(await box.isChecked(), false);
    await box.check();
    await card.getByLabel(/^Agents whose signature/).selectOption({ label: "Let the rules decide" });
    await card.getByRole("button", { name: "Save request scoring" }).click();
    await card.getByRole("status").getByText("Saved: request scoring is on.").waitFor();
    t.same((await ask("GET", "request-scoring")).json, {
      enabled: true,
      signed_agents: "rules",
      skip_paths: ["/health"],
      hosts: [],
      issue_tokens: false,
    });

    await desk.go("Rules");
    await page.getByRole("link", { name: "New rule" }).click();
    await desk.title("New rule");
    const recipes = page.getByText("Start with a recipe");
    await recipes.waitFor();
    await desk.picture("rule-recipes");
    const fill = async ({ name, expression, action }: RuleRecipe): Promise<void> => {
      await page.getByRole("button", { name, exact: true }).click();
      t.equal(await page.getByLabel("Name", { exact: true }).inputValue(), name);
      t.equal(await page.getByLabel("Expression").inputValue(), expression);
      t.equal(await page.getByLabel("Action").inputValue(), action);
      t.notOk(await page.getByLabel("Active").isChecked());
      t.notOk(await page.getByRole("button", { name, exact: true }).isVisible(), "the list folds away");
    };
    const recipe = (word: string) => ruleRecipes.find(({ name }) => name.includes(word))!;
    await fill(recipe("countries"));
    await desk.says("Matches 0 of the 1 session of the last 24 hours.");
    await recipes.click();
    await page.getByLabel("Active").check();
    await fill(recipe("without a session"));
    await desk.says("Stored sessions can’t show what it would match.");
    await desk.says(/Only samples of requests without a session are stored; for sessions, has_session is always true/);
    await recipes.click();
    for (const colorScheme of ["dark", "light"] as const) {
      await page.emulateMedia({ colorScheme });
      t.same(await desk.barriers(colorScheme === "dark" ? [] : ofColour), [], colorScheme);
    }
    await page.setViewportSize({ width: 390, height: 844 });
    t.equal(await desk.overflow(), 0, "recipes fit a phone");
    await desk.picture("rule-recipes-phone");
    await page.setViewportSize({ width: 1280, height: 900 });
    const libraries = recipe("libraries");
    await fill(libraries);
    await desk.says(
      /^Here declared_bot_category is read from the stored user agent. A rule has it only while request scoring is on/,
    );
    await desk.picture("rule-gaps");
    await page.getByRole("button", { name: "Save rule" }).click();
    await page.getByRole("switch", { name: `${libraries.name} is active` }).click();
    await page.getByRole("button", { name: "Activate it" }).click();
    await desk.says(`${libraries.name} is active`);

    const request = { path: "/shop", ip: "198.51.100.7", headers: [["User-Agent", "python-requests/2.32.3"]] };
    for (let each = 0; each < 3; each++) {
      const { json } = await server.ask("POST", "/v1/verdict", { token: shop.privateKey, body: { request } });
      t.equal(json.action, "block");
    }
    await desk.go("Blocks");
    const row = page.getByRole("row", { name: /No session ?python-requests, by its user agent ?198\.51\.100\.7/ });
    await row.first().waitFor();
    // The minute may have ended between the requests: one row each.
    const times = await row.locator('td[data-label="When"]').allInnerTexts();
    t.equal(
      times.reduce((sum, text) => sum + Number(/^(\d+) times in a minute/m.exec(text)?.[1] ?? 1), 0),
      3,
    );
    t.equal(await row.locator('a[href^="#/sessions"]').count(), 0);
    await page.getByRole("searchbox").fill("198.51.100.7");
    await desk.says(/^\d+ of \d+ blocks?$/);
    t.same(await desk.barriers(), []);
    await desk.picture("blocks-requests");

    await askUntil(
      () => ask("GET", "stats"),
      ({ json }) =>
        json.data.reduce(
          (sum: number, { requests }: { requests: { actions: { block: number } } }) => sum + requests.actions.block,
          0,
        ) === 3,
    );
    await desk.go("Overview");
    const figures = (name: string) => page.getByRole("region", { name, exact: true }).locator(".legend");
    await figures("Verdicts on requests without a session, by action").waitFor();
    const numbers = async (name: string) => (await figures(name).allTextContents()).join().replace(/\s+/g, " ");
    t.match(await numbers("Verdicts on requests without a session, by action"), /Block 3.*Log 0.*Allow 0/);
    t.match(await numbers("Verdicts on sessions, by action"), /Block 0.*Log 0.*Allow 1/);
    t.match(await numbers("Verdicts on sessions, by band"), /^[^1-9]*1[^1-9]*$/, "one session, in one band");
    t.same(await desk.barriers(), []);
    await desk.picture("overview-requests");
    await page.setViewportSize({ width: 390, height: 844 });
    t.equal(await desk.overflow(), 0, "the overview fits a phone");
    t.same(desk.broken, []);
  },
);
