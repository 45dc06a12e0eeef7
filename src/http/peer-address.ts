/** The peer's address as text. Making it costs more than anything else of a small request, so recent ones are cached. */

import type { HttpResponse } from "uWebSockets.js";
import { LRUCache } from "lru-cache";

const keptMax = 10_000;
const ipv4Bytes = 4;

/** One per HTTP thread; it forgets addresses to stay small. */
export class PeerAddresses {
  /** IPv4 addresses as text, by their number. */
  readonly #texts = new LRUCache<number, string>({ max: keptMax });

  /** The peer's address; call in the synchronous callback. */
  of(res: HttpResponse): string {
    const address = res.getRemoteAddress();
    if (address.byteLength !== ipv4Bytes) return Buffer.from(res.getRemoteAddressAsText()).toString("latin1");
    const number = new Uint32Array(address)[0]!;
    const known = this.#texts.get(number);
    if (known !== undefined) return known;
    const text = new Uint8Array(address).join(".");
    this.#texts.set(number, text);
    return text;
  }
}
