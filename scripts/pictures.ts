/**
 * Makes the pictures of the documentation anew, in `src/docs/pictures`: a day of made-up traffic at a shop on a server of its own, and pages of the
 * console in Chromium, light and dark. Needs Debian's `faketime`, by which the server lives through the hours of the day before.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import t from "tap";
import { putRow } from "../src/alerting/alerting-rows.js";
import { recordControlPlane } from "../src/store/control-plane-changes.js";
import { sessionScript, untilScored } from "../test/challenge/challenged-site.js";
import { openChallengedSite } from "../test/challenge/fronts.js";
import { Desk, loginIncident, strolling } from "../test/console/desk.js";
import { type Browser, headersOf, ways } from "../test/requests/browser-headers.js";
import type { HeaderLine } from "../test/requests/judged.js";
import { automatedBatch, batch, browserHeaders } from "../test/support/batches.js";
import { launch, launchUsual } from "../test/support/chromium.js";
import { json, serve } from "../test/support/process.js";
import { askerAs, askUntil, startServer, type TestServer } from "../test/support/server.js";
import { root } from "./package/checkout.js";

t.setTimeout(1_800_000);
const folder = join(root, "src/docs/pictures");
/** All pictures together, as they are in the repository and in the package. */
const bytesMax = 1024 * 1024;
const hours = 24;
const dataDir = t.testdir();

type Asked = Pick<TestServer, "ask">;

/** The keys of the shop's project. */
interface Shop {
  readonly siteKey: string;
  readonly privateKey: string;
}

/** Visitors by country: addresses of ordinary access providers. */
const people = ["91.64.12.7", "82.64.3.9", "86.21.5.4", "24.48.0.1", "121.44.9.2", "189.6.0.3"];
const hosts = ["5.9.40.2", "51.15.8.8", "34.73.1.9"];
const paths = ["/", "/bikes", "/bikes/gravel-2", "/cart", "/checkout", "/login", "/search"];

/** The browser whose headers `browserHeaders` are. */
const chrome: Browser = {
  name: "Chromium",
  engine: "chromium",
  version: 140,
  agent: browserHeaders["user-agent"],
  brands: [],
  platform: "Linux",
};

/** Headers as the middlewares pass them on. */
const linesOf = (agent: string): HeaderLine[] =>
  agent === chrome.agent
    ? headersOf(chrome, "link", ways[1]!)
    : [
        ["Host", "shop.example"],
        ["User-Agent", agent],
        ["Accept", "*/*"],
      ];

/** An hour of the shop: people by the time of day, programs around the clock. */
async function hour(server: Asked, shop: Shop, hour: number, agoMs: number): Promise<void> {
  const share = 0.25 + 0.75 * Math.max(0, Math.sin(((hour % 24) / 24) * 2 * Math.PI - 1.9));
  const events = async (body: object, headers: Record<string, string>): Promise<string> => {
    // The clock of the visitor is the server's.
    const text = JSON.stringify(body, (key, value) =>
      key === "received_at" ? new Date(Date.parse(value) - agoMs).toISOString() : value,
    );
    const sent = { ...browserHeaders, "x-service-site-key": shop.siteKey, ...headers };
    return (await server.ask("POST", "/v1/events", { headers: sent, body: JSON.parse(text) })).json.session_token;
  };
  const judge = (ip: string, path: string, agent: string, session?: string) =>
    server.ask("POST", "/v1/verdict", {
      token: shop.privateKey,
      body: {
        ...(session !== undefined && { session_token: session }),
        request: { ip, path, headers: linesOf(agent) },
      },
    });
  const at = <T>(list: readonly T[], index: number): T => list[index % list.length]!;
  for (let each = 0; each < Math.round(26 * share); each++) {
    const session = await events(batch(`person-${hour}-${each}`, 3 + (each % 4)), {});
    for (let page = 0; page < 1 + (each % 3); page++)
      await judge(at(people, each), at(paths, each + page), browserHeaders["user-agent"], session);
  }
  for (let each = 0; each < 4 + (hour % 3); each++) {
    const session = await events(automatedBatch(`robot-${hour}-${each}`), {});
    await judge(at(hosts, each), at(paths, each + 3), browserHeaders["user-agent"], session);
  }
  for (let each = 0; each < 6; each++) {
    await judge(
      at(hosts, each + 1),
      at(paths, each),
      at(["python-requests/2.32.3", "Scrapy/2.12", "curl/8.9.1"], each),
    );
    await judge(
      "66.249.66.1",
      at(paths, each + hour),
      "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    );
  }
}

/** Brings what a picture is of to the top or the end of the window. */
async function scrollTo(place: Locator, block: "start" | "end"): Promise<void> {
  await place.evaluate((element, block) => element.scrollIntoView({ block }), block);
}

/** One page, light and dark. */
async function picture(page: Page, name: string): Promise<void> {
  // Nothing is pointed at.
  await page.mouse.move(0, 0);
  const devtools = await page.context().newCDPSession(page);
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.evaluate(() => new Promise((done) => setTimeout(done, 300)));
    const { data } = await devtools.send("Page.captureScreenshot", { format: "webp", quality: 80 });
    writeFileSync(join(folder, `${name}${colorScheme === "dark" ? "-dark" : ""}.webp`), Buffer.from(data, "base64"));
  }
  await page.emulateMedia({ colorScheme: "light" });
}

