/**
 * What an analyst sees in the console of crawlers, of requests without a session and of what a rule would do, a new project's first steps and the
 * documentation, each once in a real browser. `CONSOLE_PICTURES=1` leaves pictures.
 */
import { readFileSync } from "node:fs";
import t from "tap";
import { sessionCookieName } from "../../src/contract/sessions/session-cookie.js";
import { denialResponse } from "../../src/middleware/denial-page.js";
import { fitsTablets, focusedName, inBothSchemes, look } from "../console/desk.js";
import { visitedDesk } from "../console/visited-desk.js";
import { navigation } from "../requests/asking.js";
import { batch, browserHeaders } from "../support/batches.js";
import { noChromium, skipFileIf } from "../support/chromium.js";
import { askUntil } from "../support/server.js";
import { waitUntil } from "../support/wait-until.js";

skipFileIf(t, noChromium);

const { server, tenant, bots, at, asked, desk, page, dialog } = await visitedDesk(t);

t.test("crawlers are listed with their visits, and those who only pretend to be one", async (t) => {
  await asked("PUT", `${at}/request-scoring`, { enabled: true });
  const headers = [["User-Agent", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"]];
  const visit = async (ip: string, path: string) =>
    (await server.ask("POST", "/v1/verdict", { token: tenant.privateKey, body: { request: { path, ip, headers } } }))
      .json;
  t.equal((await visit("66.249.66.1", "/products/12345")).verdict, "verified");
  await visit("198.51.100.9", "/");
  await askUntil(
    () => asked("GET", `${at}/crawlers`),
    ({ json }) => json.data.some(({ impostors }: { impostors: number }) => impostors > 0),
  );
  await desk.go("Crawlers");
  const row = page.getByRole("row", { name: /Google/ }).first();
  await row.getByText("/products/*").waitFor();
  await look(t, desk, "crawlers");
  await page.getByRole("link", { name: "1", exact: true }).click();
  await desk.title("Explore");
  t.equal(await page.getByLabel("Expression").inputValue(), "detection_ids contains 400101");
});

t.test(
  "requests without a session are explored by samples and counters, scaled up, by band, and compared",
  async (t) => {
    const headers = [["User-Agent", "python-requests/2.32.3"]];
    const ask = (path: string, ip: string) =>
      server.ask("POST", "/v1/verdict", { token: tenant.privateKey, body: { request: { path, ip, headers } } });
    for (let each = 0; each < 24; each++) await ask(`/page${each % 12}`, `198.51.100.${each % 12}`);
    await ask("/%D9%85%D8%B1%D8%AD%D8%A8%D8%A7", "198.51.100.1");
    const counted = async () => (await asked("GET", `${at}/traffic?group_by=path&subject=request`)).json.meta.total;
    await askUntil(
      () => asked("GET", `${at}/traffic?group_by=declared_bot&subject=request`),
      ({ json }) =>
        json.data.some(({ value, count }: { value: string; count: number }) => /requests/.test(value) && count === 25),
    );
    await desk.go("Explore");
    await page.getByRole("radio", { name: "Requests without a session" }).check();
    const total = await counted();
    await desk.says(`${total} requests of ${total}`);
    const paths = page.getByRole("region", { name: "Path", exact: true });
    t.equal(await paths.locator("li").count(), 10);
    await paths.getByRole("button", { name: /^All .*values? of Path$/ }).click();
    await paths.getByText("/مرحبا", { exact: true }).waitFor();
    t.ok((await paths.locator("li").count()) > 12, "all values of a panel are opened");
    await paths.getByRole("button", { name: "/page1", exact: true }).click();
    await desk.says(`2 requests of ${total}`);
    t.equal(await page.getByLabel("Expression").inputValue(), 'path == "/page1"');
    await page.getByText("Compare with the previous period").click();
    await desk.says(/In the previous period of the same length: 0, so 2 more/);
    await desk.loaded();
    await look(t, desk, "explore-requests");
    await fitsTablets(t, desk, "explore-requests");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "CSV" }).click(),
    ]);
    const csv = readFileSync(await download.path(), "utf8")
      .trimEnd()
      .split("\r\n");
    t.match(csv[0], /country,asn,as_name,user_agent,.*agent,/);
    t.equal(csv.length, 3);
    await page.getByRole("button", { name: "Alert me to these…" }).click();
    await desk.title("Alerts");
    t.equal(await page.getByRole("textbox", { name: "Expression" }).inputValue(), 'path == "/page1"');
    await page.goBack();
    await desk.title("Explore");
    await page.evaluate(() => {
      // biome-ignore lint/suspicious/noExplicitAny: the tests' types know no DOM
      const { navigator } = globalThis as any;
      navigator.clipboard.writeText = async (text: string) => {
        // biome-ignore lint/suspicious/noExplicitAny: the tests' types know no DOM
        (globalThis as any).copiedText = text;
      };
    });
    await page.getByRole("button", { name: "Copy link" }).click();
    await desk.says("Copied");
    // biome-ignore lint/suspicious/noExplicitAny: the tests' types know no DOM
    const link: string = await page.evaluate(() => (globalThis as any).copiedText);
    const shared = new URLSearchParams(link.split("?")[1]);
    t.match(
      [shared.get("from"), shared.get("to"), shared.get("of"), shared.get("project")],
      [/T/, /T/, "requests", String(tenant.projectId)],
      "another sees the same time, whenever the link is opened",
    );
  },
);

