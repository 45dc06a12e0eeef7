/** Agents that sign their requests (Web Bot Auth), in the form of files, the public list and the store. */
import type { BotCategory } from "./bot-categories.js";

/** One agent of the allow-list. */
export interface SignedAgent {
  /** Origin of its key directory and the value of its `Signature-Agent`: `https://chatgpt.com`. */
  readonly url: string;
  readonly name: string;
  readonly category: BotCategory;
}

/** The whole allow-list: the form of the shipped file and of `agents import`. */
export interface SignedAgentList {
  /** Free text naming the state of the list, usually its date. */
  readonly version: string;
  readonly agents: readonly SignedAgent[];
}

/** A public key in the form of RFC 7517, without any private part. */
export interface PublicJwk {
  readonly kty: string;
  readonly crv?: string;
  readonly x?: string;
  readonly y?: string;
  readonly n?: string;
  readonly e?: string;
  readonly kid?: string;
  readonly alg?: string;
  /** Start and end of its validity, seconds since the epoch. */
  readonly nbf?: number;
  readonly exp?: number;
}

/** The keys of one agent as last fetched. */
export interface AgentKeys {
  readonly keys: readonly PublicJwk[];
  readonly source: "fetched" | "imported";
  /** ISO time. */
  readonly at: string;
}

/** How the last fetch of an agent's keys ended. */
export interface AgentFetch {
  /** ISO time. */
  readonly at: string;
  /** null when the fetch succeeded. */
  readonly failure: string | null;
}

/** What one fetch of an agent's keys brought. */
export interface FetchedAgent extends AgentFetch {
  readonly url: string;
  /** null when it failed. */
  readonly keys: readonly PublicJwk[] | null;
}

/** An agent with its keys, in the form that verification needs. */
export interface KeyedAgent extends SignedAgent {
  readonly keys: readonly PublicJwk[];
}

/** `unverified`: no key to check it with, as for an agent that is not listed; `invalid`: there is a key, and the signature does not match. */
export const signatureStates = ["none", "verified", "unverified", "invalid"] as const;
/** The result of checking a request's signatures; rules read it. */
export type SignatureState = (typeof signatureStates)[number];

/** The agent whose signature was verified. */
export interface VerifiedAgent {
  /** Host of its `Signature-Agent`: `chatgpt.com`. */
  readonly host: string;
  readonly name: string;
  readonly category: BotCategory;
}

/** The result for a request's signatures. `agent` is present exactly when they are verified. */
export interface SignatureJudgement {
  readonly signature: SignatureState;
  readonly agent?: VerifiedAgent;
}
