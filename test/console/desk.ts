/** The console as an operator has it before them: a real Chromium at a real server, with what the page asked, said and broke. */
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import type { Test } from "tap";
import type { Incident } from "../../src/contract/incidents/incidents.js";
import { automatedBatch, batch, browserHeaders } from "../support/batches.js";
import type { Tenant, TestServer } from "../support/server.js";

const screenshots = resolve(dirname(fileURLToPath(import.meta.url)), "../../test-screenshots");
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The rules of axe that look at colours: the rest of a page is the same in both schemes. */
export const ofColour = ["color-contrast", "link-in-text-block"];

/** One signed-out tab of the console and what was seen of it. */
export class Desk {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly address: string;
  /** Addresses of everything that the page asked for. */
  readonly asked: string[] = [];
  /** Uncaught errors, and whatever the policy refused. */
  readonly broken: string[] = [];

  private constructor(page: Page, context: BrowserContext, address: string) {
    this.page = page;
    this.context = context;
    this.address = address;
    page.on("request", (request) => this.asked.push(request.url()));
    page.on("pageerror", (error) => this.broken.push(String(error)));
    page.on("console", (message) => {
      if (/Content Security Policy|Refused to/i.test(message.text())) this.broken.push(message.text());
    });
  }

  /** Opens the console; the context is closed with the test. */
  static async open(
    t: Test,
    browser: Browser,
    server: Pick<TestServer, "port">,
    options: BrowserContextOptions = {},
  ): Promise<Desk> {
    const context = await browser.newContext({
      viewport: { width: 1280, height: 900 },
      // Contrast is measured on what stands still.
      reducedMotion: "reduce",
      ...options,
    });
    t.teardown(() => context.close());
    const address = `http://127.0.0.1:${server.port}/console`;
    const desk = new Desk(await context.newPage(), context, address);
    await desk.page.goto(address);
    return desk;
  }

  async signIn(token: string): Promise<void> {
    await this.page.getByLabel("Account token").fill(token);
    await this.page.getByRole("button", { name: "Sign in" }).click();
    await this.title("Overview");
  }

  /** Goes to a page by its link, as a person would. */
  async go(name: string): Promise<void> {
    await this.page.getByRole("navigation").getByRole("link", { name, exact: true }).click();
    await this.title(name);
  }

  async title(name: string): Promise<void> {
    await this.page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
  }

  async says(text: string | RegExp): Promise<void> {
    await this.page.getByText(text).first().waitFor();
  }

  /** Waits until nothing says that it loads. */
  async loaded(): Promise<void> {
    // biome-ignore lint/suspicious/noExplicitAny: the tests' types know no DOM
    await this.page.waitForFunction(() => !(globalThis as any).document.body.textContent.includes("Loading…"));
  }

