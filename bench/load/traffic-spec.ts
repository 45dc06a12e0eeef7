/** What a load generator is asked to send, by name and numbers, and what sends it. */
import type { ClientRequest } from "../traffic/client-request.js";
import type { TokensSpec } from "./tokens.js";

/** Traffic by name and numbers: it travels to the generator's process. */
export type TrafficSpec =
  /** Verdict reads by the client, or its questions about requests. */
  | (Reads & { readonly kind: "verdict" | "request" })
  /** Batches of visitors as recorded, each visitor in the order of the visit, from the first contact to the last batch. */
  | {
      readonly kind: "visits";
      /** Names the visitors: loads of one name on one generator go on with each other's sessions. */
      readonly crowd: string;
      readonly visitors: number;
      readonly siteKey: string;
      /** Only first contacts, one for each visitor. */
      readonly arriving?: true;
    }
  /** What the site of these visitors asks about them: a page view each in turn, to pages of their own choice. */
  | { readonly kind: "page-views"; readonly crowd: string; readonly request: ClientRequest }
  | {
      readonly kind: "ingest";
      readonly siteKey: string;
      /** null: every batch is a first contact. */
      readonly tokens: TokensSpec | null;
      /** Events of a batch, in turn. */
      readonly sizes: readonly number[];
      /** How often each batch is sent; 2: every second one is a retry. */
      readonly sends?: number;
    }
  /** What a proxy asks, by the recipes: about visitors with these sessions, or without one, each from another address. */
  | { readonly kind: "forward-auth"; readonly privateKey: string; readonly tokens: TokensSpec | null }
  | { readonly kind: "challenge"; readonly siteKey: string; readonly tokens: TokensSpec };

/** The next request of one connection; its bytes are valid until the connection asks again. */
type NextRequest = () => Buffer;

/** Told of the answer to the last request that the connection asked for: `bytes` from `start` to `end`, for the time of the call. */
type OnAnswer = (status: number, bytes: Buffer, start: number, end: number) => void;

export interface ConnectionTraffic {
  readonly next: NextRequest;
  readonly answered?: OnAnswer;
}

export interface Traffic {
  connection(): ConnectionTraffic;
}

/** Questions about visitors, each from an address and with a user agent of its own. */
export interface Reads {
  readonly request: ClientRequest;
  /** null: they have no session. */
  readonly tokens: TokensSpec | null;
  /** Different pages that each of them views, in turn. */
  readonly pages: number;
}
