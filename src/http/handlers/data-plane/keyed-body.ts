/** The body of a call by private key: the key is checked before the body is read, and again when it has come. */
import type { HttpRequest } from "uWebSockets.js";
import type { AuthenticatedKey, Credentials } from "../../../auth/credentials.js";
import { Refusal } from "../../../errors.js";
import { limits } from "../../../limits.js";
import type { Exchange } from "../../exchange.js";
import { type Reply, refusal } from "../../reply.js";
import { privateKeyOf } from "../../server.js";

/** What reading such a body needs. */
export interface KeyedBodyServices {
  readonly credentials: Credentials;
  /** Call before anything is read for a request. */
  readonly onTick: () => void;
}

/** Answers with 401 or 402 for a key without an active subscription, with `onCrowded` while too many bodies are incomplete; else `onBody` answers. */
export function readKeyedBody(
  { credentials, onTick }: KeyedBodyServices,
  exchange: Exchange,
  req: HttpRequest,
  onCrowded: () => Reply,
  onBody: (holder: AuthenticatedKey, bytes: Buffer) => void,
): void {
  const privateKey = privateKeyOf(req);
  const early = credentials.subscribedKey("private", privateKey);
  if (early instanceof Refusal) {
    exchange.send(refusal(early));
    return;
  }
  exchange.readBody({
    bytesMax: limits.controlBodyBytesMax,
    isAnonymous: false,
    onCrowded,
    onBody: (bytes) => {
      onTick();
      // The key may have been rotated, and the settings changed, while the body came.
      const holder = credentials.subscribedKey("private", privateKey);
      if (holder instanceof Refusal) exchange.send(refusal(holder));
      else onBody(holder, bytes);
    },
  });
}