  /** CSS pixels by which the page stays wider than the window: what is drawn follows a new width a moment later. */
  async overflow(): Promise<number> {
    const overflow = () => {
      // biome-ignore lint/suspicious/noExplicitAny: the tests' types know no DOM
      const root = (globalThis as any).document.documentElement;
      return root.scrollWidth - root.clientWidth;
    };
    for (let tries = 0; tries < 100; tries++) {
      if ((await this.page.evaluate(overflow)) === 0) return 0;
      await this.page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 50)));
    }
    return this.page.evaluate(overflow);
  }

  /** Leaves a picture of the page, as far as three screens down, for those who want to look (`CONSOLE_PICTURES=1`): drawing is dear. */
  async picture(name: string): Promise<void> {
    if (!process.env["CONSOLE_PICTURES"]) return;
    mkdirSync(screenshots, { recursive: true });
    const { width, height } = this.page.viewportSize()!;
    // biome-ignore lint/suspicious/noExplicitAny: the tests' types know no DOM
    const whole: number = await this.page.evaluate(() => (globalThis as any).document.documentElement.scrollHeight);
    const clip = { x: 0, y: 0, width, height: Math.min(whole, 3 * height) };
    await this.page.screenshot({ path: join(screenshots, `console-${name}.png`), fullPage: true, clip });
  }

  /** What axe finds that is serious or critical on the page as it is; only by the rules that are named, if any are. */
  async barriers(rules: readonly string[] = []): Promise<string[]> {
    if (!(await this.page.evaluate(() => "axe" in globalThis))) await this.page.evaluate(axe);
    return this.page.evaluate(async (rules) => {
      const { axe } = globalThis as unknown as {
        axe: {
          run(options: object): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }>;
        };
      };
      const { violations } = await axe.run(rules.length === 0 ? {} : { runOnly: { type: "rule", values: rules } });
      return violations
        .filter(({ impact }) => impact === "serious" || impact === "critical")
        .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`);
    }, rules);
  }

  /** Presses Tab (or Shift+Tab) until what has the focus is called so, a bounded number of times. */
  async tabTo(name: string, key: "Tab" | "Shift+Tab" = "Tab"): Promise<void> {
    for (let presses = 0; presses < 80; presses++) {
      await this.page.keyboard.press(key);
      const focused = await this.page.evaluate(focusedName);
      if (focused === name) return;
    }
    throw new Error(`${key} never reaches ${name}`);
  }
}

/** What axe has to say of the page as it is, light and dark; and that a dialog which is open stands in the middle. */
export async function inBothSchemes(t: Test, desk: Desk, name: string): Promise<void> {
  const { page } = desk;
  const box = await page
    .locator("dialog[open]")
    .boundingBox({ timeout: 1 })
    .catch(() => null);
  if (box !== null) {
    const { width } = page.viewportSize()!;
    t.ok(Math.abs(box.x + box.width / 2 - width / 2) < 20, `${name} is in the middle`);
  }
  t.same(await desk.barriers(), [], `${name}, light`);
  await page.emulateMedia({ colorScheme: "dark" });
  t.same(await desk.barriers(ofColour), [], `${name}, dark`);
  await desk.picture(`${name.replaceAll(" ", "-")}-dark`);
  await page.emulateMedia({ colorScheme: "light" });
}

/** Wide and as on a phone, light and dark, with what axe has to say of each. */
export async function look(t: Test, desk: Desk, name: string): Promise<void> {
  t.same(await desk.barriers(), [], `${name}, light`);
  const sizes = process.env["CONSOLE_PICTURES"]
    ? { wide: [1440, 900], laptop: [1280, 900], phone: [390, 844] }
    : { phone: [390, 844] };
  for (const [size, [width, height]] of Object.entries(sizes)) {
    await desk.page.setViewportSize({ width: width!, height: height! });
    t.equal(await desk.overflow(), 0, `${name} fits ${width} px`);
    for (const colorScheme of ["light", "dark"] as const) {
      await desk.page.emulateMedia({ colorScheme });
      await desk.picture(`${name}-${size}-${colorScheme}`);
    }
    t.same(await desk.barriers(ofColour), [], `${name}, ${size}, dark`);
    await desk.page.emulateMedia({ colorScheme: "light" });
  }
  await desk.page.setViewportSize({ width: 1280, height: 900 });
}

/** That nothing is wider than a tablet, upright or not. */
export async function fitsTablets(t: Test, desk: Desk, name: string): Promise<void> {
  for (const width of [1024, 834, 768]) {
    await desk.page.setViewportSize({ width, height: 900 });
    t.equal(await desk.overflow(), 0, `${name} fits ${width} px`);
  }
  await desk.page.setViewportSize({ width: 1280, height: 900 });
}

/** Runs in the page. */
export function focusedName(): string {
  // biome-ignore lint/suspicious/noExplicitAny: the tests' types know no DOM
  const focused = (globalThis as any).document.activeElement;
  const label = focused?.labels?.[0]?.querySelector("span")?.textContent ?? focused?.labels?.[0]?.textContent;
  return (focused?.getAttribute("aria-label") ?? label ?? focused?.textContent ?? "").trim();
}

/** A user agent that names an HTTP library. */
const declaredAgent = "python-requests/2.31.0";
/** Headers whose user agent tries to be markup. */
export const markupAgent = "<img src=x onerror=\"globalThis.hit='agent'\"><script>hit=1</script>";
/** A path that tries to leave an attribute. */
export const markupPath = "/\"'><img src=x onerror=\"globalThis.hit='path'\">";
export const markupName = "<img src=x onerror=\"globalThis.hit='name'\">";

/** People, declared bots and one with a strange user agent, each with a verdict; their tokens. */
export async function traffic(server: TestServer, tenant: Tenant): Promise<{ people: string[]; bots: string[] }> {
  const send = async (body: object, headers: Record<string, string>): Promise<string> => {
    const answer = await server.ask("POST", "/v1/events", {
      headers: { ...browserHeaders, "x-service-site-key": tenant.siteKey, ...headers },
      body,
    });
    return answer.json.session_token;
  };
  const people: string[] = [];
  const bots: string[] = [];
  for (let each = 0; each < 14; each++) people.push(await send(batch(`person${each}`, 1 + (each % 5)), {}));
  for (let each = 0; each < 5; each++) {
    const headers: Record<string, string> = each === 0 ? { "user-agent": declaredAgent } : {};
    bots.push(await send(automatedBatch(`robot${each}`), headers));
  }
  bots.push(await send(automatedBatch("markup"), { "user-agent": markupAgent }));
  for (const token of [...people, ...bots]) await readVerdict(server, tenant, token, "/shop");
  return { people, bots };
}

/** A person who looks around and clicks; the token. */
export async function strolling(server: TestServer, tenant: Pick<Tenant, "siteKey">): Promise<string> {
  const walk = (from: number): [number, number, number][] =>
    Array.from({ length: 20 }, (_, step) => {
      const way = from + step;
      return [step * 30, 100 + way * 18, 300 + 140 * Math.sin(way / 4)];
    });
  const pieces: [string, Record<string, unknown>][] = [
    ["page", { path: "/shop?secret=1" }],
    ["mouse", { points: walk(0) }],
    ["mouse", { points: walk(20) }],
    ["click", { x: 820, y: 290 }],
    ["page", { path: "/cart" }],
    ["scroll", {}],
  ];
  const events = pieces.map(([type, payload], index) => ({
    request_id: `strolling-${index}`,
    type,
    received_at: new Date(Date.now() - 6000 + index * 1000).toISOString(),
    payload,
  }));
  const headers = { ...browserHeaders, "x-service-site-key": tenant.siteKey };
  const answer = await server.ask("POST", "/v1/events", { headers, body: { session_token: null, events } });
  return answer.json.session_token;
}

export async function readVerdict(server: TestServer, tenant: Tenant, session: string, path: string) {
  const query = new URLSearchParams({ path });
  return (await server.ask("GET", `/v1/sessions/${session}/verdict?${query}`, { token: tenant.privateKey })).json;
}

/** An incident on /login that is under way since `sinceMs` ago. */
export function loginIncident(projectId: number, sinceMs: number): Incident {
  const nowMs = Date.now();
  return {
    id: 1,
    projectId,
    startedAt: new Date(nowMs - sinceMs).toISOString(),
    endedAt: null,
    seenAt: new Date(nowMs).toISOString(),
    what: { path: "/login", network: "203.0.113.0/24" },
    count: 4213,
    baseline: 11.6,
    peakPerMinute: 610,
    bands: { confident_automated: 4200, likely_human: 13 },
    actions: { allow: 4213 },
    expression: 'path == "/login" AND ip == "203.0.113.0/24"',
    ruleWould: { newly_blocked: 4213, likely_human: 13, logged_in: 0 },
  };
}
