/**
 * Start tickets. The SDK's second file requests one and hands it back with its report; a client that only posts events, or that posts what was
 * recorded elsewhere or before, therefore stands out. Tickets are signed and not stored; a count shows a second use when one comes back
 * (`cross-session-counts.ts`). A ticket is evidence, never a condition: batches without one are accepted like any other.
 */
import { createHmac, randomFillSync, timingSafeEqual } from "node:crypto";
import type { Project } from "../contract/configuration/entities.js";
import type { IngestEvent } from "../contract/events/events.js";
import type { TicketState } from "../contract/evidence/evidence.js";
import type { RequestFacts } from "../contract/evidence/header-facts.js";
import { pushHash64 } from "../contract/values/hashes.js";
import { broadNetworkOf } from "../engines/fold-request.js";
import { limits } from "../limits.js";
import { countTicket } from "./cross-session-counts.js";
import type { UnitOfWork } from "./unit-of-work.js";

type Issuer = Pick<Project, "siteKey" | "privateKeyHash">;

/** Bytes: 8 random, 4 of the time in s, 4 of the network's hash, 12 of an HMAC-SHA-256 over these and the site key. */
const [timeAt, networkAt, signatureAt, ticketBytes] = [8, 12, 16, 28];
const ticketForm = /^[\w-]{38}$/;

/** Returns a ticket for a visitor at this address: 38 characters. About 4 µs. */
export function issueTicket(project: Issuer, ip: string, nowMs: number): string {
  const ticket = Buffer.allocUnsafe(ticketBytes);
  randomFillSync(ticket, 0, timeAt);
  ticket.writeUInt32LE(Math.floor(nowMs / 1000), timeAt);
  ticket.writeInt32LE(networkHash(ip), networkAt);
  signature(project, ticket).copy(ticket, signatureAt);
  return ticket.toString("base64url");
}

/** Returns the state of the ticket in a batch of new events, and counts its use; `null` means that there is none. */
export function takeTicket(
  unit: UnitOfWork,
  project: Project,
  events: readonly IngestEvent[],
  { ip, nowMs }: Pick<RequestFacts, "ip" | "nowMs">,
): TicketState | null {
  const ticket = ticketIn(events);
  if (ticket === undefined) return null;
  const state = checkTicket(project, ticket, ip, nowMs);
  if (state === "forged" || state === "late") return state;
  return countTicket(unit, project.id, ticket, nowMs) > 1 ? "reused" : state;
}

/** Returns the first ticket in a batch. */
export function ticketIn(events: readonly IngestEvent[]): string | undefined {
  for (const { payload } of events) if (payload.start_ticket !== undefined) return payload.start_ticket;
  return undefined;
}

/**
 * Returns the state of a ticket that came back from this address, apart from earlier use. A ticket from before a rotation of the private key is
 * forged.
 */
export function checkTicket(project: Issuer, text: string, ip: string, nowMs: number): Exclude<TicketState, "reused"> {
  if (!ticketForm.test(text)) return "forged";
  const ticket = Buffer.from(text, "base64url");
  if (!timingSafeEqual(signature(project, ticket), ticket.subarray(signatureAt))) return "forged";
  const ageMs = nowMs - ticket.readUInt32LE(timeAt) * 1000;
  // The clocks of threads and hosts may differ by milliseconds.
  if (ageMs < -limits.startTicketMs || ageMs > limits.startTicketMs) return "late";
  return ticket.readInt32LE(networkAt) === networkHash(ip) ? "fresh" : "elsewhere";
}

function signature({ siteKey, privateKeyHash }: Issuer, ticket: Buffer): Buffer {
  // Only the store knows the key.
  const mac = createHmac("sha256", privateKeyHash ?? "");
  mac.update(`verdictd start ticket ${siteKey}`);
  return mac
    .update(ticket.subarray(0, signatureAt))
    .digest()
    .subarray(0, ticketBytes - signatureAt);
}

function networkHash(ip: string): number {
  const words: number[] = [];
  pushHash64(broadNetworkOf(ip), words);
  return words[0]!;
}
