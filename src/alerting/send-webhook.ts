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
  if ("fault" in url) return failed(`the URL ${url.fault}`);
  const signal = AbortSignal.timeout(limits.alertSendMs);
  const inTime = new Promise<{ readonly fault: string }>((resolve) => {
    signal.addEventListener("abort", () => resolve({ fault: "has a host that no name server told of in time" }), {
      once: true,
    });
  });
  const receiver = await Promise.race([resolveReceiver(url, message.arePrivateAllowed), inTime]);
  if ("fault" in receiver) return failed(`the URL ${receiver.fault}`);
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
      resolve(
        failed(
          signal.aborted ? `no answer within ${limits.alertSendMs / 1000} s` : (error.code ?? "could not be sent"),
        ),
      );
    });
    request.end(body);
  });
}

function failed(error: string): Sent {
  return { isDelivered: false, status: null, error };
}
