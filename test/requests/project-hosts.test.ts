/** Holds which hosts are a project's own, for signatures: those of its setting, else those that sessions report, else any. */
import t from "tap";
import { newScoredState } from "../../src/contract/sessions/session.js";
import { ProjectHosts } from "../../src/control-plane/sessions/project-hosts.js";
import { LongWork } from "../../src/runtime/long-work.js";

const settings = (hosts?: readonly string[]) =>
  ({ id: 1, requestScoring: { enabled: true, signedAgents: "allow", ...(hosts && { hosts }) } }) as never;

function reporting(hosts: readonly string[], failure?: Error) {
  let reads = 0;
  let nowMs = 1_000_000_000;
  const sessions = {
    visitSince: async (
      _project: number,
      _time: unknown,
      _count: number,
      _slices: unknown,
      visit: (session: never) => void,
    ) => {
      reads++;
      if (failure !== undefined) throw failure;
      for (const host of hosts) {
        const state = newScoredState(nowMs);
        visit({ token: "", state: { ...state, last: { ...state.last, host } } } as never);
      }
      return "all" as const;
    },
  };
  const failures: unknown[] = [];
  const known = new ProjectHosts(
    sessions,
    new LongWork(),
    () => nowMs,
    (error) => failures.push(error),
  );
  return { known, failures, reads: () => reads, wait: (ms: number) => (nowMs += ms) };
}

t.test("the setting decides where it is set", async (t) => {
  const { known, reads } = reporting(["other.example"]);
  const own = settings(["shop.example", "*.shop.example"]);
  for (const host of ["shop.example", "www.shop.example", "a.b.shop.example"])
    t.equal(known.isForeign(own, host), false, host);
  for (const host of ["evil.example", "evilshop.example", "shop.example.evil"])
    t.equal(known.isForeign(own, host), true, host);
  t.equal(known.isForeign(settings(["*.shop.example"]), "shop.example"), true, "*. stands for a name before");
  t.equal(known.isForeign(own, undefined), false, "a host that nobody reports is not covered either");
  t.equal(reads(), 0);
});

t.test("without it, a tenth of the last day's sessions makes a host the project's own", async (t) => {
  const { known, reads, wait } = reporting([
    ...Array(9).fill("Shop.example:443"),
    "blog.example",
    "",
    ...Array(9).fill("shop.example"),
  ]);
  t.equal(await known.isForeign(settings(), "evil.example"), true);
  t.equal(known.isForeign(settings(), "shop.example"), false, "at once, from then on");
  t.equal(known.isForeign(settings(), "blog.example"), true, "one of twenty");
  t.equal(reads(), 1);
  wait(11 * 60_000);
  t.equal(known.isForeign(settings(), "shop.example"), false);
  t.equal(reads(), 2, "counted again after a while, and nobody waits for it");
});

t.test("where no host is known, none is foreign", async (t) => {
  t.equal(await reporting([]).known.isForeign(settings(), "any.example"), false);
  const broken = reporting([], new Error("no store"));
  t.equal(await broken.known.isForeign(settings(), "any.example"), false);
  t.equal(broken.failures.length, 1, "and it is told");
});
