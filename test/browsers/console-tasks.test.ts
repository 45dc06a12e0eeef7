/**
 * What analysts and operators come to the console for, each done once in a real browser: Explore, deletion by expression, marks of rule changes, first
 * use of an action, blocks that lead to Explore, members, tokens with names, keys that overlap. `CONSOLE_PICTURES=1` leaves pictures.
 */
import { readFileSync } from "node:fs";
import type { Route } from "playwright-core";
import t from "tap";
import { Desk, look, readVerdict, traffic } from "../console/desk.js";
import { consoleServer } from "../console/visited-desk.js";
import { noChromium, skipFileIf } from "../support/chromium.js";
import { askUntil } from "../support/server.js";
import { waitUntil } from "../support/wait-until.js";

skipFileIf(t, noChromium);

const { server, tenant, browser, at, asked } = await consoleServer(t);
const { bots, people } = await traffic(server, tenant);

const desk = await Desk.open(t, browser, server);
const { page } = desk;
await desk.signIn(tenant.token);
const dialog = page.getByRole("dialog");

t.test("Explore finds sessions by expression, click and bar; its address, files and rules say the same", async (t) => {
  const all = people.length + bots.length;
  // An account runs one search at a time: the page's own may be under way.
  const answer = async (expression: string) =>
    (
      await waitUntil(
        () => asked("POST", `${at}/sessions/query`, { expression }),
        ({ status }) => status === 200,
      )
    ).json;
  await desk.go("Explore");
  await desk.says(`${all} sessions of ${all}`);
  const source = page.getByLabel("Expression");
  await source.fill("score << 30");
  await desk.says("Line 1, column 8: expected");
  t.ok(await page.getByText(`${all} sessions of ${all}`).isVisible(), "what was found stays while one types");
  await desk.says("What follows is still the result for everything.");
  await source.fill("scor < 30");
  await page.getByRole("button", { name: "Use score instead" }).click();
  t.equal(await source.inputValue(), "score < 30", "the word that was meant takes its place");
  await source.fill('declared_bot_category == "librari"');
  await desk.says('did you mean "library"?');
  await source.fill('path contains "?"');
  await desk.says('path contains "?" never matches: a path has no query and no fragment.');

  await source.fill("");
  await source.pressSequentially("ba");
  await page.getByRole("option", { name: /^band / }).waitFor();
  t.same(await desk.barriers(), []);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await source.pressSequentially("== ");
  await page.keyboard.press("Control+Space");
  await page.getByRole("option", { name: '"definite"' }).click();
  t.equal(await source.inputValue(), 'band == "definite" ', "completed by keyboard and mouse");
  await page.keyboard.press("Escape");
  const definite = await answer('band == "definite"');
  t.ok(definite.matched > 0 && definite.matched < all);
  // An earlier expression may have found as many.
  await page.waitForURL((url) => /#\/explore\?q=band\+==\+"definite"/.test(decodeURIComponent(url.hash)));
  await desk.says(`${definite.matched} sessions of ${all}`);
  t.match(decodeURIComponent(page.url()), /#\/explore\?q=band\+==\+"definite"/, "the address holds what was typed");
  await source.press("Enter");
  t.equal(await source.inputValue(), 'band == "definite" ', "Enter is no part of the expression");
  await desk.says(`${definite.matched} sessions of ${all}`);
  await page.goBack();
  await desk.says(`${all} sessions of ${all}`);
  t.equal(await source.inputValue(), "", "what was typed is a step of its own");
  await page.goForward();
  await desk.says(`${definite.matched} sessions of ${all}`);

  await page.getByRole("list", { name: "Conditions" }).getByRole("button").click();
  await desk.says(`${all} sessions of ${all}`);
  const panel = page.getByRole("region", { name: "Detection" });
  await panel.getByRole("button").first().click();
  const condition = await page.getByRole("list", { name: "Conditions" }).locator("code").textContent();
  t.match(condition, /^detection_ids contains \d+$/);
  const { matched } = await answer(condition!);
  await desk.says(`${matched} sessions of ${all}`);
  await page.getByRole("button", { name: "All but Definite bot" }).click();
  const narrowed = await answer(`${condition} AND NOT band == "definite"`);
  await desk.says(`${narrowed.matched} sessions of ${all}`);
  await page.goBack();
  await desk.says(`${matched} sessions of ${all}`);
  await page.reload();
  await desk.says(`${matched} sessions of ${all}`);
  t.equal(await source.inputValue(), condition, "what is shown outlives a reload");
  await desk.picture("explore");

  const saved = async (name: string) => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name }).click()]);
    return readFileSync(await download.path(), "utf8");
  };
  const csv = (await saved("CSV")).trimEnd().split("\r\n");
  t.equal(csv.length, 1 + matched);
  t.match(csv[0], /^session_token,.*,path,user_agent,/);
  t.same(JSON.parse(await saved("JSON")).data, (await answer(condition!)).data);

  await page.getByRole("button", { name: "What would it have done?" }).click();
  await desk.says(`Matches ${matched} of the ${all} sessions of the last 24 hours.`);
  t.same(await desk.barriers(), []);
  await page.getByText("As a table").click();
  const span = (await page.getByText(/A session counts once, when it began/).textContent())!;
  await page.getByRole("region", { name: "Matched sessions" }).getByRole("table").getByRole("button").last().click();
  await page.getByText(span, { exact: true }).waitFor({ state: "hidden" });
  await page.waitForURL(/from=.*&to=/);
  await page.getByLabel("From", { exact: true }).waitFor();
  const bar = new URLSearchParams(page.url().split("?")[1]);
  const [begin, end] = [page.getByLabel("From", { exact: true }), page.getByLabel("To", { exact: true })];
  const ended = await end.inputValue();
  await end.fill(await begin.inputValue());
  await page.getByRole("button", { name: "Show" }).click();
  await desk.says("“From” has to be before “To”.");
  t.equal(await end.getAttribute("aria-invalid"), "true");
  await end.fill(ended);
  t.ok(Date.parse(bar.get("to")!) - Date.parse(bar.get("from")!) <= 900_000, "one bar of a day");
  const chart = page.getByRole("img", { name: /^Matched sessions by the time/ });
  await page.getByRole("radio", { name: "24 hours" }).click();
  await page.waitForURL(/last=day/);
  const isNarrowed = (url: URL) => url.href.includes("from=");
  // The chart is drawn a moment after the figures around it: a drag before that is none.
  for (let tries = 0; tries < 20 && !isNarrowed(new URL(page.url())); tries++) {
    await chart.hover();
    const box = (await chart.boundingBox())!;
    await page.mouse.move(box.x + box.width / 2, box.y + 40);
    await page.mouse.down();
    // To the window's edge: the chart may have grown since.
    await page.mouse.move(page.viewportSize()!.width - 2, box.y + 60, { steps: 4 });
    await page.mouse.up();
    await page.waitForURL(isNarrowed, { timeout: 2000 }).catch(() => {});
  }
  const dragged = new URLSearchParams(page.url().split("?")[1]);
  const [from, to] = [Date.parse(dragged.get("from")!), Date.parse(dragged.get("to")!)];
  t.ok(to > Date.parse(bar.get("from")!), "a drag beyond the last bar goes to its end");
  const hours = (to - from) / 3_600_000;
  t.ok(hours > 0 && hours < 24, `a part of the day: ${hours} hours`);
  await page.getByRole("radio", { name: "24 hours" }).click();
  await desk.says(`${matched} sessions of ${all}`);
  await page.getByRole("button", { name: "Make this a rule" }).click();
  await desk.title("New rule");
  t.equal(await source.inputValue(), condition);
  await page.getByLabel("Name", { exact: true }).fill("From Explore");
  await page.getByLabel("Action").selectOption("delay");
  const form = page.url();
  await desk.go("Usage");
  await page.evaluate("sessionStorage.removeItem('verdictd.draft.1.new')");
  await page.goto(form);
  await desk.title("New rule");
  t.equal(await source.inputValue(), condition, "the address holds the form");
  t.equal(await page.getByLabel("Name", { exact: true }).inputValue(), "From Explore");
  t.equal(await page.getByLabel("Action").inputValue(), "delay");
  await page.getByRole("link", { name: "Cancel" }).click();
  await desk.title("Rules");
  t.same(desk.broken, []);
});

