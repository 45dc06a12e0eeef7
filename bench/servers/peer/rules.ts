/** The peer's rules: the ten that the bench gives verdictd's project (`bench/bed.ts`), written by hand as code. They match nobody. */
import type { ScoredState } from "../../../src/contract/sessions/session.js";

interface Rule {
  readonly name: string;
  readonly action: "challenge";
  readonly matches: (session: ScoredState, band: string, ageSeconds: number) => boolean;
}

const fifth = /^.*\/wp-.*5\.php$/i;

const conditions: readonly Rule["matches"][] = [
  ({ score, eventCount }) => score < 1 && eventCount > 0,
  ({ last }) => last.path === "/admin/1",
  ({ last }) => last.path.startsWith("/wp-2"),
  ({ last }) => last.userAgent.includes("scraper-3"),
  ({ last }) => last.host === "a4.example" || last.host === "b4.example",
  ({ last }) => fifth.test(last.path),
  ({ last }) => last.ip.startsWith("10.6.") || last.ip.startsWith("2001:db8:6:"),
  ({ last }, band) => band === "definite" && last.path.startsWith("/login/7"),
  ({ detectionIds }) => detectionIds.includes(100_198),
  ({ eventCount }, _band, ageSeconds) => ageSeconds < 0 || eventCount > 900_009,
];

/** In the order they are asked. */
export const rules: readonly Rule[] = conditions.map((matches, number) => ({
  name: `bench ${number}`,
  action: "challenge",
  matches,
}));
