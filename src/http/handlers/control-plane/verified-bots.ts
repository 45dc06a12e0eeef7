/** `GET /v1/verified-bots/export`: the whole allowlist in force, the same for every subscriber. */

import type { VerifiedBotsAnswer } from "../../../contract/bots/bot-answers.js";
import type { VerifiedBotCatalogue } from "../../../contract/bots/verified-bots.js";
import { activeEntries, type VerifiedBotCatalogues } from "../../../control-plane/lists/verified-bot-catalogue.js";
import { tokenRoute } from "../../operation-route.js";
import { jsonType } from "../../reply.js";
import type { TokenRoute } from "../../route.js";

/**
 * By `projects:read`, an active subscription and a plan with the feature `verified-bots-export`. The text is made anew only after an
 * import.
 */
export function verifiedBotsRoute(catalogues: VerifiedBotCatalogues): TokenRoute {
  let made: { readonly from: VerifiedBotCatalogue; readonly body: Buffer } | null = null;
  return tokenRoute("exportVerifiedBots", {
    needs: "projects:read",
    needsSubscription: true,
    feature: "verified-bots-export",
    doc: { tag: "control plane", summary: "The allowlist of verified bots", refusals: ["forbidden"] },
    handle: () => {
      const catalogue = catalogues.read();
      if (made?.from !== catalogue) made = { from: catalogue, body: Buffer.from(exportText(catalogue)) };
      return { status: 200, contentType: jsonType, body: made.body };
    },
  });
}

function exportText(catalogue: VerifiedBotCatalogue): string {
  const data = activeEntries(catalogue).map(({ name, category, match_method, match_value }) => ({
    name,
    category,
    match_method,
    match_value,
  }));
  return JSON.stringify({ data, meta: { count: data.length } } satisfies VerifiedBotsAnswer);
}
