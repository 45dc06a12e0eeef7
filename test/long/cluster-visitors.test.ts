/**
 * Three nodes on a cluster of six processes behind nginx, and real Chromium visitors on the demo page, while one thing after another is killed:
 * every page is there, no visitor sees an error, and every session has each event that the SDK sent, once.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BrowserContext, Page, Request } from "playwright-core";
import t from "tap";
import { missing, runProxy } from "../middleware/proxy.js";
import { incidents } from "../resilience/cluster-incidents.js";
import { audit, ClusterLoad } from "../resilience/cluster-load.js";
import { launch, noChromium, sessionCookie } from "../support/chromium.js";
import { startNodes, type VerdictdNode } from "../support/cluster-nodes.js";
import { freePort } from "../support/process.js";
import { startRedis } from "../support/redis-cluster.js";
import { waitUntil } from "../support/wait-until.js";

const lacking = noChromium ?? missing("nginx");
if (lacking !== undefined) {
  t.plan(0, lacking);
  process.exit(0);
}

/** nginx as in front of any servers: what one can't answer, the next is asked. Batches carry ids, so that they may be given twice. */
function nginxConfig(nodes: readonly VerdictdNode[], port: number, folder: string): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((each) => `${each}_temp_path ${folder};`);
  return `
worker_processes 1; ${process.getuid?.() === 0 ? "user root;" : ""}
events {}
http {
  access_log off;
  ${temporary.join("\n  ")}
  upstream verdictd {
    ${nodes.map((node) => `server ${node.host}:${node.port} max_fails=1 fail_timeout=1s;`).join("\n    ")}
    keepalive 16;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://verdictd;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_connect_timeout 1s;
      proxy_next_upstream error timeout http_503 non_idempotent;
      proxy_next_upstream_timeout 5s;
    }
  }
}
`;
}

/** A visitor's page, what its SDK sent and what of it was taken. */
class PageVisitor {
  readonly sent = new Set<string>();
  readonly taken = new Set<string>();
  readonly faults: string[] = [];
  readonly #moves: Promise<void>;
  isOver = false;

  constructor(
    readonly context: BrowserContext,
    readonly page: Page,
  ) {
    page.on("request", (request) => this.#add(request, this.sent));
    page.on("requestfinished", async (request) => {
      const response = await request.response();
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
    this.#moves = this.#move();
  }

  /** Moves the pointer and types until it is over. */
  async #move(): Promise<void> {
    for (let step = 0; !this.isOver; step++) {
      await this.page.mouse.move(100 + ((step * 37) % 400), 100 + ((step * 61) % 300), { steps: 5 });
      await this.page.waitForTimeout(200);
    }
  }

  /** Once everything that was sent has been taken. */
  async done(): Promise<void> {
    this.isOver = true;
    await this.#moves;
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
  const file = join(folder, "nginx.conf");
  writeFileSync(file, nginxConfig(made.nodes, port, folder));
  const globals = `daemon off; pid ${join(folder, "nginx.pid")}; error_log ${join(folder, "error.log")};`;
  await runProxy(t, ["nginx", "-p", folder, "-c", file, "-e", join(folder, "error.log"), "-g", globals], {}, port);
  const site = `http://127.0.0.1:${port}`;

  const browser = await launch(t);
  const visitors: PageVisitor[] = [];
  const visit = async (): Promise<void> => {
    const context = await browser.newContext();
    const page = await context.newPage();
    const visitor = new PageVisitor(context, page);
    visitors.push(visitor);
    const answer = await page.goto(`${site}/demo`);
    t.equal(answer?.status(), 200, "the page is there");
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
