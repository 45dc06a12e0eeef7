/** Collects what an inspection of a cluster finds, in sentences that operators read. */
import { ClusterError, passingCodes } from "./cluster-error.js";
import type { NodeAddress } from "./slots.js";
import type { StoreUrl } from "./store-url.js";

/** The result of the findings; the cluster can be used while `faults` is empty. */
export interface Judgement {
  /** Why the cluster can't be used, a sentence each. */
  readonly faults: readonly string[];
  /** What may become a problem later. */
  readonly warnings: readonly string[];
  /** Those faults that are an engine's setting, or what its user may not do: for certain, they don't pass without help. */
  readonly refused: readonly string[];
  /** The cluster goes on without some of its shards. */
  readonly lacksShards: boolean;
  /** No fault is that the cluster, or a part of it, does not answer. */
  readonly isThere: boolean;
  /** The URL names nodes of two clusters. */
  readonly isMixed: boolean;
  /** The only fault is that the cluster does not answer, or is down: it may be worth waiting for. */
  readonly isAway: boolean;
  /** The only faults are that, or masters with too few replicas: if the cluster was fit before, it may be worth waiting for. */
  readonly lacksReplicas: boolean;
}

/**
 * Whether a fault may pass without help: the cluster comes back, its replicas do, or neither. "refused" are lasting ones that an engine said itself: a
 * setting, or what the user may not do.
 */
export type FaultKind = "away" | "replicas" | "refused" | "lasting";

/** Faults and warnings as sentences. Findings that say the same about several nodes become one sentence. */
export class Findings {
  readonly #faults = new Map<string, NodeAddress[]>();
  readonly #warnings = new Map<string, NodeAddress[]>();
  readonly #kinds = new Set<FaultKind>();
  readonly #refused = new Map<string, NodeAddress[]>();
  isMixed = false;
  lacksShards = false;

