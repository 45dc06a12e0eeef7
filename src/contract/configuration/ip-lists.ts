/** The operator's own lists of addresses: in the stored form, and as the API shows them. */
import type { Count, CountMeta, IsoTime } from "../values/answer-values.js";

/** One list; its name is the key. Ranges are sorted and disjoint; all numbers are u32, little-endian. */
export interface IpListRecord {
  /** Entries of the file, each counted once. */
  readonly count: number;
  readonly importedAt: string;
  /** First and last address of each range: two words for IPv4, eight for IPv6. */
  readonly v4: Uint8Array;
  readonly v6: Uint8Array;
  /** Autonomous systems, sorted. */
  readonly asns: Uint8Array;
}

/** One of the operator's own lists of addresses. */
interface IpListRow {
  name: string;
  /** Addresses, ranges and networks (AS) in it. */
  count: Count;
  imported_at: IsoTime;
}

/** The imported address lists that rules can name, without their addresses. */
export interface IpListsAnswer {
  /** Ordered by name. */
  data: IpListRow[];
  meta: CountMeta;
}
