/** A start ticket, once for a session and tab: the report that hands it back was made by somebody who could load this file. */
import { attempt } from "../page-hooks.js";
import { ticketKey } from "../token.js";

/** Remembers that the session of this token has handed one in. */
export function keepTicket(token: string | null): void {
  attempt(() => sessionStorage.setItem(ticketKey, String(token)));
}

/** The ticket; undefined where the session has handed one in from this tab, or none is given. */
export async function startTicket(siteKey: string, base: string, token: string | null): Promise<string | undefined> {
  if (attempt(() => sessionStorage.getItem(ticketKey)) === token) return undefined;
  const response = await fetch(`${base}/v1/start-tickets`, {
    method: "POST",
    headers: { "X-Service-Site-Key": siteKey },
    credentials: "omit",
    referrerPolicy: "strict-origin",
  });
  const { start_ticket } = (await response.json()) as { start_ticket?: unknown };
  return typeof start_ticket === "string" ? start_ticket.slice(0, 512) : undefined;
}