t.test("whatever the language can say is clicked where it is shown, and leads to its sessions", async (t) => {
  const conditions = page.getByRole("list", { name: "Conditions" });
  const shown = (condition: string | RegExp) => conditions.getByText(condition, { exact: true }).waitFor();
  await desk.go("Explore");
  await desk.says(/^20 sessions of 20/);
  const panel = page.getByRole("region", { name: "Declared bot" });
  const bot = (await panel.getByRole("button").first().textContent())!;
  await panel.getByRole("button").first().click();
  await desk.says(/^1 session of 20/);
  const row = page.getByRole("table", { name: /^Sessions that match/ }).locator("tbody tr");
  const score = (await row.locator('[data-label="Score"]').textContent())!.trim();
  await row.getByRole("button", { name: "Definite bot" }).click();
  await shown('band == "definite"');
  await row.locator('[data-label="Score"]').getByRole("button").click();
  await shown(`score == ${score}`);
  await row.getByRole("button", { name: "Allow" }).click();
  await shown('action == "allow"');
  await desk.says("A rule can’t ask for action: that is what rules decide.");
  t.ok(await page.getByRole("button", { name: "Make this a rule" }).isDisabled());
  const expression = `declared_bot == "${bot}" AND band == "definite" AND score == ${score} AND action == "allow"`;
  t.equal(await page.getByLabel("Expression").inputValue(), expression);
  t.match((await asked("POST", `${at}/sessions/query`, { expression })).json, { matched: 1, unavailable_fields: [] });
  await page.waitForURL((url) => url.hash.includes("action"));
  await page.getByLabel("Expression").fill("scor");
  await desk.says("What follows is still the result for the last one that was:");
  await row.getByRole("button", { name: "Definite bot" }).click();
  await conditions.waitFor();
  t.match(
    await page.getByLabel("Expression").inputValue(),
    /^declared_bot == "[^"]+" AND /,
    "a click starts from what is shown",
  );

  await desk.go("Sessions");
  await page.getByLabel("Band").selectOption("definite");
  await page.reload();
  await desk.title("Sessions");
  t.equal(await page.getByLabel("Band").inputValue(), "definite", "the filter is in the address");
  await page.getByRole("row").nth(1).getByRole("link", { name: "Definite bot" }).click();
  await desk.title("Explore");
  await shown('band == "definite"');
  await page.goto(`${desk.address}#/sessions/${bots[0]}`);
  await desk.title("Session");
  await page.locator(".engines").getByRole("link").first().click();
  await desk.title("Explore");
  await shown(/^heuristics_score == \d+$/);
  await page.goto(`${desk.address}#/nonsense`);
  await desk.title("No such page");
  t.same(await desk.barriers(), []);
  t.same(desk.broken, []);
});

