/** Start tickets: what a ticket that comes back is taken for, whoever made it, wherever and however often it comes. */

import t from "tap";
import type { IngestEvent } from "../../src/contract/events/events.js";
import { countEnvironment } from "../../src/ingest/cross-session-counts.js";
import { LmdbUnitOfWork } from "../../src/ingest/lmdb-unit-of-work.js";
import { checkTicket, issueTicket, takeTicket } from "../../src/ingest/start-ticket.js";
import { limits } from "../../src/limits.js";
import { openStore } from "../../src/store/open-store.js";
import { chromeEnvironment, event } from "../engines/sessions.js";

const noon = Date.UTC(2026, 10, 21, 12);
const here = "203.0.113.9";
const project = { id: 1, siteKey: "pk_one", privateKeyHash: "a".repeat(64) } as Parameters<typeof takeTicket>[1];

t.test("a ticket is good for its project, its network and ten minutes", async (t) => {
  const ticket = issueTicket(project, here, noon);
  const check = (text = ticket, ip = here, nowMs = noon + 2000, of = project) => checkTicket(of, text, ip, nowMs);
  t.match(ticket, /^[\w-]{38}$/);
  t.not(issueTicket(project, here, noon), ticket, "no two are equal");
  t.equal(check(), "fresh");
  t.equal(check(ticket, "203.0.7.1"), "fresh", "a phone keeps its network, not its address");
  t.equal(check(ticket, "198.51.100.1"), "elsewhere");
  t.equal(check(ticket, "2001:db8::1"), "elsewhere");
  t.equal(check(ticket, here, noon + limits.startTicketMs + 1000), "late");
  t.equal(check(ticket, here, noon - limits.startTicketMs - 1000), "late", "of a clock far ahead");
  t.equal(check(ticket, here, noon, { ...project, siteKey: "pk_other" }), "forged");
  t.equal(check(ticket, here, noon, { ...project, privateKeyHash: "b".repeat(64) }), "forged", "the key was rotated");
  for (const text of ["", "x", ticket.slice(1), `${ticket}A`, "é".repeat(38), "A".repeat(38)])
    t.equal(check(text), "forged", text);
  for (let at = 0; at < 37; at++) {
    const changed = ticket.slice(0, at) + (ticket[at] === "A" ? "B" : "A") + ticket.slice(at + 1);
    t.equal(check(changed), "forged", `character ${at}`);
  }
});

t.test("a ticket counts once, in whatever spelling", async (t) => {
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  const unit = new LmdbUnitOfWork(store);
  const facts = { ip: here, nowMs: noon + 1000 };
  const take = (...events: IngestEvent[]) => store.root.transactionSync(() => takeTicket(unit, project, events, facts));
  const ticket = issueTicket(project, here, noon);
  const late = (text: string) => event("env", { start_ticket: text });
  t.equal(take(event("page", { path: "/" })), null);
  t.equal(take(event("page", { path: "/" }), late(ticket)), "fresh");
  t.equal(take(late(ticket)), "reused");
  // 28 bytes are 37 characters and a third: the last one has bits that decoding ignores.
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const bytes = Buffer.from(ticket, "base64url");
  const spellings = [...alphabet].map((last) => ticket.slice(0, -1) + last);
  const same = spellings.filter((text) => Buffer.from(text, "base64url").equals(bytes));
  t.ok(same.length > 1);
  for (const text of same) t.equal(take(late(text)), "reused", text);
  t.equal(take(late("A".repeat(38))), "forged");
  t.equal(take(late(issueTicket(project, here, noon))), "fresh", "another one");
});

t.test("sessions with one environment are counted by network, whatever their connection", async (t) => {
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  const unit = new LmdbUnitOfWork(store);
  const count = (address: string, more = {}) =>
    store.root.transactionSync(() =>
      countEnvironment(unit, 1, [event("page", {}), event("env", { ...chromeEnvironment, ...more })], address, noon),
    );
  t.same([count(here), count("203.0.113.77"), count("203.0.114.9")], [1, 2, 1]);
  t.same([count("2001:db8:1:2::3"), count("2001:db8:1:9::3"), count("2001:db8:2::3")], [1, 2, 1]);
  t.equal(count(here, { rtt: 350 }), 3, "the round trip is no part of it");
  t.equal(count(here, { inner_h: 640 }), 1, "another window");
  t.equal(count(here, { languages: ["de", "en"] }), 1, "other languages");
  t.equal(countEnvironment(unit, 1, [event("page", {})], here, noon), 0, "none was reported");
});
