/**
 * Whether the disk still has room for more sessions. Asked before batches are taken, so that LMDB meets no full disk: its own handling
 * of failed writes is not safe with several threads (`mdb_strerror` of lmdb-js 3.5 shares and overruns a buffer; about one failed
 * write in a hundred ended the process). What is kept free serves everything else: keys, rules, revocations, erasure, the sweep.
 */
import { statfsSync } from "node:fs";
import { limits } from "../limits.js";

/** The disk to watch, and the callback. */
interface DiskRoomOptions {
  readonly dataDir: string;
  /** A monotonic clock, ms. */
  readonly now: () => number;
  /** Called when the room runs out, and when there is some again. */
  readonly onChange: (hasRoom: boolean, freeBytes: number) => void;
}

/** Checks the disk when it is asked, without a timer, at most once per `limits.diskLookMs`. */
export class DiskRoom {
  readonly #options: DiskRoomOptions;
  #lookedMs = Number.NEGATIVE_INFINITY;
  #hasRoom = true;

  constructor(options: DiskRoomOptions) {
    this.#options = options;
  }

  /** Whether more than `limits.diskReserveBytes` are free, as seen at most `limits.diskLookMs` ago. */
  get hasRoom(): boolean {
    const { dataDir, now, onChange } = this.#options;
    const nowMs = now();
    if (nowMs - this.#lookedMs < limits.diskLookMs) return this.#hasRoom;
    this.#lookedMs = nowMs;
    const freeBytes = freeBytesOf(dataDir);
    const hasRoom = freeBytes > limits.diskReserveBytes;
    if (hasRoom !== this.#hasRoom) {
      this.#hasRoom = hasRoom;
      onChange(hasRoom, freeBytes);
    }
    return hasRoom;
  }
}

/** Returns the free bytes for this user on the disk of a folder. */
export function freeBytesOf(dataDir: string): number {
  const { bavail, bsize } = statfsSync(dataDir);
  return bavail * bsize;
}
