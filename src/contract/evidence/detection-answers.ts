/** The public catalogue of detections. */

import type { CountMeta, DetectionId } from "../values/answer-values.js";
import type { EngineName } from "./evidence.js";

/** A row of the public catalogue of detections. */
export interface DetectionAnswer {
  id: DetectionId;
  slug: string;
  engine: EngineName;
  severity: "info" | "low" | "medium" | "high" | "critical";
  /** Experimental ones fire and are listed, but never move the score. */
  state: "experimental" | "scoring" | "retired";
  meaning: string;
}

/** The public catalogue of detections that this version scores with. */
export interface DetectionsAnswer {
  data: DetectionAnswer[];
  meta: CountMeta;
}
