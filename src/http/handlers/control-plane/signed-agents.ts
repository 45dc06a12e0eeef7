/** `GET /v1/signed-agents`: the public list of agents whose signed requests are verified. Made anew when it changes. */

import type { SignedAgentsAnswer } from "../../../contract/bots/bot-answers.js";
import type { SignedAgentList } from "../../../contract/bots/signed-agents.js";
import type { SignedAgentStore } from "../../../control-plane/lists/signed-agent-store.js";
import { publicRoute } from "../../operation-route.js";
import { jsonType } from "../../reply.js";
import type { PublicRoute } from "../../route.js";

/** Needs no credential; shows agents without their keys. */
export function signedAgentsRoute(agents: SignedAgentStore): PublicRoute {
  let made: { readonly from: SignedAgentList; readonly body: string } | null = null;
  return publicRoute("listSignedAgents", {
    doc: { tag: "control plane", summary: "The agents whose signed requests are verified" },
    handle: () => {
      const list = agents.list();
      if (made?.from !== list) made = { from: list, body: listText(list) };
      return { status: 200, contentType: jsonType, body: made.body };
    },
  });
}

function listText({ version, agents }: SignedAgentList): string {
  const data = agents.map(({ url, name, category }) => ({ url, name, category }));
  return JSON.stringify({ data, meta: { count: data.length, version } } satisfies SignedAgentsAnswer);
}
