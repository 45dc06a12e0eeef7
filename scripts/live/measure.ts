/** Carries out cases: opens a visit, lets the tool make it, reads the session's verdict as a customer's backend would. */
import { hashText } from "../../src/contract/values/hashes.js";
import type { Display } from "./display.js";
import type { LiveCase, Outcome } from "./measurement.js";
import { seededRandom } from "./randomness.js";
import { challengedPath, type LiveService } from "./service.js";
import type { LiveSite, SiteVisit } from "./site.js";

/** What the visits of a measurement share. */
export interface Ground {
  readonly service: LiveService;
  readonly site: LiveSite;
  /** Null when there is none, or none is needed. */
  readonly display: Display | null;
  readonly seed: number;
  /** Called after each visit, with all that the site saw of it. */
  readonly onVisit?: (of: LiveCase, visit: SiteVisit, outcome: Outcome) => void;
}

/** One visit of a case. A visit that fails is an outcome of its own, never a verdict. */
export async function measureVisit(of: LiveCase, run: number, ground: Ground): Promise<Outcome> {
  const visit = ground.site.open();
  const outcome = await carryOut(of, run, visit, ground).catch(
    (error: unknown): Outcome => ({ failure: error instanceof Error ? error.message : String(error) }),
  );
  ground.onVisit?.(of, visit, outcome);
  return outcome;
}

async function carryOut(of: LiveCase, run: number, visit: SiteVisit, ground: Ground): Promise<Outcome> {
  const random = seededRandom(hashText(`${ground.seed} ${of.tool} ${of.behavior} ${run}`));
  const display = of.needsDisplay ? ground.display : null;
  const verdictOnChallenged = () =>
    ground.service.verdict(visit.token ?? "", {
      path: challengedPath,
      userAgent: visit.batches[0]?.headers["user-agent"] ?? "",
    });
  await of.carryOut({ visit, random, run, display, verdictOnChallenged });
  if (visit.token === null) throw new Error("no session was opened");
  const [verdict, detections] = await Promise.all([
    ground.service.verdict(visit.token),
    ground.service.detections(visit.token),
  ]);
  return { verdict, detections };
}
