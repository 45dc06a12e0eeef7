/**
 * Three nodes on a cluster of six processes behind the nginx of the compose file, and real Chromium visitors on the demo page, while one thing after another is killed:
 * every page is there, no visitor sees an error, and every session has each event that the SDK sent, once.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { BrowserContext, Page, Request } from "playwright-core";
import t from "tap";
import { missing, runProxy } from "../middleware/proxy.js";
import { incidents } from "../resilience/cluster-incidents.js";
import { audit, ClusterLoad } from "../resilience/cluster-load.js";
import { launch, noChromium, sessionCookie, skipFileIf, stepMsMax } from "../support/chromium.js";
import { startNodes } from "../support/cluster-nodes.js";
import { deployedNginx } from "../support/deployed-nginx.js";
import { freePort } from "../support/free-port.js";
import { startRedis } from "../support/redis-cluster.js";
import { waitUntil } from "../support/wait-until.js";

const lacking = noChromium ?? missing("nginx");
skipFileIf(t, lacking);

/** A visitor's page, what its SDK sent and what of it was taken. */
class PageVisitor {
  readonly sent = new Set<string>();
  readonly taken = new Set<string>();
  readonly faults: string[] = [];
  #moves: Promise<void> = Promise.resolve();
  #isOver = false;

  constructor(
    readonly context: BrowserContext,
    readonly page: Page,
  ) {
    page.on("request", (request) => this.#add(request, this.sent));
    page.on("requestfinished", async (request) => {
      const response = await request.response().catch(() => null);
      if (response?.status() === 202) this.#add(request, this.taken);
      // The SDK keeps a batch that is refused; anything else that fails is what a visitor would see.
      else if (response === null || (response.status() >= 400 && !isBatch(request))) {
        this.faults.push(`${request.url()}: ${response?.status()}`);
      }
    });
    page.on("requestfailed", (request) => {
      if (!isBatch(request)) this.faults.push(`${request.url()}: ${request.failure()?.errorText}`);
    });
    page.on("pageerror", (error) => this.faults.push(error.message));
  }

  /** Opens the page; its status. From then on the pointer moves, not before: a browser may never answer for moves over a page that goes. */
  async visit(url: string): Promise<number | undefined> {
    const answer = await this.page.goto(url);
    this.#moves = this.#move().catch((error: Error) => void this.faults.push(`the pointer: ${error.message}`));
    return answer?.status();
  }

  async #move(): Promise<void> {
    for (let step = 0; !this.#isOver; step++) {
      await this.page.mouse.move(100 + ((step * 37) % 400), 100 + ((step * 61) % 300), { steps: 5 });
      // The pace of a hand.
      await delay(200);
    }
  }

  /** Once everything that was sent has been taken. */
  async done(): Promise<void> {
    this.#isOver = true;
    // The browser's driver sets no bound to moves.
    const late = delay(stepMsMax, "late", { ref: false });
    if ((await Promise.race([this.#moves, late])) === "late")
      this.faults.push("the browser does not answer for the pointer");
    const left = await waitUntil(
      async () => this.sent.size - this.taken.size,
      (count) => count === 0,
    );
    if (left > 0) this.faults.push(`${left} events were not taken`);
  }

  #add(request: Request, to: Set<string>): void {
    if (!isBatch(request)) return;
    const { events } = JSON.parse(request.postData() ?? '{"events":[]}') as { events: { request_id: string }[] };
    for (const { request_id } of events) to.add(request_id);
  }
}

const isBatch = (request: Request): boolean => request.url().endsWith("/v1/events");

t.test("visitors notice nothing", async (t) => {
  const cluster = await startRedis(t);
  const made = await startNodes(t, cluster, { count: 3, flags: ["--demo", "--scoring-threads", "1"] });
  const port = await freePort();
  const folder = t.testdir();
  const addresses = made.nodes.map((node) => `${node.host}:${node.port}`);
  await runProxy(t, ["nginx", "-p", folder, "-c", deployedNginx(folder, addresses, port)], {}, port);
  const site = `http://127.0.0.1:${port}`;

  const browser = await launch(t);
  const visitors: PageVisitor[] = [];
  const visit = async (): Promise<void> => {
    const context = await browser.newContext();
    const page = await context.newPage();
    const visitor = new PageVisitor(context, page);
    visitors.push(visitor);
    t.equal(await visitor.visit(`${site}/demo`), 200, "the page is there");
  };
  await Promise.all([visit(), visit(), visit()]);

  // Visitors beside those in browsers, so that every shard has some.
  const load = new ClusterLoad({ ...made, visitors: 8, seed: Date.now() % 100_000, pauseMs: 100 });
  load.start();
  const scene = { ...made, cluster, load, zones: null };
  const names = [
    "kill of a node",
    "kill of a master until it is replaced",
    "restart of a master before it is replaced",
    "freeze of a master for 6 s",
    "kill of a node",
  ];
  for (const [run, name] of names.entries()) {
    t.comment(name);
    await incidents.find((each) => each.name === name)!.happen(scene, run);
    await cluster.restore();
    // One who comes in between.
    await visit();
  }
  await load.stop();
  for (const visitor of visitors) await visitor.done();

  const tokens = new Map<PageVisitor, string>();
  for (const visitor of visitors) {
    t.same(visitor.faults, [], "no error");
    const token = (await sessionCookie(visitor.context))?.value ?? "";
    tokens.set(visitor, token);
    const { json } = await waitUntil(
      () => made.nodes[0]!.client.ask("GET", `/demo/verdict?session=${token}`),
      ({ json }) => json?.verdict !== "not_computed",
    );
    t.equal(json.verdict, "definite", "and has its verdict");
  }
  // The pages are open, and may send something yet.
  const compared = await waitUntil(
    () => {
      const ledger = new Map(load.ledger);
      for (const [{ taken }, token] of tokens) ledger.set(token, taken.size);
      return audit(cluster, made.owner, ledger);
    },
    ({ lost, doubled }) => lost === 0 && doubled === 0,
  );
  t.match(compared, { lost: 0, doubled: 0, unknown: 0 });
  t.same(load.counts.wrong, []);
  t.comment(
    `${visitors.length} visitors in browsers with ${visitors.reduce((sum, { taken }) => sum + taken.size, 0)} events, ` +
      `${load.counts.batches} batches of others; ${load.counts.refused + load.counts.unanswered} of their tries in vain`,
  );
});
