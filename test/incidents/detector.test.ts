/** When incidents begin, what they are described by, and when they end. */
import t from "tap";
import { seededRandom } from "../../scripts/live/randomness.js";
import { minuteMs } from "../../src/contract/values/durations.js";
import { type HourOfCounts, usualCounts } from "../../src/incidents/baseline-hours.js";
import type { CountedRequest } from "../../src/incidents/counted-request.js";
import type { ProjectMinute } from "../../src/incidents/detector.js";
import { ValueCounts } from "../../src/incidents/value-counts.js";
import { mondayMs, newDetector, personRequest, programRequest, runMinutes } from "./synthetic-traffic.js";

const noonMs = mondayMs + 12 * 60 * minuteMs;
const some = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

t.test("an attack on a path from one network is one incident, by its narrowest values", async (t) => {
  const random = seededRandom(1);
  const detector = newDetector(noonMs);
  const opened: { minute: number; what: object; count: number }[] = [];
  await runMinutes(
    detector,
    noonMs,
    90,
    (atMs, minute) => [
      ...some(40, () => personRequest(atMs, random)),
      ...(minute >= 60 && minute < 75
        ? some(20, (index) => programRequest(atMs, { values: { ip: `198.51.100.${index}` } }))
        : []),
    ],
    (outcome, minute) => {
      for (const project of outcome) for (const { what, count } of project.opened) opened.push({ minute, what, count });
    },
  );
  t.same(
    opened,
    [
      {
        minute: 62,
        what: { path: "/login", network: "198.51.100.0/24", declared_bot: "python-requests", host: undefined },
        count: 60,
      },
    ].map(({ what: { host: _, ...what }, ...rest }) => ({ ...rest, what })),
  );
});

t.test("an incident counts on, and ends ten minutes after its last requests", async (t) => {
  const random = seededRandom(2);
  const detector = newDetector(noonMs);
  const ended: { minute: number; incident: object }[] = [];
  await runMinutes(
    detector,
    noonMs,
    120,
    (atMs, minute) => [
      ...some(20, () => personRequest(atMs, random)),
      ...(minute >= 60 && minute < 80
        ? some(30, (index) =>
            programRequest(atMs, { action: index < 10 ? "block" : "allow", isLoggedIn: index === 10 }),
          )
        : []),
    ],
    (outcome, minute) => {
      for (const project of outcome) for (const incident of project.ended) ended.push({ minute, incident });
    },
  );
  t.equal(ended.length, 1);
  t.match(ended[0], {
    minute: 93,
    incident: {
      count: 600,
      peakPerMinute: 30,
      bands: { definite: 600 },
      actions: { block: 200, allow: 400 },
      ruleWould: { newly_blocked: 400, likely_human: 0, logged_in: 20 },
    },
  });
});

t.test("two attacks at once on different paths from different networks are two incidents", async (t) => {
  const random = seededRandom(3);
  const detector = newDetector(noonMs);
  const found: object[] = [];
  await runMinutes(
    detector,
    noonMs,
    70,
    (atMs, minute) => [
      ...some(60, () => personRequest(atMs, random)),
      ...(minute >= 62
        ? [
            ...some(25, () => programRequest(atMs, { detectionIds: [] })),
            ...some(25, () =>
              programRequest(atMs, {
                detectionIds: [],
                values: {
                  path: "/signup",
                  ip: "203.0.113.9",
                  network: "203.0.113.0/24",
                  asn: "64501",
                  country: "US",
                  user_agent_family: "curl",
                  declared_bot: "curl",
                },
              }),
            ),
          ]
        : []),
    ],
    (outcome) => {
      for (const project of outcome) found.push(...project.opened.map(({ what }) => what));
    },
  );
  t.match(found, [{ path: "/login" }, { path: "/signup" }]);
  t.equal(found.length, 2);
});

