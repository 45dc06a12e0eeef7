/** verdictd's own challenge in the console, in a real browser: its settings, the pass rate beside rules, the session and the overview. */
import t from "tap";
import { batch, browserHeaders } from "../support/batches.js";
import { ChallengedVisitor } from "../support/challenges.js";
import { launch, noChromium } from "../support/chromium.js";
import { askUntil, firstTenant, startServer } from "../support/server.js";
import { Desk, readVerdict } from "./desk.js";

if (noChromium !== undefined) {
  t.plan(0, noChromium);
  process.exit(0);
}

const server = await startServer(t, ["--verdict-ttl", "0"]);
const tenant = await firstTenant(server);
const browser = await launch(t);
const path = (rest: string): string => `/v1/projects/${tenant.projectId}/${rest}`;
const asked = (method: string, rest: string, body?: unknown) =>
  server.ask(method, path(rest), { token: tenant.token, ...(body !== undefined && { body }) });

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
  await desk.tabTo("Minutes that a pass holds, 1 to 1440");
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
  await desk.tabTo("Save challenge");
  await keyboard.press("Enter");
  await card.getByRole("status").getByText("Saved: the challenge is on.").waitFor();
  t.same((await asked("GET", "challenge")).json, { enabled: true, difficulty: "low", clearance_minutes: 45 });
  for (const colorScheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme });
    t.same(await desk.barriers(), [], colorScheme);
  }
  await desk.picture("settings-challenge");
  await box.uncheck();
  await card.getByRole("button", { name: "Save challenge" }).click();
  await card.getByText("Saved: the challenge is off.").waitFor();
  t.same((await asked("GET", "challenge")).json, { enabled: false, difficulty: "low", clearance_minutes: 45 });
  await desk.go("Rules");
  await desk.says(/Pass rate: not counted, since verdictd’s own challenge is/);
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
  await item("Quiet rule").getByText("Pass rate: no challenge was issued in the last 7 days.").waitFor();
  t.equal(
    await item("Block definite bots")
      .getByText(/Pass rate/)
      .count(),
    0,
    "only where it means something",
  );
  await desk.says(/The pass rate measures false positives/);
  for (const colorScheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme });
    t.same(await desk.barriers(), [], colorScheme);
  }
  await desk.picture("rules-pass-rate");
  await page.setViewportSize({ width: 320, height: 800 });
  const wide = await page.evaluate(() => {
    // biome-ignore lint/suspicious/noExplicitAny: the tests' types know no DOM
    const root = (globalThis as any).document.documentElement;
    return root.scrollWidth - root.clientWidth;
  });
  t.equal(wide, 0, "it fits a narrow phone");
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
