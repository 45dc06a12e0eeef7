/** What tests of visits ask about. */
import type { VisitQuestion } from "../../src/requests/visits.js";

export const start = Date.UTC(2026, 10, 22);
/** A page of a visitor without a token. */
export const page: VisitQuestion = {
  projectId: 1,
  address: "192.0.2.1",
  userAgent: "Browser 1",
  token: null,
  given: null,
  isNavigation: true,
  method: "GET",
  path: "/shop/a",
  target: "/shop/a",
  lastReportMs: 0,
  isAskedAgain: false,
};
