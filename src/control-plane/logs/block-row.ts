/** A recorded block as the API and the command line show it. */

import type { Block } from "../../contract/configuration/entities.js";
import type { BlockRow } from "../../contract/traffic/block-answers.js";
import type { Band } from "../../contract/verdicts/verdict.js";

/** The row of a block; what earlier versions did not record is told as nothing. */
export function blockRow(block: Block): BlockRow {
  return {
    id: block.id,
    session_token: block.sessionToken,
    verdict: block.verdict as Band,
    score: block.score,
    reason: block.reason,
    detection_ids: block.detectionIds,
    ...(block.action && { action: block.action }),
    source: block.source,
    rule_id: block.ruleId,
    path: block.path,
    ip: block.ip ?? null,
    agent: block.agent ?? null,
    count: block.count ?? 1,
    references: block.references ?? [],
    created_at: block.createdAt,
  };
}