t.test("the first rule that challenges says what it does to people, and what it needs", async (t) => {
  await desk.go("Rules");
  await page.getByRole("switch", { name: "Challenge likely bots is active" }).click();
  await dialog.getByText("a short page while their browser solves a proof of work").waitFor();
  await dialog.getByText("verdictd’s challenge is off in this project").waitFor();
  await dialog.getByText(/sessions of the last 24 hours/).waitFor();
  await look(t, desk, "first-challenge");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  t.notOk((await asked("GET", `${at}/rules`)).json.some((rule: { is_active: boolean }) => rule.is_active));
  const switched = page.getByRole("switch", { name: "Challenge likely bots is active" });
  t.equal(await switched.getAttribute("aria-checked"), "false");
  await switched.click();
  await dialog.getByRole("button", { name: "Activate it" }).click();
  await desk.says("Challenge likely bots is active");
  // The second of its kind is switched on without a word; the first that delays asks from the editor, too.
  const draft = { name: "Also challenged", expression: "score < 2", action: "challenge", is_active: false };
  t.equal((await asked("POST", `${at}/rules`, draft)).status, 201);
  await page.getByRole("button", { name: "Refresh" }).first().click();
  await page.getByRole("switch", { name: "Also challenged is active" }).click();
  await desk.says("Also challenged is active");
  await page.getByRole("link", { name: "New rule" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Slow down");
  await page.getByLabel("Expression").fill('agent == "claude in chrome"');
  await desk.says('agent == "claude in chrome" is in another case than "Claude in Chrome", and never meets it.');
  await page.getByLabel("Expression").fill("score < 10");
  await page.getByLabel("Action").selectOption("delay");
  await page.getByLabel("Active").check();
  await page.getByRole("button", { name: "Save rule" }).click();
  await dialog.getByText("A proxy with forward-auth does not wait").waitFor();
  await look(t, desk, "first-delay");
  await dialog.getByRole("button", { name: "Save and activate it" }).click();
  await desk.title("Rules");
});

t.test("Explore marks when rules changed", async (t) => {
  await desk.go("Explore");
  await page.getByText("3 rule changes in this time").click();
  await page.getByRole("listitem").filter({ hasText: "“" }).first().isVisible();
  for (const what of [
    /Challenge likely bots" switched on/,
    /Also challenged" switched on/,
    /Slow down" created and switched on/,
  ]) {
    await page.getByRole("listitem").filter({ hasText: what }).waitFor();
  }
  await look(t, desk, "explore-marks");
  await page.getByRole("link", { name: /Slow down/ }).click();
  await desk.title("Edit rule");
});

t.test("a block's values lead to the sessions that have them", async (t) => {
  const rule = { name: "Block bots", expression: 'band == "definite"', action: "block", sort_order: -1 };
  t.equal((await asked("POST", `${at}/rules`, rule)).status, 201);
  t.equal((await readVerdict(server, tenant, bots[0]!, "/shop")).action, "block");
  await askUntil(
    () => asked("GET", `${at}/blocks`),
    ({ json }) => json.data.length > 0,
  );
  await desk.go("Blocks");
  const row = page.getByRole("row").nth(1);
  await row.getByRole("link", { name: "/shop" }).waitFor();
  await look(t, desk, "blocks");
  await row.getByRole("link", { name: "Definite bot" }).click();
  await desk.title("Explore");
  t.equal(await page.getByLabel("Expression").inputValue(), 'band == "definite"');
  await desk.says(/sessions? of 20/);
});

t.test("sessions that were found are deleted, after their number was agreed to", async (t) => {
  // An account has one query at a time: while a colleague's runs, the console asks again.
  let refused = 0;
  const busy = { error: "Conflict", message: "another query of the account is running: try again when it has ended" };
  const refuseFirst = (route: Route) =>
    refused++ === 0 ? route.fulfill({ status: 409, json: busy }) : route.continue();
  await page.route("**/sessions/delete", refuseFirst);
  await page.getByRole("button", { name: "Delete these sessions…" }).click();
  const { matched } = (await asked("POST", `${at}/sessions/query`, { expression: 'band == "definite"' })).json;
  t.ok(matched > 0);
  const button = dialog.getByRole("button", { name: `Delete ${matched} session` });
  await button.waitFor();
  t.ok(refused > 1, "it was asked again");
  await look(t, desk, "delete");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "hidden" });
  t.equal(
    (await asked("GET", `${at}/sessions`)).json.data.length,
    people.length + bots.length,
    "Escape deletes nothing",
  );
  await page.getByRole("button", { name: "Delete these sessions…" }).click();
  await button.click();
  await dialog.getByText(new RegExp(`^${matched} sessions? deleted.$`)).waitFor();
  await dialog.getByRole("button", { name: "Close" }).click();
  await desk.says("No session in this time range matches.");
  await page.locator("h1:focus").waitFor();
  t.equal((await asked("GET", `${at}/sessions`)).json.data.length, people.length + bots.length - matched);
});

