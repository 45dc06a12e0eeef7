/** `GET /v1/agents`: the public list of agents that are known by name. */

import type { AgentsAnswer } from "../../../contract/bots/bot-answers.js";
import { knownAgents, type NamedAgentLists } from "../../../control-plane/lists/known-agents.js";
import { publicRoute } from "../../operation-route.js";
import { jsonType } from "../../reply.js";
import type { PublicRoute } from "../../route.js";

/** Needs no credential. `read` gives the lists in force, each the same object until another one is: the text is made anew only after an import. */
export function agentsRoute(read: () => NamedAgentLists): PublicRoute {
  let made: { readonly from: NamedAgentLists; readonly body: string } | null = null;
  return publicRoute("listAgents", {
    doc: {
      tag: "control plane",
      summary: "The agents that are known by their signature, address, user agent or marks, one row a name",
    },
    handle: () => {
      const lists = read();
      if (made === null || !isSame(made.from, lists)) made = { from: lists, body: listText(lists) };
      return { status: 200, contentType: jsonType, body: made.body };
    },
  });
}

function isSame(one: NamedAgentLists, other: NamedAgentLists): boolean {
  return (
    one.signed === other.signed &&
    one.verified === other.verified &&
    one.declared === other.declared &&
    one.marks === other.marks
  );
}

function listText(lists: NamedAgentLists): string {
  const data = knownAgents(lists);
  return JSON.stringify({ data, meta: { count: data.length, version: lists.marks.version } } satisfies AgentsAnswer);
}
