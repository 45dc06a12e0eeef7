/** What visits say of requests: only where the SDK is installed, and never more than that a request is likely automated. */
import t from "tap";
import { noVisitEvidence } from "../../src/contract/evidence/visit-facts.js";
import { scoreRequest } from "../../src/engines/score-request.js";
import { newVisits, Visits } from "../../src/requests/visits.js";
import { navigation } from "./asking.js";
import { slugsOf } from "./fired.js";
import { noFindings, requestOf } from "./judged.js";
import { page, start } from "./visited-page.js";

const tokenOf = (n: number) => `sess_${String(n).padStart(28, "A")}`;

/** Visits of people, each of one page below /shop that reports. */
function installed(visits: Visits, count: number): void {
  for (let n = 0; n < count; n++) {
    visits.look({ ...page, token: tokenOf(1000 + n) }, start);
    visits.report(tokenOf(1000 + n), start + 1000);
  }
}

/** What a visitor leaves who loads four pages without a script, then another. */
function silentVisit(visits: Visits, path: string) {
  const own = { ...page, token: tokenOf(1), path };
  for (let n = 0; n < 4; n++) visits.look(own, start + 10_000 * n);
  return visits.look({ ...own, isNavigation: false }, start + 60_000)?.evidence.silentPages;
}

t.test("silent pages count where others' pages report, from 20 navigations on", async (t) => {
  for (const [known, expected] of [
    [19, undefined],
    [20, 4],
  ] as const) {
    const visits = new Visits(newVisits());
    installed(visits, known);
    t.equal(silentVisit(visits, "/shop/b"), expected, `${known} known`);
  }
  const visits = new Visits(newVisits());
  installed(visits, 60);
  // People who read /blog, where the SDK is not, between pages of /shop.
  for (let n = 0; n < 20; n++) {
    const own = { ...page, token: tokenOf(1000 + n) };
    visits.look({ ...own, path: "/blog/a" }, start + 2000);
    visits.look(own, start + 20_000);
  }
  t.equal(silentVisit(visits, "/blog/b"), undefined, "the SDK is not in /blog");
  t.equal(silentVisit(visits, "/shop/b") ?? 0, 4);
});

t.test(
  "a site whose pages have a first segment each is no different, and sections without the SDK stay none",
  async (t) => {
    const visits = new Visits(newVisits());
    installed(visits, 60);
    for (const [at, section] of ["/blog", "/docs"].entries()) {
      const since = start + 60_000 * at;
      for (let n = 0; n < 20; n++) {
        const own = { ...page, token: tokenOf(1000 + n) };
        visits.look({ ...own, path: section }, since + 2000);
        visits.look(own, since + 20_000);
      }
    }
    let now = start + 120_000;
    /** Of 30 pages, one after another. */
    const evidenceOf = (name: number, everyMs: number, path: (n: number) => string) =>
      Array.from({ length: 30 }, (_, n) => {
        const asked = { ...page, token: tokenOf(name), path: path(n) };
        now += everyMs;
        return visits.look(asked, now)?.evidence.silentPages;
      });
    for (const everyMs of [300, 1000, 1500, 8000]) {
      const own = evidenceOf(10_000 + everyMs, everyMs, (n) => `/a-product-${n}`);
      const first = own.indexOf(4);
      t.ok(first > 0, `a page every ${everyMs} ms`);
      t.same(new Set(own.slice(first)), new Set([4]), "from the fourth silent page on");
      const elsewhere = evidenceOf(20_000 + everyMs, everyMs, (n) => (n % 2 === 0 ? "/blog" : "/docs"));
      t.same(new Set(elsewhere), new Set([undefined]), "sections without it in turn");
    }
  },
);

t.test("who refuses cookies reports under a token of its own from each page: none of them is silent", async (t) => {
  const visits = new Visits(newVisits());
  installed(visits, 60);
  const fieldsOf = (userAgent: string, reports: boolean) => {
    const seen = [0, 1, 2, 3, 4, 5, 6, 7].map((n) => {
      const at = start + 10_000 * n;
      const facts = visits.look({ ...page, userAgent, given: tokenOf(100 + n) }, at);
      if (reports) visits.report(tokenOf(200 + n), at + 1000, { projectId: 1, address: page.address, userAgent });
      return facts?.silentPages;
    });
    return seen.at(-1);
  };
  t.equal(fieldsOf("Browser 2", true), 0);
  t.equal(fieldsOf("Browser 3", false), 7, "another browser at that address");
});

