/** What channels are sent: a webhook's JSON, and the text of Slack. */
import type { Channel } from "../contract/incidents/alerts.js";
import type { IncidentAnswer } from "../contract/incidents/incidents.js";

/** What an alert tells. */
interface AlertMessage {
  /** null: a test of the channel. */
  readonly alert: { readonly id: number; readonly name: string } | null;
  readonly project: { readonly id: number; readonly name: string };
  readonly at: string;
  readonly incident?: IncidentAnswer;
  readonly count?: number;
  readonly expression: string;
  /** A page of the console. */
  readonly link: string;
}

/** The body of a delivery to this channel. */
export function messageBody({ kind }: Pick<Channel, "kind">, message: AlertMessage): string {
  const { alert, ...rest } = message;
  if (kind === "slack") return JSON.stringify({ text: slackText(message) });
  return JSON.stringify({
    type: "alert",
    alert: alert ?? { id: 0, name: "Test of the channel" },
    ...rest,
    ...(alert === null && { test: true }),
  });
}

function slackText({ alert, project, incident, count, expression, link }: AlertMessage): string {
  const lines = [
    alert === null
      ? `verdictd: a test of this channel for ${escaped(project.name)}`
      : `verdictd: ${escaped(alert.name)} (${escaped(project.name)})`,
    ...(incident === undefined
      ? []
      : [`${incident.count} requests since ${incident.started_at}, usually ${incident.baseline} in 5 min`]),
    ...(count === undefined ? [] : [`${count} matched`]),
    ...(expression === "" ? [] : [`\`${escaped(expression)}\``]),
    link,
  ];
  return lines.join("\n");
}

/** Slack's three control characters; a name must not become a link or a mention. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
