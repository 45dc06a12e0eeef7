/** The catalogue: every detection there is, and what the public may know of each. Order has no meaning. */
import type { EngineName } from "../contract/evidence/evidence.js";
import { agentFormDetections } from "./behavioral-agent-forms.js";
import { agentTouchDetections } from "./behavioral-agent-touches.js";
import { agentActDetections } from "./behavioral-agents.js";
import { clickDetections } from "./behavioral-clicks.js";
import { dispatchDetections } from "./behavioral-dispatch.js";
import { keyDetections } from "./behavioral-keys.js";
import { motionDetections } from "./behavioral-motion.js";
import { movementDetections } from "./behavioral-movements.js";
import { replayDetections } from "./behavioral-replays.js";
import { stepDetections } from "./behavioral-steps.js";
import { crawlerDetections } from "./crawler-detections.js";
import { type Detection, type DetectionState, type Severity, severityOf } from "./detection.js";
import { headerDetections } from "./heuristics-headers.js";
import { identityDetections } from "./heuristics-identity.js";
import { trafficDetections } from "./heuristics-traffic.js";
import { consistencyDetections } from "./js-consistency.js";
import { driverDetections } from "./js-drivers.js";
import { requestIdentityDetections } from "./request-identity.js";
import { requestMetadataDetections } from "./request-metadata.js";
import { requestTransportDetections } from "./request-transport.js";
import { requestVisitDetections } from "./request-visits.js";

/** All entries, retired ones too: the runner leaves those out, ids stay known for what is stored. */
export const detections: readonly Detection[] = [
  ...identityDetections,
  ...headerDetections,
  ...trafficDetections,
  ...driverDetections,
  ...consistencyDetections,
  ...stepDetections,
  ...movementDetections,
  ...motionDetections,
  ...replayDetections,
  ...dispatchDetections,
  ...clickDetections,
  ...keyDetections,
  ...agentActDetections,
  ...agentFormDetections,
  ...agentTouchDetections,
  ...crawlerDetections,
  ...requestIdentityDetections,
  ...requestMetadataDetections,
  ...requestTransportDetections,
  ...requestVisitDetections,
];

/** A row of `GET /v1/detections`. */
interface PublicDetection {
  readonly id: number;
  readonly slug: string;
  readonly engine: EngineName;
  readonly severity: Severity;
  readonly state: DetectionState;
  readonly meaning: string;
}

/** The catalogue as `GET /v1/detections` shows it, by id. */
export function publicCatalogue(): PublicDetection[] {
  return detections
    .map(({ id, slug, engine, state, meaning, ...rest }) => ({
      id,
      slug,
      engine,
      severity: severityOf(rest),
      state,
      meaning,
    }))
    .sort((one, other) => one.id - other.id);
}
