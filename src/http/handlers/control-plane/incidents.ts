/** The incidents of a project: listed, and muted. */

import type { IncidentLog } from "../../../alerting/incident-log.js";
import { incidentView } from "../../../alerting/incident-view.js";
import type { IncidentsAnswer } from "../../../contract/incidents/incidents.js";
import { Refusal, refuse } from "../../../errors.js";
import { projectRoute } from "../../operation-route.js";
import { json, refusal } from "../../reply.js";
import type { ProjectRoute } from "../../route.js";
import { positiveInteger } from "../../server.js";
import { logParameters, readLogQuery } from "./log-query.js";

/** `GET …/incidents` by `projects:read`, `POST …/incidents/{incident}/mute` by `projects:write`. */
export function incidentRoutes(incidents: IncidentLog, now: () => number): ProjectRoute[] {
  return [
    projectRoute("listIncidents", {
      needs: "projects:read",
      doc: {
        tag: "logs",
        summary: "The incidents of a project, the latest first",
        description:
          "An incident is a value of the traffic (or a path with a network, an autonomous system or a family of user agents) that in five minutes has at " +
          "least 50 requests and five times its usual, at least half of them in a bot band, without a session, or answered by a rule. It is found within " +
          "two minutes, and ends when it was below twice its usual (and 10) for ten minutes.",
        parameters: [
          {
            in: "query",
            name: "state",
            description: "`open`: only those that go on",
            schema: { type: "string", enum: ["open", "all"], default: "all" },
          },
          ...logParameters,
        ],
        refusals: ["invalidPayload"],
      },
      handle: ({ project, query }) => {
        const asked = readLogQuery(query);
        if (asked instanceof Refusal) return refusal(asked);
        const state = query.get("state") ?? "all";
        if (state !== "open" && state !== "all") return refusal(refuse("invalidPayload", "state must be open or all"));
        const page = incidents.page(project.id, state === "open", asked.limit, asked.cursor);
        if (page instanceof Refusal) return refusal(page);
        const data = page.rows.map((row) => incidentView(row, now()));
        return json(200, { data, meta: { next_cursor: page.nextCursor } } satisfies IncidentsAnswer);
      },
    }),
    projectRoute("muteIncident", {
      needs: "projects:write",
      doc: {
        tag: "logs",
        summary: "Mute an incident",
        description: "Until then neither it nor another one with the same `what` alerts or leads the overview.",
      },
      handle: async ({ project, params, readBody }) => {
        const id = positiveInteger(params[1]);
        if (id === null || incidents.find(project.id, id) === null) return missing;
        const read = readBody();
        if (read instanceof Refusal) return refusal(read);
        const muted = await incidents.mute(project, id, read.value.hours);
        return muted instanceof Refusal ? refusal(muted) : json(200, incidentView(muted, now()));
      },
    }),
  ];
}

const missing = refusal(refuse("notFound", "the project has no such incident"));