t.test("a member is added with a token, gets another role, and is removed", async (t) => {
  await desk.go("Members");
  await page.getByLabel("Name").fill("Ada");
  await page.getByLabel("E-mail").fill("ada@example.com");
  await page.getByRole("combobox", { name: "Role", exact: true }).selectOption("viewer");
  await page.getByRole("button", { name: "Add the member" }).click();
  const token = await dialog.getByLabel("Shown only once").inputValue();
  t.equal((await server.ask("GET", "/v1/account", { token })).json.role, "viewer");
  await dialog.getByRole("button", { name: "I have stored it" }).click();
  await look(t, desk, "members");
  await page.getByLabel("Role of Ada").selectOption("admin");
  await desk.says("Ada is now admin.");
  await page.getByLabel("Role of Owner").selectOption("viewer");
  await desk.says("the account would be without an owner");
  t.equal(await page.getByLabel("Role of Owner").inputValue(), "owner");
  await page.getByRole("button", { name: "Remove Ada" }).click();
  await dialog.getByRole("button", { name: "Remove" }).click();
  await desk.says("Ada is no longer a member.");
  t.equal((await server.ask("GET", "/v1/account", { token })).status, 403);
});

t.test(
  "a token has a name and shows when it was used; a key is rotated with an overlap that is ended early",
  async (t) => {
    await desk.go("Account tokens");
    await page.getByLabel("Name: what it is for").fill("Nightly report");
    await page.getByRole("button", { name: "Create a token" }).click();
    await dialog.getByRole("button", { name: "I have stored it" }).click();
    await page.getByRole("row", { name: /Nightly report.*not yet/ }).waitFor();
    await look(t, desk, "tokens");
    await desk.go("Keys");
    await page.getByRole("button", { name: "Rotate the private key" }).click();
    await dialog.getByLabel("The old key").selectOption("Works for 1 more day");
    await look(t, desk, "rotate");
    await dialog.getByRole("button", { name: "Rotate" }).click();
    await dialog.getByRole("button", { name: "I have stored it" }).click();
    await desk.says(/A key rotated .* works until/);
    await look(t, desk, "old-key");
    t.equal((await readVerdict(server, tenant, people[0]!, "/")).verdict, "likely_human", "the old key works");
    await page.getByRole("button", { name: "Rotate the private key" }).click();
    await dialog.getByText("An older key still works. It ends at once, too:").waitFor();
    await dialog.getByLabel("The old key").selectOption("Works for 1 more hour");
    await dialog.getByText("An older key still works.").waitFor({ state: "hidden" });
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "End it now" }).click();
    await dialog.getByText("Servers that use it stop getting verdicts at once.").waitFor();
    t.equal((await readVerdict(server, tenant, people[0]!, "/")).verdict, "likely_human", "it asks first");
    await dialog.getByRole("button", { name: "End now" }).click();
    await desk.says("1 old private key ended: refused from now on.");
    t.equal((await server.ask("GET", `/v1/sessions/${people[0]}/verdict`, { token: tenant.privateKey })).status, 401);
  },
);

t.test("the page of changes has all of it", async (t) => {
  await desk.go("Changes");
  for (const what of ["Rotated key ended", "Key rotated", "Member removed", "Sessions deleted", "Rule created"]) {
    await page.getByRole("cell", { name: what, exact: true }).first().waitFor();
  }
  const row = (what: string) => page.getByRole("row").filter({ hasText: what });
  await row("Key rotated").getByText("overlap hours: 24").waitFor();
  t.match(await row("Rotated key ended").textContent(), /ends at: \d/);
  await look(t, desk, "changes");
  t.same(desk.broken, []);
});
