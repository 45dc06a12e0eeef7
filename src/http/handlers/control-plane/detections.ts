/** `GET /v1/detections`: the public catalogue of what verdictd detects. Made once: it changes with the program only. */

import { operations } from "../../../contract/api/operations.js";
import type { DetectionsAnswer } from "../../../contract/evidence/detection-answers.js";
import { publicCatalogue } from "../../../detections/catalogue.js";
import { jsonType } from "../../reply.js";
import type { PublicRoute } from "../../route.js";
import { pageRoute } from "../pages/pages.js";

/** Needs no credential; clients may keep it for an hour. */
export function detectionsRoute(): PublicRoute {
  const data = publicCatalogue();
  const answer: DetectionsAnswer = { data, meta: { count: data.length } };
  const route = pageRoute({
    path: operations.listDetections.path,
    contentType: jsonType,
    body: JSON.stringify(answer),
    cacheControl: "public, max-age=3600",
  });
  return {
    ...route,
    doc: {
      id: "listDetections",
      tag: "control plane",
      summary: "The catalogue of detections",
      answers: operations.listDetections.answers,
    },
  };
}
