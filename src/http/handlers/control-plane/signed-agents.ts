/** `GET /v1/signed-agents`: the public list of agents whose signed requests are verified. Made anew when it changes. */
import type { SignedAgentsAnswer } from "../../../contract/api-answers.js";
import type { SignedAgentList } from "../../../contract/signed-agents.js";
import type { SignedAgentStore } from "../../../control-plane/signed-agent-store.js";
import { jsonType } from "../../reply.js";
import type { PublicRoute } from "../../route.js";

/** Needs no credential; shows agents without their keys. */
export function signedAgentsRoute(agents: SignedAgentStore): PublicRoute {
  let made: { readonly from: SignedAgentList; readonly body: string } | null = null;
  return {
    method: "get",
    path: "/v1/signed-agents",
    credential: "none",
    doc: {
      id: "listSignedAgents",
      tag: "control plane",
      summary: "The agents whose signed requests are verified",
      answers: { 200: "SignedAgentsAnswer" },
    },
    handle: () => {
      const list = agents.list();
      if (made?.from !== list) made = { from: list, body: listText(list) };
      return { status: 200, contentType: jsonType, body: made.body };
    },
  };
}

function listText({ version, agents }: SignedAgentList): string {
  const data = agents.map(({ url, name, category }) => ({ url, name, category }));
  return JSON.stringify({ data, meta: { count: data.length, version } } satisfies SignedAgentsAnswer);
}