t.test(
  "a long path takes three lines, a chart has a log scale, a page that is printed has no navigation, and an address as people write it opens",
  async (t) => {
    const headers = [["User-Agent", "python-requests/2.32.3"]];
    const path = `/files/${"a-long-segment-".repeat(40)}end`;
    await server.ask("POST", "/v1/verdict", {
      token: tenant.privateKey,
      body: { request: { path, ip: "198.51.100.77", headers } },
    });
    await askUntil(
      () => asked("GET", `${at}/blocks?limit=1`),
      ({ json }) => path.startsWith(json.data[0].path),
    );
    await page.goto(`${desk.address}#blocks`);
    await desk.title("Blocks");
    const cell = page.getByRole("row", { name: /198\.51\.100\.77/ }).locator('td[data-label="Path"]');
    await cell.waitFor();
    const row = page.getByRole("row", { name: /198\.51\.100\.77/ });
    const href = await row.getByRole("link", { name: "198.51.100.77" }).getAttribute("href");
    t.match(href, /of=requests/, "its values lead to requests without a session");
    await row.getByRole("button", { name: /^Let this visitor through/ }).click();
    await dialog.getByRole("radio", { name: "User agent: python-requests/2.32.3" }).waitFor();
    await dialog.getByRole("radio", { name: /^Agent: / }).waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await fitsTablets(t, desk, "blocks");
    const tall = (await cell.getByRole("link").boundingBox())!.height;
    t.ok(tall < 90, `${tall} px for a path of ${path.length} characters`);
    t.equal(
      await page
        .getByText("198.51.100.77", { exact: true })
        .first()
        .evaluate((address) => address.getClientRects().length),
      1,
    );

    await page.goto(`${desk.address}#overview`);
    await desk.title("Overview");
    await desk.loaded();
    const canvas = page.locator("canvas").first();
    const drawn = () => canvas.evaluate((canvas) => (canvas as unknown as { toDataURL(): string }).toDataURL());
    const linear = await drawn();
    await page.getByLabel("Log scale").first().check();
    // Drawn in a task of its own, later than the press where the machine is busy.
    await waitUntil(drawn, (seen) => seen !== linear);
    await desk.says(/^Times are in /);
    await page.emulateMedia({ media: "print" });
    t.notOk(await page.getByRole("navigation").first().isVisible());
    t.ok(await page.getByRole("region", { name: "Sessions", exact: true }).isVisible());
    await page.emulateMedia({ media: null });
  },
);

