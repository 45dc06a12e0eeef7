/** A block that a rule made, for tests of what records, stores and erases blocks. */
import type { NewBlock } from "../../src/store/recorded-rows.js";

/** Of a session, or of none. */
export function ruleBlock<T extends string | null>(
  projectId: number,
  sessionToken: T,
  { path = "/", atMs = Date.now() }: { readonly path?: string | null; readonly atMs?: number } = {},
): NewBlock & { readonly sessionToken: T } {
  return {
    projectId,
    sessionToken,
    verdict: "definite",
    score: 2,
    reason: "",
    detectionIds: [],
    source: "rule",
    ruleId: 1,
    path,
    createdAt: new Date(atMs).toISOString(),
  };
}
