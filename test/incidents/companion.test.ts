/** What describes an incident on a path that people use too. */
import t from "tap";
import { minuteMs } from "../../src/contract/durations.js";
import { mondayMs, newDetector, personRequest, programRequest, randomOf, runMinutes } from "./synthetic-traffic.js";

t.test("an address that is too little for an incident of its own narrows the one of its path", async (t) => {
  const random = randomOf(5);
  const noonMs = mondayMs + 12 * 60 * minuteMs;
  const detector = newDetector(noonMs);
  const found: object[] = [];
  const values = { path: "/checkout", ip: "45.9.20.3", network: "45.9.20.0/24" };
  await runMinutes(
    detector,
    noonMs,
    70,
    (atMs, minute) => [
      ...Array.from({ length: 20 }, () => personRequest(atMs, random, { values: { path: "/" } })),
      personRequest(atMs, random, { values: { path: "/checkout" } }),
      ...Array.from({ length: minute >= 62 ? 12 : 0 }, () => programRequest(atMs, { values })),
    ],
    (outcome, minute) => {
      if (minute < 66) for (const project of outcome) found.push(...project.opened.map(({ what }) => what));
    },
  );
  t.match(found, [{ path: "/checkout", ip: "45.9.20.3" }]);
});
