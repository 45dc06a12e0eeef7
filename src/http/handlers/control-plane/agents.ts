/** `GET /v1/agents`: the public list of agents that are known by name. */
import type { AgentsAnswer } from "../../../contract/api-answers.js";
import { type AgentLists, knownAgents } from "../../../control-plane/known-agents.js";
import { jsonType } from "../../reply.js";
import type { PublicRoute } from "../../route.js";

/** Reads each list in force; the same object until another one is. */
type ListReaders = { readonly [K in keyof AgentLists]: () => AgentLists[K] };

/** Needs no credential. The text is made anew only after an import. */
export function agentsRoute(read: ListReaders): PublicRoute {
  let made: { readonly from: AgentLists; readonly body: string } | null = null;
  return {
    method: "get",
    path: "/v1/agents",
    credential: "none",
    doc: {
      id: "listAgents",
      tag: "control plane",
      summary: "The agents that are known by their signature, address, user agent or marks, one row a name",
      answers: { 200: "AgentsAnswer" },
    },
    handle: () => {
      const lists = {
        signed: read.signed(),
        verified: read.verified(),
        declared: read.declared(),
        marks: read.marks(),
      };
      if (made === null || !isSame(made.from, lists)) made = { from: lists, body: listText(lists) };
      return { status: 200, contentType: jsonType, body: made.body };
    },
  };
}

function isSame(one: AgentLists, other: AgentLists): boolean {
  return (
    one.signed === other.signed &&
    one.verified === other.verified &&
    one.declared === other.declared &&
    one.marks === other.marks
  );
}

function listText(lists: AgentLists): string {
  const data = knownAgents(lists);
  return JSON.stringify({ data, meta: { count: data.length, version: lists.marks.version } } satisfies AgentsAnswer);
}
