/** Agents that sign their requests (Web Bot Auth), as files, the public list and the store hold them. */
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

/** A public key as RFC 7517 writes it, without any private part. */
export interface PublicJwk {
  readonly kty: string;
  readonly crv?: string;
  readonly x?: string;
  readonly y?: string;
  readonly n?: string;
  readonly e?: string;
  readonly kid?: string;
  readonly alg?: string;
  /** From when and until when it signs, seconds since the epoch. */
  readonly nbf?: number;
  readonly exp?: number;
}

/** The keys of one agent as they were last had. */
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
  /** Null when the keys were had. */
  readonly failure: string | null;
}

/** An agent with its keys, as verification needs it. */
export interface KeyedAgent extends SignedAgent {
  readonly keys: readonly PublicJwk[];
}

/** `unverified`: nothing to check it with, as for an agent that is not listed; `invalid`: there is a key, and it does not hold. */
export const signatureStates = ["none", "verified", "unverified", "invalid"] as const;
/** What a request's signatures came to; rules read it. */
export type SignatureState = (typeof signatureStates)[number];

/** The agent whose signature was verified. */
export interface VerifiedAgent {
  /** Host of its `Signature-Agent`: `chatgpt.com`. */
  readonly host: string;
  readonly name: string;
  readonly category: BotCategory;
}

/** What a request's signatures are worth. `agent` is there exactly when they are verified. */
export interface SignatureJudgement {
  readonly signature: SignatureState;
  readonly agent?: VerifiedAgent;
}
