/** `GET /v1/agents`: the public list of agents that are known by name. */
import type { AgentsAnswer } from "../../../contract/api-answers.js";
import { knownAgents, type NamedAgentLists } from "../../../control-plane/known-agents.js";
import { jsonType } from "../../reply.js";
import type { PublicRoute } from "../../route.js";

/** Reads each list in force; the same object until another one is. */
type ListReaders = { readonly [K in keyof NamedAgentLists]: () => NamedAgentLists[K] };

/** Needs no credential. The text is made anew only after an import. */
export function agentsRoute(read: ListReaders): PublicRoute {
  let made: { readonly from: NamedAgentLists; readonly body: string } | null = null;
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
