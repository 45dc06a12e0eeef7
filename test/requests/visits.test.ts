/** Visits in memory: what is counted for whom, when a page is silent, and that any number of visitors takes no more room. */
import t from "tap";
import { newVisits, type VisitQuestion, Visits, visitsSize } from "../../src/requests/visits.js";
import { page, start } from "./visited-page.js";

function tokenOf(n: number): string {
  return `sess_${n.toString(36).padStart(28, "A")}`;
}

t.test("a visit is a token's, or an address's with one user agent", async (t) => {
  const visits = new Visits(newVisits());
  const pages = (more: Partial<VisitQuestion>) => visits.look({ ...page, ...more }, start)?.pages;
  t.equal(pages({}), 1);
  t.equal(pages({}), 2);
  t.equal(pages({ userAgent: "Browser 2" }), 1, "another user agent");
  t.equal(pages({ projectId: 2 }), 1, "another project");
  t.equal(pages({ token: tokenOf(1) }), 1, "a token");
  t.equal(pages({ token: tokenOf(1), address: "192.0.2.9", userAgent: "" }), 2, "the same from elsewhere");
  t.equal(pages({ address: "2001:db8:1:2::1" }), 1);
  t.equal(pages({ address: "2001:db8:1:2:ffff::9" }), 2, "the same /64");
  t.equal(pages({ address: "2001:db8:1:3::1" }), 1, "another");
  t.equal(pages({ address: "::ffff:192.0.2.1" }), 3, "IPv4-mapped");
  t.equal(pages({ address: "" }), undefined, "neither token nor address");
  t.equal(pages({ address: "nowhere" }), undefined);
  t.equal(pages({ isNavigation: false }), 3, "no navigation");
  t.equal(pages({ isAskedAgain: true }), 3, "asked about before");
});

t.test("seconds and posts", async (t) => {
  const visits = new Visits(newVisits());
  const post = { ...page, isNavigation: false, method: "POST" };
  t.match(visits.look(post, start), { pages: 0, posts: 1, seconds: undefined });
  t.match(visits.look(page, start + 2000), { pages: 1, posts: 1, seconds: 0 });
  t.match(visits.look({ ...post, isAskedAgain: true }, start + 3999), { posts: 1, seconds: 1 });
  t.match(visits.look({ ...post, method: "DELETE" }, start + 4000), { posts: 2, seconds: 2 });
  for (const method of ["GET", "HEAD", "OPTIONS", undefined]) {
    t.equal(visits.look({ ...page, method }, start + 5000)?.posts, 2, `${method}`);
  }
  t.match(visits.look(page, start + 40 * 60_000), { pages: 1, posts: 0, seconds: 0 }, "a new visit after a long pause");
});

t.test("a page is silent that had a token, is older than 5 s, and was not reported after", async (t) => {
  const visits = new Visits(newVisits());
  const own = { ...page, token: tokenOf(1) };
  const silent = (question: VisitQuestion, afterMs: number) => visits.look(question, start + afterMs)?.silentPages;
  t.equal(silent(own, 0), 0);
  t.equal(silent(own, 5000), 0, "exactly 5 s old");
  t.equal(silent({ ...own, isNavigation: false }, 5001), 1);
  t.equal(silent(own, 20_000), 2);
  visits.report(tokenOf(1), start + 20_001);
  t.equal(silent(own, 40_000), 0);
  t.equal(silent(own, 60_000), 1);
  t.equal(silent({ ...own, lastReportMs: start + 59_000 }, 80_000), 1, "reported elsewhere after the first of them");
  for (let n = 0; n < 100; n++) silent(own, 100_000 + n);
  t.equal(silent(own, 200_000), 102, "more than is kept one by one");
  visits.report(tokenOf(1), start + 200_001);
  t.equal(silent(own, 300_000), 0);
  for (let n = 0; n < 3; n++) t.equal(silent(page, 10_000 * n), 0, "without a token never");
});

t.test("a page counts for the address until its token comes back, by a request or a report", async (t) => {
  for (const back of ["request", "report"]) {
    const visits = new Visits(newVisits());
    const first = visits.look({ ...page, given: tokenOf(1) }, start);
    t.match(first, { pages: 1, silentPages: 0, cookieKept: undefined });
    const second = visits.look({ ...page, given: tokenOf(2) }, start + 10_000);
    t.match(second, { pages: 2, silentPages: 1, cookieKept: false, seconds: 10 });
    if (back === "report") visits.report(tokenOf(1), start + 11_000);
    const own = visits.look({ ...page, token: tokenOf(1) }, start + 12_000);
    t.match(own, { pages: 2, silentPages: back === "report" ? 0 : 1, cookieKept: true, seconds: 12 });
    const others = visits.look({ ...page, isNavigation: false }, start + 16_000);
    t.match(others, { pages: 1, silentPages: 1, cookieKept: false }, "what is left for the address");
    visits.look({ ...page, token: tokenOf(2), isNavigation: false }, start + 16_001);
    const none = visits.look({ ...page, isNavigation: false }, start + 17_000);
    t.match(none, { pages: 0, silentPages: 0, cookieKept: undefined, seconds: undefined });
  }
});

t.test("no page is silent until the time of a report that could not be taken", async (t) => {
  const visits = new Visits(newVisits());
  const own = { ...page, token: tokenOf(1) };
  visits.look(own, start);
  visits.look(own, start + 10_000);
  visits.missed(start + 5000);
  t.equal(visits.look({ ...own, isNavigation: false }, start + 20_000)?.silentPages, 1);
});

t.test("threads count together, and take over from one that died", async (t) => {
  const memory = newVisits();
  const [one, other] = [new Visits(memory), new Visits(memory)];
  one.look(page, start);
  t.equal(other.look(page, start + 1)?.pages, 2);
  // The locks of all shards of visits: held since long ago.
  const words = new Int32Array(memory);
  const { shards, visits: rows } = visitsSize(1);
  const shardWords = 16 + rows + rows * (5 + 12 + 8 * 4);
  for (let shard = 0; shard < shards; shard++) words[8 + shard * shardWords] = 1;
  t.equal(one.look(page, start + 2)?.pages, 1, "begun anew");
  t.equal(other.look(page, start + 3)?.pages, 2);
});

t.test("a hundred thousand visits are known, and four hundred thousand take no more room", async (t) => {
  const memory = newVisits();
  const visits = new Visits(memory);
  for (let n = 0; n < 100_000; n++) visits.look({ ...page, token: tokenOf(n) }, start + n / 100);
  let known = 0;
  for (let n = 0; n < 100_000; n++) {
    if (visits.look({ ...page, token: tokenOf(n), isNavigation: false }, start + 1000)?.pages === 1) known++;
  }
  t.equal(known, 100_000);
  // Half of them bring it back, half refuse it.
  for (let n = 100_000; n < 400_000; n++) {
    visits.look({ ...page, given: tokenOf(n) }, start + 2000);
    if (n % 2 === 0) visits.look({ ...page, token: tokenOf(n) }, start + 2000 + n / 1000);
  }
  t.match(visits.look({ ...page, token: tokenOf(399_998) }, start + 10_000), { pages: 3 }, "the latest are known");
  t.match(visits.look(page, start + 10_000), { pages: 150_001, cookieKept: false }, "who refuses it is one visit");
  t.match(visits.look({ ...page, token: tokenOf(0) }, start + 10_000), { pages: 1 }, "the oldest are forgotten");
  t.ok(memory.byteLength < 40_000_000);
});
