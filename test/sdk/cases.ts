/**
 * What the SDK promises in every browser, one case a promise: how batches travel, and how it behaves as a guest on a page.
 * Run in Chromium and in Firefox (`repeatCases` there in the long tests only); what only one of them can show is in the test files.
 */
import { readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import type { Test } from "tap";
import type { IngestEvent } from "../../src/contract/events/events.js";
import { waitUntil } from "../support/wait-until.js";
import { gate, openSite, type Post, pageWith, wholeEnvironment } from "./site.js";
import type { Arrive, Tab, Visitor } from "./visitor.js";

/** The case's claim, and its proof: a visitor of its own, gone at the end. */
type Case = readonly [claim: string, prove: (t: Test, visitor: Visitor) => Promise<void>];

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
/** Makes a page record something at once. */
const click = "document.body.click()";

/** How batches travel, as far as the browser has a part in it. */
export const deliveryCases: readonly Case[] = [
  [
    "the first report holds page and env, and how the page loaded and draws follows",
    async (t, visitor) => {
      const site = await openSite(t);
      const page = await visitor.open();
      await page.goto(site.origin);
      const first = await site.post(() => true);
      t.equal(first.batch.session_token, null, "first contact has no token");
      t.equal(first.headers["x-service-site-key"], "pk_test");
      t.notOk("site_key" in first.batch, "the site key is said once");
      t.match(first.headers["idempotency-key"], uuid);
      t.match(first.headers["content-type"], /^application\/json/);
      t.strictSame(
        ["page", "env"].filter((type) => !first.batch.events.some((event) => event.type === type)),
        [],
      );
      const timing = await site.event("timing");
      t.ok(timing.payload.load! > 0, "the load event was over when it was measured");
      t.equal(new Set(first.batch.events.map((event) => event.request_id)).size, first.batch.events.length);
    },
  ],
  [
    "the answered token is offered to the page and used in the next batch",
    async (t, visitor) => {
      const site = await openSite(t);
      site.answer = () => ({ status: 202, token: "sess_first" });
      const listen = "document.addEventListener('verdictd', (event) => { window.announced = event.detail.token; });";
      site.pages.set("/", `<script>${listen}</script>${pageWith('data-interval="250"')}`);
      const page = await visitor.open();
      await page.goto(site.origin);
      await site.post(() => true);
      t.equal(await page.evaluate("verdictd.ready"), "sess_first");
      t.equal(await page.evaluate("verdictd.token()"), "sess_first");
      t.equal(await page.evaluate("announced"), "sess_first");
      await page.evaluate(click);
      await site.event("click");
      const second = await site.post((post) => post.batch.session_token !== null);
      t.equal(second.batch.session_token, "sess_first");
      t.not(second.headers["idempotency-key"], site.posts[0]!.headers["idempotency-key"], "a batch has its own key");
    },
  ],
  [
    "what happens while the server can't be reached is sent when it is back",
    async (t, visitor) => {
      const site = await openSite(t);
      // Tells when a request of the page has failed.
      const watch = `window.failed = new Promise((tell) => {
        const real = fetch;
        window.fetch = (...all) => real(...all).catch((error) => { tell("failed"); throw error; });
      });`;
      site.pages.set("/", `<script>${watch}</script>${pageWith('data-interval="250"')}`);
      const page = await visitor.open();
      await page.goto(site.origin);
      await page.evaluate("verdictd.ready");
      await site.goAway();
      const before = site.posts.length;
      await page.evaluate(click);
      t.equal(await page.evaluate("failed"), "failed");
      await site.comeBack();
      await page.evaluate("dispatchEvent(new Event('online'))");
      await site.event("click");
      // What arrived as the server went had no answer, and comes once more.
      const keys = site.posts.slice(before).map((post) => post.headers["idempotency-key"]);
      t.equal(new Set(keys).size, keys.length, "nothing arrived twice");
      t.ok(site.posts.length > before);
    },
  ],
  [
    "leaving the page sends the rest as a beacon that needs no preflight",
    async (t, visitor) => {
      const site = await openSite(t);
      site.pages.set("/next", pageWith());
      const page = await openSlowly(site, visitor);
      // What happens after the report of a click or a navigation that leaves the page.
      const leave = `addEventListener("beforeunload", () => ${click}); void (location.href = "/next")`;
      await page.evaluate(`window.isLeaving = true; ${leave}`);
      const last = await site.post((post) => post.batch.events.some((event) => event.type === "click"));
      t.match(last.headers["content-type"], /^text\/plain/);
      t.equal(last.batch.site_key, "pk_test");
      t.equal(last.batch.session_token, "sess_1");
      // Chromium forgets that it was told to close a page which is on its way to another one, and would never say that it is closed.
      await site.event("page", (event) => event.payload.path === "/next");
    },
  ],
  [
    "closing the tab sends the rest too",
    async (t, visitor) => {
      const site = await openSite(t);
      await visitor.open();
      // No browser promises to send what a closing tab leaves behind, so it has five tries.
      let last: IngestEvent | null = null;
      for (let tries = 0; tries < 5 && last === null; tries++) {
        const page = await openSlowly(site, visitor);
        await page.evaluate(click);
        await page.close();
        last = await Promise.race([site.event("click"), setTimeout(5000, null, { ref: false })]);
      }
      t.equal(last?.payload.trusted, false);
    },
  ],
  [
    "two tabs that race for the first contact end up in one session",
    async (t, visitor) => {
      const site = await openSite(t);
      const tabs = [gate(), gate()];
      site.answer = (post, index) =>
        post.batch.session_token === null
          ? { status: 202, token: `sess_tab${index}`, until: tabs[index]!.opened }
          : { status: 202 };
      const [one, two] = [await visitor.open(), await visitor.open()];
      await one.goto(site.origin);
      await site.post(() => true);
      await two.goto(site.origin);
      await site.post(() => site.posts.length >= 2);
      tabs[0]!.open();
      t.equal(await one.evaluate("verdictd.ready"), "sess_tab0");
      tabs[1]!.open();
      t.equal(await two.evaluate("verdictd.ready"), "sess_tab0", "the cookie written meanwhile wins");
      t.equal((await visitor.cookies(1))[0]!.value, "sess_tab0");
      await two.evaluate(click);
      await site.post((post) => post.batch.session_token === "sess_tab0" && post.text.includes('"click"'));
      t.notOk(site.posts.some((post) => post.batch.session_token === "sess_tab1"));
    },
  ],
];

/** How batches are cut and repeated: what the SDK does of its own accord, alike wherever it runs. */
export const repeatCases: readonly Case[] = [
  [
    "a full batch is cut by size, before its time",
    async (t, visitor) => {
      const site = await openSite(t);
      const page = await openSlowly(site, visitor);
      await page.evaluate(`for (let n = 0; n < 120; n++) ${click}`);
      const clicks = () =>
        site.posts.flatMap((post) => post.batch.events.filter((event) => event.type === "click")).length;
      await site.post(() => clicks() >= 100);
      t.ok(site.posts.every((post) => post.batch.events.length <= 60));
    },
  ],
  [
    "a 500 is retried with the same key and the same body",
    async (t, visitor) => {
      const site = await openSite(t);
      site.answer = (_post, index) => ({ status: index < 2 ? 500 : 202 });
      const page = await visitor.open();
      await page.goto(site.origin);
      await site.post(() => site.posts.length >= 3);
      const [first, second, third] = site.posts;
      for (const retry of [second!, third!]) {
        t.equal(retry.headers["idempotency-key"], first!.headers["idempotency-key"]);
        t.equal(retry.text, first!.text);
      }
      await page.evaluate(click);
      const next = await site.post((post) => post.batch.session_token === "sess_1");
      t.not(next.headers["idempotency-key"], first!.headers["idempotency-key"]);
    },
  ],
  [
    "a connection that breaks before the answer is retried as the same request",
    async (t, visitor) => {
      const site = await openSite(t);
      site.answer = (_post, index) => ({ status: index === 0 ? "drop" : 202 });
      const page = await visitor.open();
      await page.goto(site.origin);
      await site.post(() => site.posts.length >= 2);
      t.equal(site.posts[1]!.headers["idempotency-key"], site.posts[0]!.headers["idempotency-key"]);
      t.equal(site.posts[1]!.text, site.posts[0]!.text);
    },
  ],
  [
    "a visitor who leaves every page before an answer came sends one first contact: all under one key",
    async (t, visitor) => {
      const site = await openSite(t);
      const never = gate();
      t.teardown(never.open);
      const paths = ["/a", "/b", "/c"];
      for (const path of paths) site.pages.set(path, pageWith('data-interval="250"'));
      // What the last page sends after its first contact is answered, too: a batch waits for the answer to the one before it.
      site.answer = (post) =>
        post.batch.session_token !== null || post.text.includes('"path":"/c"')
          ? { status: 202 }
          : { status: 202, until: never.opened };
      const page = await visitor.open();
      const keyOf = ({ headers, batch }: Post) => headers["idempotency-key"] ?? batch.idempotency_key;
      const posts: Post[] = [];
      for (const path of paths) {
        await page.goto(site.origin + path);
        posts.push(await site.post((post) => post.text.includes(`"path":"${path}"`)));
      }
      t.match(keyOf(posts[0]!), uuid);
      t.equal(await page.evaluate("verdictd.ready"), "sess_1");
      const contacts = site.posts.filter((post) => post.batch.session_token === null);
      t.same(new Set(contacts.map(keyOf)), new Set([keyOf(posts[0]!)]));
      await page.evaluate(click);
      await site.event("click");
      const later = await site.post((post) => post.text.includes('"click"'));
      t.not(keyOf(later), keyOf(posts[0]!), "once there is a token, a batch has its own key");
      t.same(await page.evaluate("Object.keys(sessionStorage).filter((key) => /pk_test/.test(key))"), []);
    },
  ],
];

/** The SDK as a guest on somebody's page. */
export const pageCases: readonly Case[] = [
  [
    "the cookie is first-party, lax, for the whole site, and not secure on plain http",
    async (t, visitor) => {
      const site = await openSite(t);
      const page = await visitor.open();
      await page.goto(site.origin);
      await page.evaluate("verdictd.ready");
      const cookies = await visitor.cookies(1);
      t.equal(cookies.length, 1);
      t.match(cookies[0], {
        name: "service_session",
        value: "sess_1",
        domain: "127.0.0.1",
        path: "/",
        sameSite: "Lax",
        secure: false,
        httpOnly: false,
      });
      t.ok(cookies[0]!.expires > 0, "it has an age");
    },
  ],
  [
    "with cookies off none is written, and the page still gets the token",
    async (t, visitor) => {
      const site = await openSite(t);
      site.pages.set("/", pageWith('data-cookie="off"'));
      const page = await visitor.open();
      await page.goto(site.origin);
      t.equal(await page.evaluate("verdictd.ready"), "sess_1");
      t.equal(await page.evaluate("verdictd.token()"), "sess_1");
      t.same(await visitor.cookies(0), []);
    },
  ],
  [
    "a strict content-security policy is kept, with the worker check and all, and the console stays empty",
    async (t, visitor) => {
      const site = await openSite(t);
      // Images, because Firefox asks for the site's icon.
      site.policy =
        "default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self'; require-trusted-types-for 'script'; trusted-types verdictd";
      site.pages.set(
        "/watch.js",
        "window.violations = []; document.addEventListener('securitypolicyviolation', (e) => violations.push(e.violatedDirective));",
      );
      site.pages.set("/", `<!doctype html><script src="/watch.js"></script>${pageWith('data-interval="250"')}`);
      const page = await visitor.open();
      const env = await wholeEnvironment(site, () => page.goto(site.origin));
      t.same(env.worker_mismatch, [], "the worker was asked");
      t.same(env.iframe_mismatch, [], "a frame would say the same");
      t.same(env.native_tampered, [], "nothing is taken for tampered");
      await page.evaluate("verdictd.ready");
      t.same(await page.evaluate("violations"), []);
      t.same(page.noise, []);
      t.equal(await page.evaluate("document.querySelectorAll('iframe').length"), 0, "the frame is gone");
    },
  ],
  [
    "where consent is waited for, nothing happens before it, and taking it back leaves nothing behind",
    async (t, visitor) => {
      const site = await openSite(t);
      const [html, script] = consentSample();
      // No policy of trusted types is listed, so any name will do.
      site.policy =
        "default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self'; require-trusted-types-for 'script'";
      site.pages.set("/watch.js", watchScript);
      site.pages.set(
        "/waits.js",
        "window.before = { seen: [...seen], token: verdictd.token() }; window.awaited = verdictd.ready;",
      );
      site.pages.set("/consent.js", script);
      const page = await visitor.open();
      const watched = html
        .replaceAll("pk_…", "pk_test")
        .replace('<script defer src="/consent.js', '<script defer src="/waits.js"></script>$&');
      site.pages.set("/", `<!doctype html><script src="/watch.js"></script>${watched}`);
      await page.goto(site.origin);
      t.same(await page.evaluate("before"), { seen: [], token: null });
      t.same(await visitor.cookies(0), []);

      const answered = gate();
      t.teardown(answered.open);
      site.answer = () => ({ status: 202, until: answered.opened });
      await page.evaluate("document.querySelector('#allow').click()");
      await site.post(() => true);
      await page.evaluate("document.querySelector('#refuse').click()");
      t.equal(await page.evaluate("awaited"), null, "who waited is told that there is no token");
      site.answer = () => ({ status: 202, token: "sess_2" });
      // This answer is for nobody any more, and must not bring a token back.
      answered.open();
      await page.evaluate("document.querySelector('#allow').click()");
      t.equal(await page.evaluate("verdictd.ready"), "sess_2");
      t.same(
        site.posts.slice(0, 2).map((post) => post.batch.session_token),
        [null, null],
      );
      t.equal((await visitor.cookies(1))[0]!.value, "sess_2");

      // An earlier visit's consent holds; taken back, all that it left is removed.
      await page.goto(site.origin);
      t.equal(await page.evaluate("verdictd.ready"), "sess_2");
      await page.evaluate("sessionStorage.setItem('verdictd', '[]'); document.querySelector('#refuse').click()");
      t.same(await page.evaluate("[document.cookie, sessionStorage.length, verdictd.token()]"), ["", 0, null]);
      await page.goto(site.origin);
      t.same(await page.evaluate("[document.cookie, before.seen.length]"), ["", 0]);
      t.same(page.noise, [], "and no violation");
    },
  ],
  [
    "a session hands in one start ticket from each tab",
    async (t, visitor) => {
      const site = await openSite(t);
      site.pages.set("/next", pageWith('data-interval="250"'));
      const tickets = () =>
        site.posts.flatMap((post) => post.batch.events.flatMap((event) => event.payload.start_ticket ?? []));
      const late = (count: number) =>
        site.post(
          () =>
            site.posts.flatMap((post) => post.batch.events.filter((event) => "any_pointer" in event.payload)).length >=
            count,
        );
      const page = await visitor.open();
      await page.goto(site.origin);
      await late(1);
      await page.goto(`${site.origin}/next`);
      await late(2);
      t.same(tickets(), ["ticket1"], "the next page of the tab asks for none");
      await (await visitor.open()).goto(site.origin);
      await late(3);
      t.same(tickets(), ["ticket1", "ticket2"]);
    },
  ],
  [
    "script and endpoint may be of another origin; the cookie stays the page's",
    async (t, visitor) => {
      const site = await openSite(t);
      const service = await openSite(t);
      site.pages.set("/", pageWith("", "<p>x</p>", `${service.origin}/sdk.js`));
      const page = await visitor.open();
      await page.goto(`http://localhost:${site.port}/`);
      t.equal(await page.evaluate("verdictd.ready"), "sess_1");
      t.equal(site.posts.length, 0);
      t.equal(service.posts.filter((post) => post.batch.session_token === null).length, 1);
      t.ok(service.preflights.length > 0);
      t.equal(service.posts[0]!.headers.cookie, undefined, "no credentials travel");
      t.same(
        (await visitor.cookies(1)).map((each) => each.domain),
        ["localhost"],
      );
      t.same(page.noise, []);
    },
  ],
  [
    "a navigation without a load is a page event of its own",
    async (t, visitor) => {
      const site = await openSite(t);
      const page = await visitor.open();
      await page.goto(site.origin);
      t.equal((await site.event("page")).payload.nav_type, "navigate");
      await page.evaluate("history.pushState({}, '', '/products/7?secret=1#part')");
      await page.evaluate(click);
      const spa = await site.event("page", (event) => event.payload.nav_type === "spa");
      t.equal(spa.payload.path, "/products/7");
      t.notMatch(JSON.stringify(site.posts), /secret/, "query and fragment stay");
    },
  ],
  [
    "the page works when the script is missing, twice there, or without a key",
    async (t, visitor) => {
      const site = await openSite(t);
      const body = "<script>document.title = 'works'</script>";
      const tag = '<script async src="/sdk.js" data-site-key="pk_other"></script>';
      site.pages.set("/missing", pageWith("", body, "/gone.js"));
      site.pages.set("/keyless", `<script src="/sdk.js"></script>${body}`);
      site.pages.set("/twice", pageWith("", `${body}${tag}<b id="verdictd"></b>`));
      const page = await visitor.open();
      const tells: Record<string, RegExp> = {
        "/keyless": /^error verdictd: check data-site-key/,
        "/twice": /^error verdictd: another site key uses the cookie service_session/,
      };
      for (const path of ["/missing", "/keyless", "/twice"]) {
        page.noise.length = 0;
        await page.goto(site.origin + path);
        t.equal(await page.title(), "works", path);
        if (path !== "/missing") t.match(await said(page.noise), tells[path]!, path);
      }
      await site.post(() => true);
      t.equal(await page.evaluate("verdictd.ready"), "sess_1");
      const keys = new Set(site.posts.map((post) => post.headers["x-service-site-key"]));
      t.equal(keys.size, 1, "one SDK reports");
      t.equal(site.posts.filter((post) => post.batch.session_token === null).length, 1, "once");
    },
  ],
];

/** What a page has said: one line. */
async function said(noise: readonly string[]): Promise<string | undefined> {
  await waitUntil(
    async () => noise.length,
    (length) => length > 0,
  );
  return noise.length === 1 ? noise[0] : noise.join("\n");
}

/** Notes what a script of the page does that has an effect, in `seen`. */
const watchScript = `window.seen = [];
  const note = (owner, name) => {
    const real = owner[name];
    owner[name] = function (...all) { seen.push(name); return real.apply(this, all); };
  };
  note(EventTarget.prototype, "addEventListener");
  note(window, "setTimeout");
  note(window, "fetch");
  for (const name of ["getItem", "setItem", "removeItem"]) {
    const real = Storage.prototype[name];
    Storage.prototype[name] = function (...all) { if (this === sessionStorage) seen.push(name); return real.apply(this, all); };
  }
  const { get, set } = Object.getOwnPropertyDescriptor(Document.prototype, "cookie");
  const cookie = (how) => function (...all) { seen.push("cookie"); return how.apply(this, all); };
  Object.defineProperty(Document.prototype, "cookie", { get: cookie(get), set: cookie(set), configurable: true });`;

/** The page and the script of the documentation's sample. */
function consentSample(): [html: string, script: string] {
  const guide = readFileSync(new URL("../../../src/docs/integrate.md", import.meta.url), "utf8");
  const section = guide.slice(guide.indexOf("## Consent"), guide.indexOf("## The second file"));
  const block = (language: string): string => new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(section)![1]!;
  return [block("html"), block("js")];
}

/** Opens a page whose batches wait for their size or for the page's end, once its first report was answered. */
async function openSlowly(site: Awaited<ReturnType<typeof openSite>>, visitor: Visitor): Promise<Tab> {
  // On a busy machine the next batch would be due before the browser has left a page.
  const timers = `const real = setTimeout;
  window.setTimeout = (task, ms) => real(() => window.isLeaving || task(), ms);`;
  site.pages.set("/slow", `<script>{ ${timers} }</script>${pageWith('data-interval="600000"')}`);
  const page = await visitor.open();
  await page.goto(`${site.origin}/slow`);
  await site.post(() => true);
  await page.evaluate("verdictd.ready");
  return page;
}

/** Runs cases one after the other, each with a visitor of its own. */
export function prove(t: Test, cases: readonly Case[], arrive: Arrive): void {
  for (const [claim, proof] of cases) {
    t.test(claim, async (t) => {
      const visitor = await arrive();
      t.teardown(() => visitor.leave());
      await proof(t, visitor);
    });
  }
}