t.test("a visitor who refuses cookies, and one who posts without a page", async (t) => {
  const visits = new Visits(newVisits());
  installed(visits, 20);
  const answers = [0, 1, 2, 3, 4].map(
    (n) => visits.look({ ...page, given: tokenOf(n) }, start + n)?.evidence.unkeptTokens,
  );
  t.same(answers, [undefined, undefined, undefined, 3, 3]);
  const post = { ...page, method: "POST", isNavigation: false, address: "192.0.2.2" };
  t.equal(visits.look(post, start)?.evidence.isPagelessPost, true);
  t.equal(visits.look({ ...post, token: tokenOf(7) }, start)?.evidence.isPagelessPost, undefined, "it brings a token");
  visits.look({ ...page, address: "192.0.2.2" }, start);
  t.equal(visits.look(post, start)?.evidence.isPagelessPost, undefined, "a page was loaded");
  const memory = newVisits();
  installed(new Visits(memory), 20);
  t.equal(
    new Visits(memory, false).look(post, start)?.evidence.isPagelessPost,
    undefined,
    "another node may have seen it",
  );
});

t.test("a listing that is walked", async (t) => {
  const visits = new Visits(newVisits());
  const walked = (...pages: number[]) =>
    pages.map((n) => visits.look({ ...page, target: `/shop/list?page=${n}&sort=a` }, start)?.evidence.walkedPages);
  const none = undefined;
  t.same(walked(2, 3, 4, 5, 6, 7, 8, 9), [none, none, none, none, none, none, none, none]);
  t.same(walked(11, 12, 13, 14, 15, 16, 17, 18), [none, none, none, none, none, none, none, none], "a gap begins anew");
  t.same(walked(19, 20, 21), [8, 8, 8], "the ninth in a row and those behind are the same evidence");
});

t.test("a POST from nowhere counts only where the SDK is installed", async (t) => {
  const post = { ...page, method: "POST", isNavigation: false };
  for (const [known, expected] of [
    [0, false],
    [20, true],
  ] as const) {
    const visits = new Visits(newVisits());
    installed(visits, known);
    visits.look(page, start);
    const visit = visits.look(post, start)?.evidence ?? noVisitEvidence;
    const context = { method: "POST", path: "/shop/a", host: "shop.example", ip: "198.51.100.7" };
    const headers = [...navigation, ["Origin", "https://shop.example"] as const];
    const fired = slugsOf(scoreRequest(requestOf(headers, { context }), { ...noFindings, visit }).detectionIds);
    t.equal(fired.includes("post-from-nowhere"), expected, `${known} known`);
  }
});

t.test("people with blockers are never below likely automated", async (t) => {
  const visit = {
    ...noVisitEvidence,
    silentPages: 1000,
    unkeptTokens: 1000,
    walkedPages: 100,
    isPagelessPost: true,
    isInstalled: true as const,
  };
  const judged = (more: object, headers = navigation, method = "GET") =>
    scoreRequest(
      requestOf(headers, { context: { method, path: "/shop/a", host: "shop.example", ip: "198.51.100.7" } }),
      { ...noFindings, visit: { ...noVisitEvidence, ...more } },
    );
  t.equal(judged({}).score, null);
  t.equal(judged({ silentPages: 4 }).score, 27);
  t.strictSame(slugsOf(judged({ silentPages: 4 }).detectionIds), ["pages-without-script"]);
  t.equal(judged(visit).score, 27, "all of it together");
  const from = navigation.map(([name, value]) => [name, name === "Sec-Fetch-Site" ? "same-origin" : value] as const);
  t.equal(judged(visit, from).score, 27, "and the cookie");
  for (const left of navigation.map(([name]) => name)) {
    const headers = navigation.filter(([name]) => name !== left);
    const alone = judged({}, headers).score ?? 60;
    const both = judged(visit, headers).score ?? 60;
    t.ok(both >= Math.min(alone, 16), `without ${left}: ${alone}, then ${both}`);
  }
});