t.test("a rule gets a place and an end, and is told which rules stand before it", async (t) => {
  const rules = async () => (await asked("GET", `${at}/rules`)).json;
  const wide = (await rules()).find(({ name }: { name: string }) => name === "No bots");
  await desk.go("Rules");
  await page.getByRole("link", { name: "New rule" }).click();
  await desk.title("New rule");
  await page.getByLabel("Name", { exact: true }).fill("Partner");
  await page.getByRole("textbox", { name: "Expression" }).fill("score < 20");
  await page.getByLabel("Action").selectOption("allow");
  const effect = page.getByRole("region", { name: "What changes" });
  await effect
    .getByText(/Earlier rules already decide some of what it matches/)
    .getByRole("link", { name: /No bots/ })
    .waitFor();
  await page.getByLabel(/^Place/).selectOption("first");
  await effect
    .getByText(/It would decide some of what later rules decide now/)
    .getByRole("link", { name: /No bots/ })
    .waitFor();
  await effect
    .getByText(/newly let in/)
    .first()
    .waitFor();
  await page.getByRole("radio", { name: "After a week" }).check();
  await page.getByLabel("Active").check();
  await look(t, desk, "rule-effect");
  await page.reload();
  await page.getByLabel(/^Place/).waitFor();
  t.equal(await page.getByLabel(/^Place/).inputValue(), "first", "the address holds the place");
  t.ok(await page.getByRole("radio", { name: "After a week" }).isChecked());
  await page.getByRole("button", { name: "Save rule" }).click();
  await desk.title("Rules");
  const made = (await rules()).find(({ name }: { name: string }) => name === "Partner");
  t.ok(made.sort_order < wide.sort_order, "first");
  const days = (Date.parse(made.expires_at) - Date.now()) / 86_400_000;
  t.ok(days > 6.9 && days <= 7);
  await desk.says(/^expires/);
  await desk.go("Changes");
  await asked("PATCH", `${at}/rules/${made.id}`, { expression: "score < 5" });
  await page.getByRole("button", { name: "Refresh" }).click();
  await page
    .getByRole("button", { name: /^Revert: Rule changed, rule \d+ "Partner"/ })
    .first()
    .click();
  await inBothSchemes(t, desk, "revert");
  await dialog.getByRole("button", { name: "Revert" }).click();
  await desk.says(/^Reverted: rule \d+ "Partner" is as it was before/);
  t.equal((await rules()).find(({ id }: { id: number }) => id === made.id).expression_source, "score < 20");
  const row = page.getByRole("row", { name: /Rule changed \(2 times\) rule \d+ "Partner"/ });
  await row.getByText("as before", { exact: true }).waitFor();
  t.equal(await row.getByRole("button").count(), 0, "nothing is left to revert");
});

t.test(
  "a rule that would block people without a session says so, beside its form and before it is active",
  async (t) => {
    await asked("PUT", `${at}/request-scoring`, { enabled: true });
    const request = { path: "/welcome", ip: "203.0.113.50", headers: navigation };
    for (let each = 0; each < 3; each++)
      await server.ask("POST", "/v1/verdict", { token: tenant.privateKey, body: { request } });
    const expression = 'path == "/welcome"';
    await askUntil(
      () => asked("GET", `${at}/requests?${new URLSearchParams({ expression })}`),
      ({ json }) => json.data.length === 3,
    );
    const draft = new URLSearchParams({ name: "Too wide", q: expression, action: "block", active: "true" });
    await page.goto(`${desk.address}#/rules/new?${draft}`);
    await desk.title("New rule");
    const warned =
      /^Of the requests without a session that would be treated differently, ≈ 3 requests are likely human/;
    await page.getByRole("region", { name: "What changes" }).getByText(warned).waitFor();
    await page.getByRole("button", { name: "Save rule" }).click();
    await dialog.getByText(warned).waitFor();
    await inBothSchemes(t, desk, "people-without-session");
    await dialog.getByRole("button", { name: "Cancel" }).click();
  },
);

