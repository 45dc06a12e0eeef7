/** Sends one body to a receiver: signed, to the address that was checked, within 5 seconds, following no redirect and keeping no answer. */
import { createHmac } from "node:crypto";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { LookupFunction } from "node:net";
import { limits } from "../limits.js";
import { receiverUrl, resolveReceiver } from "./receiver-address.js";

/** What became of one try. */
export interface Sent {
  readonly isDelivered: boolean;
  /** What was answered; null: nothing. */
  readonly status: number | null;
  /** null: nothing went wrong. */
  readonly error: string | null;
}

/** One message to one receiver. */
interface Message {
  readonly url: string;
  readonly body: string;
  /** "" sends no signature. */
  readonly secret: string;
  readonly arePrivateAllowed: boolean;
  readonly nowMs: number;
}

/** The signature of a body that is sent at `timestamp`, which is seconds since the epoch as text. */
function signatureOf(secret: string, timestamp: string, body: string): string {
  return `v1=${createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex")}`;
}

/** Never rejects. */
export async function sendWebhook(message: Message): Promise<Sent> {
  const url = receiverUrl(message.url, message.arePrivateAllowed);
  if ("fault" in url) return failed(url.fault);
  const signal = AbortSignal.timeout(limits.alertSendMs);
  const receiver = await resolveReceiver(url, message.arePrivateAllowed, signal);
  if ("fault" in receiver) return failed(receiver.fault);
  return post(url, receiver, message, signal);
}

function post(
  url: URL,
  { address, family }: { readonly address: string; readonly family: 4 | 6 },
  { body, secret, nowMs }: Message,
  signal: AbortSignal,
): Promise<Sent> {
  const timestamp = String(Math.floor(nowMs / 1000));
  // A name server may answer otherwise the next time: the address is the one that was checked.
  const pinned: LookupFunction = (_, options, done) => {
    if (options.all === true) done(null, [{ address, family }]);
    else done(null, address, family);
  };
  const send = url.protocol === "https:" ? httpsRequest : httpRequest;
  return new Promise((resolve) => {
    const request = send(url, {
      method: "POST",
      agent: false,
      lookup: pinned,
      signal,
      headers: {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
        "user-agent": "verdictd-alerts",
        ...(secret !== "" && {
          "x-verdictd-timestamp": timestamp,
          "x-verdictd-signature": signatureOf(secret, timestamp, body),
        }),
      },
    });
    request.on("response", (response) => {
      const status = response.statusCode ?? 0;
      response.on("error", () => {});
      response.destroy();
      const isDelivered = status >= 200 && status < 300;
      const reason =
        status >= 300 && status < 400 ? "answered a redirect, which is not followed" : `answered ${status}`;
      resolve({ isDelivered, status, error: isDelivered ? null : reason });
    });
    request.on("error", (error: NodeJS.ErrnoException) => {
      resolve(failed(signal.aborted ? `no answer within ${limits.alertSendMs / 1000} s` : failureOf(error)));
    });
    request.end(body);
  });
}

/** What went wrong, by the codes of Node.js and OpenSSL; those that are not listed say little, and are told as they are. */
const failures: readonly (readonly [codes: RegExp, text: string])[] = [
  [/^ECONNREFUSED$/, "refused the connection"],
  [/^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, "closed the connection before it answered"],
  [/^(?:EPROTO|ERR_SSL_\w+)$/, "does not speak TLS, which https needs"],
  [/^(?:EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/, "can't be reached from here"],
  [/^ETIMEDOUT$/, "did not answer in time"],
  [/^CERT_HAS_EXPIRED$/, "has a certificate that has expired"],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, "has a certificate for another host"],
  [/CERT|SIGNATURE|ISSUER/, "has a certificate that this server does not trust"],
  [/^HPE_/, "does not answer in HTTP"],
];

function failureOf({ code }: NodeJS.ErrnoException): string {
  if (code === undefined) return "it could not be sent";
  const known = failures.find(([codes]) => codes.test(code));
  return known === undefined ? `it could not be sent (${code})` : `the receiver ${known[1]} (${code})`;
}

function failed(error: string): Sent {
  return { isDelivered: false, status: null, error };
}
