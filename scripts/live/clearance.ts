/** A visitor that passes verdictd's challenge and then acts: the clearance has to end with the batch that shows what it is. */
import type { Band, Verdict } from "../../src/contract/verdicts/verdict.js";
import type { DrivenPage } from "./driven-page.js";
import type { CrossSessionCounts } from "./measurement.js";
import { pause } from "./pause.js";

/** Best first. */
const order: readonly Band[] = ["likely_human", "likely_automated", "confident_automated", "definite"];
const passMsMax = 30_000;
/** How often the verdict is read while the visitor acts. */
const readEveryMs = 40;

/**
 * Passes, acts, and looks at the verdict all the while; who is refused a pass just acts. Rejects where the pass does not let in, where a verdict lets in although the band is worse
 * than at the pass, and where the visitor is let in when all was seen.
 */
export async function losesClearance(
  around: CrossSessionCounts,
  page: DrivenPage,
  act: () => Promise<void>,
): Promise<void> {
  const { visit, verdictOnChallenged } = around;
  let passed = await verdictOnChallenged();
  for (const endMs = Date.now() + passMsMax; passed.verdict === "not_computed" && Date.now() < endMs; ) {
    await pause(readEveryMs);
    passed = await verdictOnChallenged();
  }
  if (passed.action !== "challenge") throw new Error(`before the pass: ${told(passed)}`);
  await page.run('void document.dispatchEvent(new Event("challenged"))');
  await visit.until(({ passes, refusals }) => passes + refusals > 0, "the challenge is over", passMsMax);
  // Known for what it is before it acted: there is no pass to lose.
  if (visit.passes === 0) return act();
  passed = await verdictOnChallenged();
  if (passed.action !== "allow" || !passed.reason.includes("Passed at")) throw new Error(`passed: ${told(passed)}`);
  const rank = order.indexOf(passed.verdict);
  let last = passed;
  let isOver = false;
  const watch = async (): Promise<void> => {
    while (!isOver) {
      last = await verdictOnChallenged();
      if (last.action === "allow" && order.indexOf(last.verdict) > rank) {
        throw new Error(`let in by a pass that its band has ended: ${told(last)}`);
      }
      await pause(readEveryMs);
    }
  };
  const sent = visit.batches.length;
  const watching = watch();
  try {
    await Promise.race([act(), watching]);
    // What the last act showed is on its way: a batch is at most a second late.
    const endMs = Date.now() + passMsMax;
    while (last.action === "allow" && Date.now() < endMs) await Promise.race([pause(readEveryMs), watching]);
  } finally {
    isOver = true;
  }
  await watching;
  if (last.action === "allow") {
    throw new Error(`still let in after ${visit.batches.length - sent} batches: ${passed.verdict}, now ${told(last)}`);
  }
}

function told({ verdict, score, action, reason }: Verdict): string {
  return `${verdict} ${score}, ${action}: ${reason}`;
}
