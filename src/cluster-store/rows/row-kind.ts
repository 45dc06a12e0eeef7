/** What a kind of a cluster's rows says of them, and the pieces that their checks are made of. The kinds are in `row-kinds.ts`. */
import type { KeyedCommand } from "../../cluster/operation.js";
import type { RespReply } from "../../cluster/resp-parser.js";
import { keySlot } from "../../cluster/slots.js";
import { partCount } from "../keys.js";

/** What rows are checked against. */
export interface KnownFacts {
  readonly projects: ReadonlySet<number>;
  readonly accounts: ReadonlySet<number>;
  /** What is wrong with a session's packed features, or null. */
  readonly features: (packed: Buffer) => string | null;
}

/** What `store migrate` copies the rows of a kind with, or why it leaves them. */
export type CopiedBy = "sessions" | "recordedRows" | "idempotency" | "usage" | "traffic" | "judged" | "paths";

/** One kind of rows: where they lie, what they hold, how they get into a cluster and how one is checked. */
export interface RowKind {
  /** The name in reports: the table of one host, if there is one. */
  readonly name: string;
  /** The keys of its rows in words, the type of each and what it holds. `shard` is a tag of `shardTags`. */
  readonly rows: readonly (readonly [key: string, type: "string" | "hash" | "zset" | "stream", value: string])[];
  /** From the store of one host. */
  readonly copied: CopiedBy | { readonly left: string };
  /** The commands that read the row. */
  readonly ask: (row: SplitKey) => readonly KeyedCommand[];
  /** Returns what the answers show to be wrong, or null; also null if the row has gone meanwhile. */
  readonly fault: (replies: readonly RespReply[], row: SplitKey, facts: KnownFacts) => string | null;
}

/** A key in its parts: `vd{tag}rest`. */
export interface SplitKey {
  readonly key: Buffer;
  readonly tag: string;
  /** What follows the tag; its first byte is the letter of the kind, if there is one. */
  readonly rest: Buffer;
}

/** Splits a key that begins as all of verdictd's keys do; `rest` shares its memory. */
export function splitKey(key: Buffer): SplitKey {
  const end = key.indexOf("}");
  return { key, tag: key.toString("latin1", 3, end), rest: key.subarray(end + 1) };
}

/** The fields of a hash in the answer to `HGETALL`. */
export function fieldsOfHash(reply: RespReply | undefined): [field: string, value: Buffer][] {
  const flat = Array.isArray(reply) ? reply : [];
  return Array.from({ length: flat.length / 2 }, (_, index) => [
    String(flat[2 * index]),
    Buffer.from(flat[2 * index + 1] as Buffer),
  ]);
}

/** Their values. */
export function valuesOf(reply: RespReply | undefined): Buffer[] {
  return fieldsOfHash(reply).map(([, value]) => value);
}

/** Whether these are the bytes of a JSON text. */
export function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString());
    return true;
  } catch {
    return false;
  }
}

/** Reads a count and how long it lives. */
export function countCommands({ key }: SplitKey): KeyedCommand[] {
  return [{ command: ["GET", key], slot: keySlot(key) }, expiryOf(key)];
}

/** What is wrong with a count that expires; `owner` returns what is wrong with whose it is. */
export function countFault(owner: (row: SplitKey, facts: KnownFacts) => string | null): RowKind["fault"] {
  return ([count, leftMs], row, facts) => {
    if (isGone(leftMs)) return null;
    return /^\d{1,16}$/.test(String(count)) ? (owner(row, facts) ?? lifeFault(leftMs)) : "is not a count";
  };
}

/** Asks how long a row lives. */
export function expiryOf(key: Buffer): KeyedCommand {
  return { command: ["PTTL", key], slot: keySlot(key) };
}

/** Whether a row has gone meanwhile, by the answer to `expiryOf`. */
export function isGone(leftMs: RespReply | undefined): boolean {
  return leftMs === -2;
}

/** The fault of a row that never expires, by the answer to `expiryOf`. */
export function lifeFault(leftMs: RespReply | undefined): string | null {
  return leftMs === -1 ? "never expires" : null;
}

/** The check of rows of which nothing is known but that they expire. */
export const expiringRow: Pick<RowKind, "ask" | "fault"> = {
  ask: ({ key }) => [expiryOf(key)],
  fault: ([leftMs]) => (isGone(leftMs) ? null : lifeFault(leftMs)),
};

/** The check of rows of a project that expire: their value, in the form that `read` answers, has no `fault`. */
export function projectRow(
  read: "GET" | "STRLEN" | "HGETALL" | null = null,
  fault: (value: RespReply | undefined, row: SplitKey) => string | null = () => null,
): Pick<RowKind, "ask" | "fault"> {
  return {
    ask: ({ key }) => [...(read === null ? [] : [{ command: [read, key], slot: keySlot(key) }]), expiryOf(key)],
    fault: (replies, row, { projects }) => {
      const leftMs = replies.at(-1);
      if (isGone(leftMs)) return null;
      return fault(replies[0], row) ?? projectFault(projectOfTag(row.tag), projects) ?? lifeFault(leftMs);
    },
  };
}

/** The id of the project in a tag of a letter, the project and perhaps a part. */
function projectOfTag(tag: string): string {
  return tag.slice(1).split(".", 1)[0]!;
}

/** The fault of a row whose project does not exist. */
export function projectFault(id: string, projects: ReadonlySet<number>): string | null {
  return projects.has(Number(id)) ? null : `names projects ${id}, which is missing`;
}

/** Matches the number of a part. */
export function partPattern(): string {
  return `(?:${Array.from({ length: partCount }, (_, part) => part).join("|")})`;
}
