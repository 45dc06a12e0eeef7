/** `GET /v1/declared-bots`: the public list of bots that are known by their user agent. */

import type { DeclaredBotsAnswer } from "../../../contract/bots/bot-answers.js";
import type { DeclaredBotCatalogue } from "../../../contract/bots/declared-bots.js";
import type { DeclaredBotCatalogues } from "../../../control-plane/lists/declared-bot-catalogue.js";
import { publicRoute } from "../../operation-route.js";
import { jsonType } from "../../reply.js";
import type { PublicRoute } from "../../route.js";

/** Needs no credential. The text is made anew only after an import. */
export function declaredBotsRoute(catalogues: DeclaredBotCatalogues): PublicRoute {
  let made: { readonly from: DeclaredBotCatalogue; readonly body: string } | null = null;
  return publicRoute("listDeclaredBots", {
    doc: { tag: "control plane", summary: "The bots that name themselves in their user agent" },
    handle: () => {
      const catalogue = catalogues.read();
      if (made?.from !== catalogue) made = { from: catalogue, body: listText(catalogue) };
      return { status: 200, contentType: jsonType, body: made.body };
    },
  });
}

function listText({ version, entries }: DeclaredBotCatalogue): string {
  const data = entries.map(({ name, operator, category, token }) => ({ name, operator, category, token }));
  return JSON.stringify({ data, meta: { count: data.length, version } } satisfies DeclaredBotsAnswer);
}
