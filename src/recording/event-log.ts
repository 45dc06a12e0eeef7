/**
 * The event log: one JSON line for each block, challenge, incident, alert and change of the configuration, for a SIEM. Every HTTP thread appends to the
 * same file. Lines wait in memory and are written behind the answers; where the file is slower than that, lines are dropped and counted.
 */
import { close, constants, open, write } from "node:fs";
import { limits } from "../limits.js";

/** The version of the lines' schema: raised when a field changes its meaning or goes. */
const eventLogVersion = 1;

/** What every line has besides `version`. */
interface LoggedEvent {
  readonly type: string;
  readonly at: string;
  /** null: of the server or an account. */
  readonly project_id: number | null;
  readonly [field: string]: unknown;
}

/** What the log needs of its thread. */
interface EventLogParts {
  readonly file: string;
  readonly onDropped: (lines: number) => void;
  readonly onFailure: (error: unknown) => void;
}

/** One per HTTP thread. Opens its file with the first line. */
export class EventLog {
  readonly #parts: EventLogParts;
  #fd: number | null = null;
  #lines: string[] = [];
  #bytes = 0;
  #writing: Promise<void> | null = null;
  #isToReopen = false;
  #hasFailed = false;
  /** After a failure; ms of `performance.now()`. */
  #silentUntil = 0;
  /** The last write ended within a line: the disk was full. */
  #isCutShort = false;

  constructor(parts: EventLogParts) {
    this.#parts = parts;
  }

  /** Never throws or waits. */
  record(event: LoggedEvent): void {
    if (performance.now() < this.#silentUntil) {
      this.#parts.onDropped(1);
      return;
    }
    const line = `${JSON.stringify({ version: eventLogVersion, ...event })}\n`;
    if (this.#bytes + line.length > limits.eventLogBytesMax) {
      this.#parts.onDropped(1);
      return;
    }
    this.#lines.push(line);
    this.#bytes += line.length;
    if (this.#writing === null) setImmediate(() => void this.flush());
  }

  /** Opens the file anew with the next line: it may have been renamed. */
  reopen(): void {
    this.#isToReopen = true;
    this.#silentUntil = 0;
  }

  /** Resolves when all lines are written, or dropped because the file can't be. Never rejects. */
  async flush(): Promise<void> {
    while (this.#writing !== null || this.#lines.length > 0) {
      this.#writing ??= this.#write().finally(() => {
        this.#writing = null;
      });
      await this.#writing;
    }
  }

  async close(): Promise<void> {
    await this.flush();
    await this.#closeFile();
  }

  async #write(): Promise<void> {
    const lines = this.#lines;
    this.#lines = [];
    const bytes = this.#bytes;
    try {
      if (this.#isToReopen) await this.#closeFile();
      this.#isToReopen = false;
      this.#fd ??= await opened(this.#parts.file);
      // Whole lines in one write: other threads and processes append too.
      const text = lines.join("");
      await written(this.#fd, this.#isCutShort ? `\n${text}` : text, () => {
        this.#isCutShort = true;
      });
      this.#isCutShort = false;
      this.#hasFailed = false;
    } catch (error) {
      this.#parts.onDropped(lines.length);
      if (!this.#hasFailed) this.#parts.onFailure(error);
      this.#hasFailed = true;
      this.#silentUntil = performance.now() + limits.eventLogRetryMs;
      await this.#closeFile();
    } finally {
      this.#bytes -= bytes;
    }
  }

  async #closeFile(): Promise<void> {
    const fd = this.#fd;
    this.#fd = null;
    if (fd !== null) await new Promise<void>((resolve) => close(fd, () => resolve()));
  }
}

/** A pipe that nobody reads must not hold a thread of libuv's pool, so it fails instead of waiting. */
const openFlags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;

function opened(file: string): Promise<number> {
  return new Promise((resolve, reject) =>
    open(file, openFlags, 0o600, (error, fd) => (error ? reject(error) : resolve(fd))),
  );
}

/** Rejects when not all of it could be written; `onPart` says that some was. */
function written(fd: number, text: string, onPart: () => void): Promise<void> {
  const bytes = Buffer.from(text);
  return new Promise((resolve, reject) => {
    const from = (at: number): void =>
      write(fd, bytes, at, bytes.length - at, null, (error, count) => {
        if (error) reject(error);
        else if (at + count < bytes.length) {
          onPart();
          from(at + count);
        } else resolve();
      });
    from(0);
  });
}