t.test("an attack on one path from many networks is one incident of the path", async (t) => {
  const random = seededRandom(4);
  const detector = newDetector(noonMs);
  const found: object[] = [];
  await runMinutes(
    detector,
    noonMs,
    75,
    (atMs, minute) => [
      ...some(60, () => personRequest(atMs, random)),
      ...(minute >= 62
        ? some(60, (index) =>
            programRequest(atMs, {
              values: {
                path: "/gift-card",
                ip: `9.9.${index}.4`,
                network: `9.9.${index}.0/24`,
                asn: String(100 + index),
                country: "BR",
                user_agent_family: "Chrome",
              },
            }),
          )
        : []),
    ],
    (outcome) => {
      for (const project of outcome) found.push(...project.opened.map(({ what }) => what));
    },
  );
  t.equal(found.length, 1);
  t.match(found[0], { path: "/gift-card" });
  t.notMatch(found[0], { network: /./ });
});

t.test(
  "fewer than 50, people with sessions, and less than five times the usual are none; a quiet project needs 200",
  async (t) => {
    const run = async (
      before: number,
      attack: (atMs: number) => CountedRequest[],
      baseline: (atMs: number) => CountedRequest[] = () => [],
    ): Promise<number> => {
      const random = seededRandom(5);
      const detector = newDetector(noonMs);
      let opened = 0;
      const count = (outcome: readonly ProjectMinute[]): void => {
        for (const project of outcome) opened += project.opened.length;
      };
      await runMinutes(
        detector,
        noonMs,
        70,
        (atMs, minute) => [
          ...some(minute < 60 ? before : 0, () => personRequest(atMs, random)),
          ...baseline(atMs),
          ...(minute === 63 ? attack(atMs) : []),
        ],
        count,
      );
      return opened;
    };
    t.equal(await run(5, (atMs) => some(49, () => programRequest(atMs))), 0);
    t.equal(await run(5, (atMs) => some(50, () => programRequest(atMs))), 1);
    t.equal(
      await run(5, (atMs) => some(100, () => programRequest(atMs, { hasSession: true, band: "likely_human" }))),
      0,
    );
    t.equal(
      await run(5, (atMs) =>
        some(100, () => programRequest(atMs, { hasSession: true, band: "likely_human", isByRule: true })),
      ),
      1,
    );
    t.equal(await run(0, (atMs) => some(199, () => programRequest(atMs))), 0);
    t.equal(await run(0, (atMs) => some(200, () => programRequest(atMs))), 1);
    t.equal(
      await run(
        5,
        (atMs) => some(60, () => programRequest(atMs)),
        (atMs) => some(10, () => programRequest(atMs)),
      ),
      0,
    );
  },
);

t.test(
  "a rate that is steady from a project's first request on is none, whenever in five minutes that comes",
  async (t) => {
    const random = seededRandom(6);
    for (const partOfMinute of [1, 1 / 5, 1 / 100]) {
      for (let first = 0; first < 5; first++) {
        const found: object[] = [];
        await runMinutes(
          newDetector(noonMs),
          noonMs,
          20,
          (atMs, minute) => {
            const part = minute < first ? 0 : minute === first ? partOfMinute : 1;
            return [
              ...some(100 * part, () => personRequest(atMs, random)),
              ...some(15 * part, () => programRequest(atMs)),
            ];
          },
          (outcome, minute) => {
            for (const { opened } of outcome) for (const { what } of opened) found.push({ minute, what });
          },
        );
        t.same(found, [], `in minute ${first}, ${partOfMinute} of it`);
      }
    }
  },
);

t.test("at most 10,000 values are followed, the heaviest ones, twice as many within a minute", (t) => {
  const counts = new ValueCounts(0);
  const heavy = some(100, (index) => `heavy ${index}`);
  let most = 0;
  for (let minute = 1; minute <= 3; minute++) {
    for (let each = 0; each < 250; each++) {
      counts.add(heavy, true, 1);
      for (let key = 0; key < 100; key++) {
        counts.add([`${minute} ${each} ${key}`], true, 1);
        most = Math.max(most, counts.size);
      }
    }
    for (const _ of counts.advance(minute));
    t.equal(counts.size, 10_000, `after minute ${minute}`);
  }
  t.equal(most, 20_000);
  const found = counts.heavy(750);
  let step = found.next();
  while (step.done !== true) step = found.next();
  t.same(
    step.value.map(({ key }) => key),
    heavy,
    "none of the heaviest was lost",
  );
  t.end();
});

