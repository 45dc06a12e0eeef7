/**
 * Scores one request of a visitor by the heuristics engine: the same catalogue, weights and neutral score as for sessions. The other engines do not
 * apply to a request. Pure.
 */
import type { FiredDetection } from "../contract/evidence/evidence.js";
import type { JudgedRequest, RequestFindings, RequestScore } from "../contract/verdicts/judged-request.js";
import { detections } from "../detections/catalogue.js";
import { strengths } from "../detections/detection.js";
import { visitCause } from "../detections/request-visits.js";
import { DetectionRunner } from "./detection-runner.js";
import { isScript, requestEvidenceOf } from "./request-evidence.js";
import { type CountedOnce, contributionOf, insert, nothingOnce, scoreOf } from "./score.js";

/** As much as what visits show may come to, with all the rest: the score 17, which is `likely_automated` by the usual threshold. */
const visitsSumMax = 2;

const ofRequests = new DetectionRunner(detections.filter(({ subjects }) => subjects.includes("request")));

/** Scores that are remembered with the same lines: of as many methods, hosts and visits. */
const scoresMax = 4;

/** As `scoreNew`; looked up for lines that came before. */
export function scoreRequest(request: JudgedRequest, findings: RequestFindings): RequestScore {
  const { memo, context, httpVersion, ja4 } = request;
  if (memo === undefined) return scoreNew(request, findings);
  const { method, host, path: asked = "" } = context;
  const path = memo.isPlatforms ? asked : isScript(asked) ? ".js" : "";
  for (const known of memo.scores) {
    const isSame =
      known.method === method &&
      known.host === host &&
      known.path === path &&
      known.httpVersion === httpVersion &&
      known.ja4 === ja4 &&
      isSameFinding(known.findings, findings);
    if (isSame) return known.score;
  }
  const score = scoreNew(request, findings);
  if (memo.scores.length >= scoresMax) memo.scores.shift();
  memo.scores.push({ method, path, host, httpVersion, ja4, findings, score });
  return score;
}

function isSameFinding(one: RequestFindings, other: RequestFindings): boolean {
  return (
    one.declaredBot === other.declaredBot &&
    one.crawlerClaim === other.crawlerClaim &&
    one.signature === other.signature &&
    one.visit.silentPages === other.visit.silentPages &&
    one.visit.unkeptTokens === other.visit.unkeptTokens &&
    one.visit.isPagelessPost === other.visit.isPagelessPost &&
    one.visit.walkedPages === other.visit.walkedPages &&
    one.visit.isInstalled === other.visit.isInstalled
  );
}

/**
 * Under 10 µs for a browser's 15 lines. All missing headers together weigh no more than one strong fact: on their own they make no `definite` bot. Beside
 * three kinds of a browser's lines, whatever filters and switches of names may have done is `likely_automated` at most.
 */
function scoreNew(request: JudgedRequest, findings: RequestFindings): RequestScore {
  const evidence = requestEvidenceOf(request, findings);
  const fired = ofRequests.fired(evidence);
  const once: CountedOnce = {
    ...nothingOnce,
    stripping: evidence.strippedHeaders === true,
    switching: evidence.renamedBrowser === true,
  };
  const sorted: FiredDetection[] = [];
  let lacking = 0;
  let switched = 0;
  let rest = 0;
  let visits = 0;
  for (const each of fired) {
    const contribution = contributionOf(each, fired, once);
    insert(sorted, { id: each.id, contribution });
    if (each.cause === visitCause) visits += contribution;
    else if (each.group === "stripping") lacking += contribution;
    else if (each.group === "switching") switched += contribution;
    else rest += contribution;
  }
  const changed = Math.min(lacking, strengths.strong) + switched;
  const others = (evidence.browserLines === true ? Math.min(changed, strengths.moderate) : changed) + rest;
  const sum = Math.max(others, Math.min(others + visits, visitsSumMax));
  return {
    score: sum === 0 ? null : scoreOf(sum, sorted[0]!.contribution),
    detectionIds: sorted.map(({ id }) => id),
  };
}
