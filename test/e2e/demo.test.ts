/** The main job, end to end: a real browser on /demo, the SDK, ingest, a scoring worker, the store, the verdict on the page. */
import t from "tap";
import { launch, noChromium, sessionCookie, skipFileIf } from "../support/chromium.js";
import { askUntil, startServer } from "../support/server.js";

skipFileIf(t, noChromium);

t.test("headless automation on /demo ends in a bot band, with reasons that name it", async (t) => {
  const server = await startServer(t, ["--demo"]);
  const page = await (await launch(t)).newPage();
  const batches: { headers: Record<string, string>; body: { session_token: string | null } }[] = [];
  page.on("request", (request) => {
    if (!request.url().endsWith("/v1/events")) return;
    batches.push({ headers: request.headers(), body: JSON.parse(request.postData() ?? "{}") });
  });
  const answered = page.waitForResponse((response) => response.url().endsWith("/v1/events"));
  await page.goto(`http://127.0.0.1:${server.port}/demo`);
  t.equal((await answered).status(), 202, "the batch is accepted");
  t.equal(batches[0]!.body.session_token, null, "first contact brings no token");
  t.match(batches[0]!.headers["idempotency-key"], /^[0-9a-f-]{36}$/, "and an idempotency key");

  const token = (await sessionCookie(page.context()))?.value ?? "";
  t.match(token, /^sess_/, "the token is kept in the cookie");
  const verdict = await server.ask("GET", `/demo/verdict?session=${token}`);
  t.equal(verdict.json.verdict, "definite");
  t.match(verdict.json.reason, /navigator\.webdriver|user agent/i, "the reason names what gave it away");
  t.equal(verdict.json.action, "allow", "and nobody is blocked: no rule is active");
  await page.getByText(verdict.json.reason as string).waitFor();
  t.pass("the page shows that verdict");

  const [, first] = /"event_count":\s*(\d+)/.exec(JSON.stringify(await server.command("session", "show", token))) ?? [];
  await page.mouse.move(200, 200, { steps: 30 });
  await page.goto("about:blank");
  const after = await askUntil(
    async () => {
      const shown = await server.command("session", "show", token);
      return { status: 200, headers: new Headers(), text: "", json: shown };
    },
    ({ json }) => json.event_count > Number(first),
  );
  t.ok(after.json.event_count > Number(first), "what was moved before leaving arrived by beacon, under the same token");

  await t.test(
    "the documentation is searched and its samples are copied, without anything that its policy forbids",
    async (t) => {
      const faults: string[] = [];
      page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
      page.on("pageerror", (error) => faults.push(error.message));
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      await page.goto(`http://127.0.0.1:${server.port}/docs`);
      await page.locator("button.copy").first().click();
      await page.getByRole("button", { name: "Copied" }).waitFor();
      t.equal(await page.evaluate("navigator.clipboard.readText()"), "npm ci && npm start");
      await page.keyboard.press("/");
      await page.keyboard.type("sessions");
      const first = page.locator("#search-results a").first();
      await first.filter({ hasText: /^Find sessions and requests$/ }).waitFor();
      await page.keyboard.press("Escape");
      await page.keyboard.type("logged in policy");
      await page.getByRole("link", { name: "Concepts: Logged-in visitors" }).waitFor();
      await page.keyboard.press("Enter");
      await page.waitForURL(/\/docs\/[a-z-]+#/);
      await page.getByRole("navigation", { name: "Previous and next page" }).getByRole("link").first().waitFor();
      await page.setViewportSize({ width: 390, height: 844 });
      for (const path of ["/docs/api", "/docs/integrate", "/docs/configuration"]) {
        await page.goto(`http://127.0.0.1:${server.port}${path}`);
        t.equal(await page.evaluate("document.documentElement.scrollWidth"), 390, `${path} fits a phone`);
      }
      t.same(faults, []);
    },
  );
});