t.test("pictures of a day at a shop", async (t) => {
  mkdirSync(folder, { recursive: true });
  const { account_token: token, project_id: projectId } = await json<{ account_token: string; project_id: number }>(
    dataDir,
    "init",
  );
  const at = `/v1/projects/${projectId}`;
  // The command itself would keep signals from the server.
  const LD_PRELOAD = execFileSync("faketime", ["-f", "+0s", "printenv", "LD_PRELOAD"], { encoding: "utf8" }).trim();
  let shop: Shop | undefined;
  for (let ago = hours; ago > 0; ago--) {
    const past = await serve(t, dataDir, { env: { LD_PRELOAD, FAKETIME: `-${ago}h`, DONT_FAKE_MONOTONIC: "1" } });
    if (shop === undefined) {
      const { json: keys } = await past.ask("POST", `${at}/scoring`, { token });
      shop = { siteKey: keys.site_key, privateKey: keys.private_key };
      await past.ask("PUT", `${at}/request-scoring`, { token, body: { enabled: true } });
    }
    await hour(past, shop, (new Date().getHours() + 48 - ago) % 24, ago * 3_600_000);
    await past.end("SIGTERM");
  }

  const server = await startServer(t, ["--verdict-ttl", "0"], dataDir);
  const asked = askerAs(server, token);
  // Before the hour: under load a share of the sessions alone is followed.
  const walked = await strolling(server, shop!);
  await askUntil(
    () => asked("GET", `${at}/sessions/${walked}/trail`),
    ({ json }) => json.noted > 0,
  );
  await hour(server, shop!, new Date().getHours(), 0);
  await asked("PUT", `${at}/challenge`, { enabled: true });
  await asked("POST", `${at}/rules`, {
    name: "No bots",
    expression: "score < 30",
    action: "block",
    is_active: false,
  });
  await recordControlPlane(server.store, () => putRow(server.store, "incident", loginIncident(projectId, 540_000)));
  await askUntil(
    () => asked("GET", `${at}/sessions?limit=1`),
    ({ json }) => json.data.length === 1,
  );

  const desk = await Desk.open(t, await launch(t), server, { viewport: { width: 1280, height: 800 } });
  const { page } = desk;
  await desk.signIn(token);
  await desk.loaded();
  await picture(page, "overview");
  await desk.go("Explore");
  await desk.loaded();
  await page.locator("canvas").first().waitFor();
  await scrollTo(page.locator(".headline"), "start");
  await picture(page, "explore");
  await page.goto(`${server.address}/console#/sessions/${walked}`);
  await desk.title("Session");
  await desk.loaded();
  await page.getByRole("img", { name: /^Pointer path/ }).waitFor();
  await picture(page, "session");
  await scrollTo(page.getByRole("region", { name: "Pointer path" }), "end");
  await picture(page, "path");
  await desk.go("Rules");
  await page.getByRole("switch", { name: "No bots is active" }).click();
  await page.getByText(/^Matches \d+ of the \d+ sessions/).waitFor();
  await picture(page, "activate");
  await page.getByRole("button", { name: "Cancel" }).click();

  t.same(desk.broken, [], "nothing broke");
});

t.test("the page of a challenge, at its work", async (t) => {
  const site = await openChallengedSite(t);
  const context = await (await launchUsual(t)).newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.goto(`${site.origin}/`);
  await untilScored(site, String(await page.evaluate(sessionScript)));
  // Nothing answers what it asks for, so that the page stays.
  await page.route("**/v1/challenges", () => {});
  await page.goto(`${site.origin}/c/page`, { waitUntil: "commit" });
  await page.getByRole("progressbar").waitFor();
  await picture(page, "challenge");
});

t.test("they are small", async (t) => {
  const bytes = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  t.ok(bytes < bytesMax, `${bytes} bytes`);
});
