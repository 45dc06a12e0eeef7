/** Random ids for events and batches. */

/** 16 hexadecimal digits, 64 random bits: an event's `request_id`, of which verdictd keeps as many. */
export function eventId(): string {
  let text = "";
  for (const byte of crypto.getRandomValues(new Uint8Array(8))) text += (byte + 256).toString(16).slice(1);
  return text;
}

/** A random UUID, version 4: a batch's `Idempotency-Key`. `crypto.randomUUID` is missing on plain http. */
export function batchId(): string {
  return (eventId() + eventId()).replace(/(.{8})(.{4})(.{3})(.{3})(.{12})../, "$1-$2-4$3-a$4-$5");
}
