/** The pass rate of challenges by rule over the last days: the operator's measure of false positives. */

import type { ChallengeCounts, StatsRow } from "../../contract/traffic/stats-answers.js";
import { dayMs } from "../../contract/values/durations.js";
import type { Api } from "../api.js";
import { hashOf } from "../location.js";
import { count } from "../words.js";

/** Days of UTC, today's among them. */
const days = 7;
/** What pass rates are computed from, for the last 7 days of UTC. */
export interface ChallengesByRule {
  /** Whether verdictd's own challenge is on: nothing is counted otherwise. */
  readonly isEnabled: boolean;
  /** By the rule's id; "0": of no rule, or beside one of the same session that counts. */
  readonly counts: Readonly<Record<string, ChallengeCounts>>;
}

/** Sums of the last 7 days by rule, today's included. Two calls of the API; rejects with their `ApiFault`. */
export async function challengesByRule(api: Api, project: number): Promise<ChallengesByRule> {
  const [{ enabled }, { data }] = await Promise.all([
    api.challenge(project),
    api.statsByRule(project, new Date(Date.now() - (days - 1) * dayMs), "day"),
  ]);
  return { isEnabled: enabled, counts: summed(data) };
}

function summed(rows: readonly StatsRow[]): Record<string, ChallengeCounts> {
  const sums: Record<string, ChallengeCounts> = {};
  for (const { challenges_by_rule = {} } of rows) {
    for (const [rule, { issued, passed, failed }] of Object.entries(challenges_by_rule)) {
      const before = sums[rule] ?? { issued: 0, passed: 0, failed: 0 };
      sums[rule] = { issued: before.issued + issued, passed: before.passed + passed, failed: before.failed + failed };
    }
  }
  return sums;
}

/** Beside a rule: how many of its challenges were passed. `isChallenge`: it is the rule's action, so an empty count says something too. */
export function PassRate(properties: {
  readonly of: ChallengesByRule;
  readonly rule: number;
  readonly isChallenge: boolean;
}) {
  const { of, rule, isChallenge } = properties;
  const counts = of.counts[rule];
  if (counts === undefined || counts.issued === 0) {
    if (!isChallenge) return null;
    const apart = of.counts[0];
    if (of.isEnabled && apart !== undefined && apart.issued > 0) {
      return (
        <p class="pass-rate dim">
          Pass rate: none of its own. Challenges of first visits, which have no session yet, are counted for all rules
          together: {count(apart.passed)} of {count(apart.issued)} passed in the last {days} days.
        </p>
      );
    }
    return (
      <p class="pass-rate dim">
        {of.isEnabled ? (
          `Pass rate: no challenge of this rule was loaded in the last ${days} days.`
        ) : (
          <>
            Pass rate: not counted, because verdictd’s own challenge is <a href={hashOf("settings")}>off</a>.
          </>
        )}
      </p>
    );
  }
  const { issued, passed, failed } = counts;
  // One that was issued just before the first of these days may have been passed within them.
  const share = Math.min(100, Math.round((100 * passed) / issued));
  return (
    <p class="pass-rate">
      <b>Pass rate {share}%</b>
      <span class="dim">
        {" "}
        {count(passed)} of {count(issued)} challenges passed
        {failed === 0 ? "" : `, ${count(failed)} failed`}, last {days} days
      </span>
    </p>
  );
}

/** How to read it, and what belongs to no rule. Nothing where no challenge was counted. */
export function PassRateNote({ of }: { readonly of: ChallengesByRule }) {
  if (Object.values(of.counts).every(({ issued }) => issued === 0)) return null;
  const rest = of.counts[0]?.issued ?? 0;
  return (
    <p class="dim">
      The pass rate measures false positives: a challenge that was passed was probably shown to a person. If the rate is
      high, the rule stops too many people: narrow it. A real browser that a program controls passes too.
      {rest === 0
        ? ""
        : ` Counted separately: ${count(rest)} challenges that no rule asked for, or that a session asked for again within ten minutes.`}
    </p>
  );
}