t.test("five hundred rules are searched, and not all drawn at once", async (t) => {
  for (let each = 0; each < 120; each++) {
    const body = {
      name: `Bulk ${each}`,
      expression: `path == "/bulk/${each}"`,
      action: "log",
      sort_order: 1000 + each,
    };
    await asked("POST", `${at}/rules`, { ...body, is_active: each < 60 });
  }
  await desk.go("Rules");
  await page.getByRole("button", { name: "Show more" }).waitFor();
  t.equal(await page.locator(".rules > li").count(), 50);
  await page.getByRole("searchbox").fill("/bulk/77");
  await desk.says(/^1 rule of 12\d/);
  t.equal(await page.locator(".rules > li").count(), 1);

  await page.getByRole("searchbox").fill("/bulk/118");
  await page.getByRole("link", { name: "Edit Bulk 118" }).click();
  await desk.title("Edit rule");
  await page.getByLabel("Name", { exact: true }).fill("Bulk last but one");
  // The hits come later, a line for each active rule above; as in a browser that does not keep what it shows in place.
  await page.evaluate(`document.documentElement.style.setProperty("overflow-anchor", "none")`);
  let sendHits = () => {};
  const held = new Promise<void>((resolve) => {
    sendHits = resolve;
  });
  const ofHits = /\/stats\?.*by=rule/;
  await page.route(ofHits, async (route) => {
    await held;
    await route.fallback();
  });
  await page.getByRole("button", { name: "Save rule" }).click();
  await desk.title("Rules");
  await desk.says(/^Bulk last but one is saved, \d+ of 12\d$/);
  const saved = page.locator(".rules > li[data-saved]").filter({ hasText: "Bulk last but one" });
  const isInSight = async () => {
    const { y } = (await saved.boundingBox())!;
    t.ok(y > 0 && y < page.viewportSize()!.height, `the rule that was saved is in sight: ${y}`);
  };
  await isInSight();
  t.equal(await page.getByText("No verdict matched").count(), 0);
  sendHits();
  await page.getByText("No verdict matched").nth(59).waitFor();
  await isInSight();
  await page.unroute(ofHits);
  t.match(await page.evaluate(focusedName), /Bulk last but one/, "and has the focus");
  t.match(page.url(), /#\/rules(\?project=\d+)?$/, "a reload does not say so again");
});

t.test("Ctrl+K leads to a reference, a session, an address, a rule and a page", async (t) => {
  const find = async (text: string, expected: RegExp) => {
    await page.keyboard.press("Control+k");
    await dialog.getByRole("searchbox").fill(text);
    await dialog.getByRole("link", { name: expected }).first().waitFor();
    if (text === "Bulk 77") await inBothSchemes(t, desk, "finder");
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "hidden" });
  };
  await page.keyboard.press("Control+k");
  for (const [text, said] of [
    ["7cc11833b9eb-1h", "No block has this reference."],
    ["sess_none", "The project has no such session."],
  ] as const) {
    await dialog.getByRole("searchbox").fill(text);
    await dialog.getByText(said).first().waitFor();
  }
  await page.keyboard.press("Escape");
  await find("Référence : 7CC11833B9EB-1h.", /^Block with the reference 7cc11833b9eb-1h$/);
  await page.waitForURL(/#\/blocks\?.*q=7cc11833b9eb-1h/);
  await find(bots[1]!, /^Session sess_/);
  await desk.title("Session");
  await find("203.0.113.0/24", /^Sessions of the address/);
  await desk.title("Explore");
  t.equal(await page.getByLabel("Expression").inputValue(), 'ip == "203.0.113.0/24"');
  await find("Bulk 77", /^Rule \d+ Bulk 77/);
  await desk.title("Edit rule");
  await find("crawl", /^Crawlers/);
  await desk.title("Crawlers");
});