  /** `text` is a sentence, or with `node` a sentence template from `NodeRule.says`. */
  fault(text: string, node?: NodeAddress, kind: FaultKind = "lasting"): void {
    note(this.#faults, text, node);
    if (kind === "refused") note(this.#refused, text, node);
    this.#kinds.add(kind);
  }

  warning(text: string, node?: NodeAddress): void {
    note(this.#warnings, text, node);
  }

  /** Returns the result of all findings. */
  judgement(): Judgement {
    const mayPass = this.#kinds.size > 0 && !this.#kinds.has("lasting") && !this.#kinds.has("refused");
    const lacksReplicas = mayPass && this.#kinds.has("replicas");
    const isAway = mayPass && !lacksReplicas;
    const faults = sentences(this.#faults);
    const warnings = sentences(this.#warnings);
    const refused = sentences(this.#refused);
    const isThere = !this.#kinds.has("away");
    const { isMixed, lacksShards } = this;
    return { faults, warnings, refused, isThere, isMixed, lacksShards, isAway, lacksReplicas };
  }
}

function note(of: Map<string, NodeAddress[]>, text: string, node: NodeAddress | undefined): void {
  const nodes = of.get(text) ?? [];
  if (node !== undefined && !nodes.includes(node)) nodes.push(node);
  of.set(text, nodes);
}

function sentences(of: ReadonlyMap<string, readonly NodeAddress[]>): string[] {
  return [...of].map(([text, nodes]) => (nodes.length === 0 ? text : sentenceOf(text, nodes)));
}

/** Replaces `{nodes}` by the names, and each `[one|several]` by the form that fits their number. */
function sentenceOf(text: string, nodes: readonly NodeAddress[]): string {
  return text
    .replace(/\[([^|\]]*)\|([^\]]*)\]/g, nodes.length === 1 ? "$1" : "$2")
    .replace("{nodes}", () => listed(nodes));
}

/** Joins addresses in order for a sentence: "a, b and c". There is at least one. */
export function listed(nodes: readonly NodeAddress[]): string {
  const names = [...nodes].sort();
  const last = names.pop()!;
  return names.length === 0 ? last : `${names.join(", ")} and ${last}`;
}

/** Returns all faults in one line, each set apart from the next. */
export function faultsLine(faults: readonly string[]): string {
  if (faults.length === 1) return faults[0]!;
  return `${faults.length} faults: ${faults.map((fault, index) => `(${index + 1}) ${fault}`).join("; ")}`;
}

/** Errors of servers that are not up yet, are too busy, or are gone. */
const passing =
  /ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|did not answer|has not answered|max number of clients/;

/** Whether an error may pass without help. */
export function faultKindOf(error: unknown): FaultKind {
  if (!(error instanceof ClusterError)) return "lasting";
  return passingCodes.has(error.serverCode) || passing.test(error.message) ? "away" : "lasting";
}

/** Whether a node refused the user: each node has its own users. */
export function isOfUser(error: unknown): boolean {
  return error instanceof ClusterError && ["NOAUTH", "WRONGPASS", "NOPERM"].includes(error.serverCode);
}

/** Returns what a failed question means, for operators. */
export function lineOf(error: unknown, url: StoreUrl): string {
  if (!(error instanceof ClusterError)) throw error;
  const { serverCode, reason } = error;
  // OpenSSL ends its messages with a line break.
  const message = error.message.replace(/\s+/g, " ").trim().replace(/\.$/, "");
  if (reason === "protocol") {
    const tls = url.isTls ? "" : "; if it wants TLS, write valkeys://";
    return `${message}: is it a Valkey or Redis server, and the port for clients?${tls}`;
  }
  if (serverCode === "NOAUTH") return `${message}. Name a user and a password in the URL, or a file with the password`;
  if (serverCode === "WRONGPASS") return `${message}. Is the password that of ${url.user ?? "the default user"}?`;
  if (serverCode === "NOPERM") return `${message}: see the permissions of the store's user in the documentation`;
  if (/altnames|is not in the cert/.test(message))
    return `${message.replace(/[: ]+$/, "")}. Its certificate must have the name or address by which the cluster announces it`;
  if (/alert certificate required|alert handshake failure/.test(message))
    return `${message}. It wants a certificate of its clients: --store-cert FILE and --store-key FILE, or tls-auth-clients no`;
  if (/alert (unknown ca|bad certificate|certificate \w+|unsupported certificate)/.test(message))
    return `${message}. It does not take the certificate of --store-cert: is its authority in tls-ca-cert-file?`;
  if (/certificate (has expired|is not yet valid)/.test(message)) return message;
  if (/certificate/.test(message)) return `${message}: name a file with its authorities, --store-ca FILE`;
  if (/closed the connection|ECONNRESET/.test(message) && !url.isTls)
    return `${message}; if it wants TLS, write valkeys://`;
  if (/packet length|wrong version|did not answer/.test(message) && url.isTls)
    return `${message}; if it does not speak TLS, write valkey://`;
  return message;
}

/** What is said of nodes that answer some questions only, because they still read their data. */
export const stillLoading = "{nodes} [is|are] still loading [its|their] data";

/** Whether a node failed to answer because it still loads its data. */
export function isLoading(error: unknown): boolean {
  return error instanceof ClusterError && error.serverCode === "LOADING";
}

/** Adds a node's failure to the faults; the same failure of several nodes is reported once. `isNeeded`: without it, the cluster can't be used. */
export function blame(
  node: NodeAddress,
  error: unknown,
  url: StoreUrl,
  findings: Findings,
  { isNeeded }: { readonly isNeeded: boolean },
): void {
  if (isLoading(error)) {
    findings.fault(stillLoading, node, "away");
    return;
  }
  const line = lineOf(error, url);
  const start = `${node}: `;
  const kind = isNeeded && isOfUser(error) ? "refused" : faultKindOf(error);
  if (line.startsWith(start)) findings.fault(`{nodes}: ${line.slice(start.length)}`, node, kind);
  else findings.fault(line, undefined, kind);
}