t.test("a clock that goes back begins anew", async (t) => {
  const detector = newDetector(noonMs);
  const many = (atMs: number) => some(300, () => programRequest(atMs));
  const opened: string[] = [];
  const note = (outcome: readonly ProjectMinute[]): void => {
    for (const project of outcome) for (const { what } of project.opened) opened.push(what.path!);
  };
  await runMinutes(detector, noonMs, 1, many, note);
  await runMinutes(detector, noonMs - 3_600_000, 2, many, note);
  t.same(opened, ["/login"]);
});

t.test(
  "the usual of five minutes is the median of four weeks' hours, in a younger project of the hours there are",
  (t) => {
    const hour = 1_000_000;
    const usual = (rows: Record<number, HourOfCounts>) =>
      Object.fromEntries(usualCounts({ read: (_, at) => rows[hour - at], write: async () => {} }, 1, hour));
    const others: Record<number, HourOfCounts> = { 24: [["/", 9600]], 1: [["/", 12_000]], 167: [["/", 14_400]] };
    const weeks: Record<number, HourOfCounts> = {
      168: [
        ["/", 1200],
        ["/new", 600],
      ],
      336: [["/", 120]],
      504: [["/", 240]],
      672: [
        ["/", 360],
        ["/new", 600],
      ],
      840: [
        ["/", 120_000],
        ["/old", 120_000],
      ],
    };
    t.same(usual({ ...others, ...weeks }), { "/": 25, "/new": 25 }, "of 120, 240, 360 and 1,200; no fifth week");
    t.same(usual({ ...others, 168: [["/", 1200]], 504: [["/", 600]] }), { "/": 75 }, "two of the weeks are there");
    t.same(usual({ 24: [["/", 120]], 48: [["/", 360]], 144: [["/", 240]], 23: [["/", 9600]] }), { "/": 20 }, "days");
    t.same(usual({ 1: [["/", 120]], 2: [["/", 240]], 23: [["/", 360]] }), { "/": 20 }, "hours");
    t.same(usual({}), {});
    t.end();
  },
);

t.test(
  "a minute of many values ends in slices, and what comes between them counts once, in the next minute",
  async (t) => {
    let atMs = noonMs;
    let pauses = 0;
    const values = {
      path: "/late",
      host: "late.example",
      ip: "192.0.2.9",
      network: "192.0.2.0/24",
      asn: "64999",
      country: "FR",
      user_agent_family: "late",
      declared_bot: "late",
    };
    const detector = newDetector(noonMs, undefined, () => {
      // The first pause is in the middle of the project: the last comes behind it.
      if (++pauses === 1) detector.take(some(300, () => programRequest(atMs, { values, detectionIds: [100102] })));
    });
    const many = (first: number) =>
      some(9000, (index) =>
        programRequest(atMs, {
          values: { path: `/${index % 40}`, ip: `10.${first}.${index >> 8}.${index & 255}`, asn: String(index % 900) },
        }),
      );
    for (let minute = 0; minute < 2; minute++) {
      detector.take(many(minute));
      atMs += minuteMs;
      await detector.endMinute(atMs);
      if (pauses > 1) break;
      pauses = 0;
    }
    t.ok(pauses > 1, `${pauses} pauses`);
    const outcome = await detector.endMinute(atMs + minuteMs);
    const opened = outcome.flatMap((project) => project.opened).filter(({ what }) => what.path === "/late");
    t.match(opened, [{ what: { path: "/late" }, count: 300 }]);
  },
);