t.test("a new project begins with its first steps, which follow what is done", async (t) => {
  await desk.go("Projects");
  await page.getByLabel("Name", { exact: true }).fill("Second shop");
  await look(t, desk, "projects");
  await page.getByRole("button", { name: "Create the project" }).click();
  await desk.title("Overview");
  const steps = page.getByRole("region", { name: "The first five minutes of Second shop" });
  await steps.getByText("The project has no verdict yet").waitFor();
  await steps.getByRole("button", { name: "Enable scoring" }).click();
  const key = await steps.getByLabel(/^Your private key/).inputValue();
  t.match(key, /^sk_/);
  const script = await steps.getByLabel("In the head of your pages").inputValue();
  const siteKey = /data-site-key="(pk_[^"]+)"/.exec(script)![1]!;
  await steps.getByText(sessionCookieName, { exact: true }).waitFor();
  t.ok((await steps.getByLabel("From your backend").inputValue()).includes(key), "the snippet holds the real key");
  t.equal(await page.locator(".tiles").count(), 0, "no zeros");
  await desk.loaded();
  await look(t, desk, "first-steps");
  const sent = await server.ask("POST", "/v1/events", {
    headers: { ...browserHeaders, "x-service-site-key": siteKey },
    body: batch("first", 3),
  });
  await server.ask("GET", `/v1/sessions/${sent.json.session_token}/verdict?path=/`, { token: key });
  await steps.getByText("Script seen in a browser: done").waitFor();
  await steps.getByText("First verdict: done").waitFor();
  await steps.getByText("Token reached your backend: done").waitFor();
});

t.test("an address without its slash is the page that was meant", async () => {
  await page.goto(`${desk.address}#explore`);
  await desk.title("Explore");
});

t.test("a page of the documentation that is none is a page", async (t) => {
  const answer = await server.ask("GET", "/docs/nope");
  t.equal(answer.status, 404);
  t.match(answer.headers.get("content-type"), /^text\/html/);
  t.match(answer.text, /<a href="\/docs">/);
});

t.test("a link into the API page opens the route that it is of, on a page of a few screens", async (t) => {
  await page.goto(`http://127.0.0.1:${server.port}/docs/api#op-muteIncident`);
  await page.getByText("Until then neither it nor another one with the same").waitFor();
  const open = () => page.locator("details.folded[open]").count();
  t.equal(await open(), 1);
  await page.locator("details.folded[open] a[href*='#type-']").first().click();
  await page.waitForURL(/#type-/);
  await page.locator("details.folded[open] h3[id^='type-']").waitFor();
  // biome-ignore lint/suspicious/noExplicitAny: the tests' types know no DOM
  const height: number = await page.evaluate(() => (globalThis as any).document.documentElement.scrollHeight);
  t.ok(height < 30_000, `${height} px`);
});

t.test(
  "the documentation and the page of a block have no serious barriers, light and dark, and fit a phone",
  async (t) => {
    const origin = `http://127.0.0.1:${server.port}`;
    for (const name of ["", "/quick-start", "/under-attack", "/alerts", "/api", "/figures", "/detections", "/nope"]) {
      await page.goto(`${origin}/docs${name}`);
      await look(t, desk, `docs${name.replace("/", "-")}`);
    }
    const visitor = { site: "shop.example", acceptLanguage: "de" };
    for (const kind of ["block", "challenge"] as const) {
      const { headers, body } = denialResponse({ kind, verdictId: "7cc118-33b9eb" }, "text/html", {}, visitor);
      await page.route("**/denied", (route) => route.fulfill({ status: 403, headers, body }));
      await page.goto(`${origin}/denied`);
      await look(t, desk, `denied-${kind}`);
      await page.unroute("**/denied");
    }
  },
);

t.test("nothing broke the policy", async (t) => {
  t.same(desk.broken, []);
});
