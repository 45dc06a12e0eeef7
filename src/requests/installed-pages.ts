/**
 * Where on a project's site the SDK is installed, told from how often navigations are followed by a report: of visits that sent any, by first segment
 * of the path and in all, by the hour of the last 24. In shared memory of a fixed size, in which the segments that were visited longest ago go first.
 */
import { hashText, mix } from "../contract/values/hashes.js";
import { RecentTable, type TableSize, tableBytes } from "./recent-table.js";
import { clock } from "./shard-lock.js";

const hourMs = 3_600_000;
const hours = 24;
/** Of each hour: its number since the epoch, navigations, those that were followed by a report. */
const hourWords = 3;
const size: TableSize = { shards: 16, rows: 256, width: hours * hourWords };
/** Fewer navigations than this say nothing. */
const knownMin = 20;
/** In place of a segment: all of the project. */
const allSegments = 0;

/** Bytes of memory that the counts take. */
export const installedPagesBytes = tableBytes(size);

/** The number of a path's first segment; never 0. */
export function segmentOf(path: string | undefined): number {
  const text = path ?? "/";
  const end = text.indexOf("/", 1);
  return hashText(end === -1 ? text : text.slice(0, end)) | 0 || 1;
}

/** One thread's way to the counts. */
export class InstalledPages {
  readonly #table: RecentTable;

  constructor(memory: SharedArrayBuffer, at: number) {
    this.#table = new RecentTable(memory, at, size);
  }

  /** Counts navigations of a visit that sent a report. */
  count(projectId: number, segment: number, navigations: number, isFollowed: boolean, nowMs: number): void {
    const hour = Math.floor(nowMs / hourMs);
    for (const row of [segment, allSegments]) {
      this.#table.use(mix(row, projectId), projectId, clock(nowMs), ({ words, at }) => {
        const slot = at + (hour % hours) * hourWords;
        if (words[slot] !== hour) {
          words[slot] = hour;
          words[slot + 1] = 0;
          words[slot + 2] = 0;
        }
        words[slot + 1]! += navigations;
        if (isFollowed) words[slot + 2]! += navigations;
      });
    }
  }

  /** Whether at least half of the navigations to the segment were followed by a report: of all where fewer than 20 are known of the segment. */
  isInstalled(projectId: number, segment: number, nowMs: number): boolean {
    return (this.#verdict(projectId, segment, nowMs) ?? this.#verdict(projectId, allSegments, nowMs)) === true;
  }

  /** Null: too few are known. */
  #verdict(projectId: number, segment: number, nowMs: number): boolean | null {
    const hour = Math.floor(nowMs / hourMs);
    const found = this.#table.useKnown(mix(segment, projectId), projectId, clock(nowMs), ({ words, at }) => {
      let known = 0;
      let followed = 0;
      for (let slot = at; slot < at + hours * hourWords; slot += hourWords) {
        if (hour - words[slot]! >= hours) continue;
        known += words[slot + 1]!;
        followed += words[slot + 2]!;
      }
      return known < knownMin ? null : 2 * followed >= known;
    });
    return found ?? null;
  }
}
