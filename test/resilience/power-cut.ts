/**
 * Power cuts, replayed: the writes and flushes of a running server are recorded with strace, then the file is put together as a disk
 * might hold it after a cut at any moment: all that a flush covered, and of the rest any pages.
 */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import { seededRandom } from "../../scripts/live/randomness.js";
import { Sessions } from "../../src/control-plane/sessions/sessions.js";
import { checkStore } from "../../src/control-plane/upkeep/store-check.js";
import { openStore } from "../../src/store/open-store.js";
import { storeFile } from "../../src/store/store-file.js";
import { batch } from "../support/batches.js";
import { Client } from "../support/keep-alive-client.js";
import { makeOwner, type Owner } from "../support/owner.js";
import { serve } from "../support/process.js";

const pageBytes = 4096;

/** Places are lines of the trace: a call is under way from `from` to `to`. */
interface Call {
  readonly from: number;
  readonly to: number;
}

interface Write extends Call {
  readonly at: number;
  readonly bytes: Buffer;
  /** The file was opened to write through to the disk. */
  readonly isThrough: boolean;
}

interface Answer {
  readonly line: number;
  readonly token: string;
}

interface Recording {
  readonly owner: Owner;
  /** The file before the first write. */
  readonly before: Buffer;
  readonly writes: readonly Write[];
  readonly flushes: readonly Call[];
  readonly answers: readonly Answer[];
  readonly lines: number;
}

/** How often a commit's meta page was written before the flush of the pages it leads to, and not through to the disk. */
export function seenUnflushed({ writes }: Recording): number {
  return writes.filter(({ at, isThrough }) => at < 2 * pageBytes && !isThrough).length;
}

interface CutFigures {
  cuts: number;
  /** Most acknowledged batches that one cut lost. */
  lostMost: number;
}

/** Records a server that takes `batches` first contacts over so many connections. */
export async function record(
  t: Test,
  flags: readonly string[],
  batches: number,
  connections: number,
): Promise<Recording> {
  const dataDir = t.testdir();
  const owner = await makeOwner(dataDir);
  const before = readFileSync(storeFile(dataDir));
  const trace = join(dataDir, "trace");
  const calls = "trace=openat,lseek,pwrite64,pwritev,write,writev,sendto,fdatasync,fsync,msync";
  const under = ["strace", "-f", "-yy", "-xx", "-s", "4000000", "-o", trace, "-e", calls];
  const server = await serve(t, dataDir, { under, flags: [...flags, "--http-threads", "1"] });
  const client = new Client(server.port, connections);
  const send = async (name: string): Promise<void> => {
    t.equal((await client.send(owner.siteKey, batch(name, 5))).status, 202);
  };
  for (let sent = 0; sent < batches; sent += connections) {
    await Promise.all(Array.from({ length: connections }, (_, index) => send(`power${sent + index}x0`)));
  }
  // The trace shows an answer when its write has returned: when the next request is read at the latest.
  await client.ask("GET", "/healthz", {});
  client.close();
  // Not in order: what an orderly stop flushes is not part of the promise.
  const traced = Number(/^(\d+)/.exec(readFileSync(trace, "utf8"))![1]);
  process.kill(traced, "SIGKILL");
  await server.ended();
  return { owner, before, ...parse(readFileSync(trace, "latin1")) };
}

const strings = (call: string): Buffer =>
  Buffer.concat(
    [...call.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map(([, hex]) => Buffer.from(hex!.replaceAll("\\x", ""), "hex")),
  );
const hex = (text: string): string => Buffer.from(text).toString("hex").replaceAll(/../g, "\\x$&");
const dataFile = `${hex(".mdb")}>`;
const answerStart = hex("HTTP/1.1 202");

/** The calls of a trace that succeeded, each from the line where it begins to the one where it ends. */
function* callsOf(lines: readonly string[]): Generator<Call & { readonly call: string }> {
  const begun = new Map<string, { readonly line: number; readonly head: string }>();
  for (const [line, whole] of lines.entries()) {
    const [, thread, rest] = /^(\d+) +(.*)$/.exec(whole) ?? [];
    if (thread === undefined || rest === undefined) continue;
    if (rest.endsWith("<unfinished ...>")) {
      begun.set(thread, { line, head: rest.slice(0, -"<unfinished ...>".length) });
      continue;
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest);
    const start = resumed === null ? undefined : begun.get(thread);
    const call = start === undefined ? rest : start.head + resumed![1]!;
    if (/ = \d/.test(call)) yield { from: start?.line ?? line, to: line, call };
  }
}

function parse(trace: string): Pick<Recording, "writes" | "flushes" | "answers" | "lines"> {
  const writes: Write[] = [];
  const flushes: Call[] = [];
  const answers: Answer[] = [];
  const through = new Set<string>();
  const positions = new Map<string, number>();
  const lines = trace.split("\n");
  for (const { from, to, call } of callsOf(lines)) {
    const name = /^\w+/.exec(call)![0];
    const result = / = (\d+)[^=]*$/.exec(call)?.[1] ?? "";
    const descriptor = /^\w+\((\d+)/.exec(call)?.[1] ?? "";
    if (name === "openat" && call.includes("O_DSYNC")) through.add(result);
    else if (/^(fdatasync|fsync|msync)$/.test(name)) flushes.push({ from, to });
    else if (call.includes(answerStart) && !call.includes(dataFile)) {
      const sent = strings(call).toString("latin1");
      for (const [token] of sent.matchAll(/sess_[A-Za-z0-9_-]+/g)) answers.push({ line: from, token });
    } else if (!call.includes(dataFile)) continue;
    else if (name === "lseek") positions.set(descriptor, Number(result));
    else if (name === "pwrite64" || name === "pwritev" || name === "writev") {
      const at = name === "writev" ? (positions.get(descriptor) ?? 0) : Number(/, (\d+) ?\) += \d+$/.exec(call)![1]);
      const bytes = strings(call.slice(call.indexOf(dataFile) + dataFile.length));
      if (bytes.length !== Number(result)) throw new Error(`a write was not read whole: ${call.slice(0, 200)}`);
      writes.push({ from, to, at, bytes, isThrough: through.has(descriptor) });
    }
  }
  return { writes, flushes, answers, lines: lines.length };
}

/** Another boot than the one in which the file was written, as LMDB tells one from another (`boot_id` in its meta pages). */
function asAfterBoot(file: Buffer): void {
  const uuid = readFileSync("/proc/sys/kernel/random/boot_id", "latin1");
  const boot = Buffer.alloc(8);
  boot.writeBigInt64LE(BigInt(`0x${uuid.slice(0, 8)}`));
  for (let at = file.indexOf(boot); at !== -1 && at < 2 * pageBytes; at = file.indexOf(boot, at + 1)) file[at]! ^= 0xff;
}

/** The file after a cut at this line; `keeps` says which pages of what no flush covers have reached the disk. */
function fileAfterCut({ before, writes, flushes }: Recording, cut: number, keeps: () => boolean): Buffer {
  const covered = Math.max(-1, ...flushes.filter(({ to }) => to <= cut).map(({ from }) => from));
  const size = Math.max(before.length, ...writes.map(({ at, bytes }) => at + bytes.length));
  const file = Buffer.alloc(size);
  before.copy(file);
  let length = before.length;
  for (const { from, to, at, bytes, isThrough } of writes) {
    if (from > cut) continue;
    const isSafe = to < covered || (isThrough && to <= cut);
    for (let offset = 0; offset < bytes.length; offset += pageBytes) {
      if (!isSafe && !keeps()) continue;
      const copied = bytes.copy(file, at + offset, offset, Math.min(bytes.length, offset + pageBytes));
      length = Math.max(length, at + offset + copied);
    }
  }
  const cutOff = file.subarray(0, length);
  asAfterBoot(cutOff);
  return cutOff;
}

/**
 * Cuts the recording at its answers and at random moments, each with nothing, everything and random pages of what was not flushed.
 * Asserts on `t` that every file opens, is sound, and holds what was acknowledged before the last flush began.
 */
export async function cutEverywhere(t: Test, recording: Recording, cuts: number, seed: number): Promise<CutFigures> {
  const { answers, flushes, owner, writes, lines } = recording;
  const random = seededRandom(seed);
  const figures: CutFigures = { cuts: 0, lostMost: 0 };
  const first = writes[0]?.from ?? 0;
  const places = [
    ...answers.map(({ line }) => line),
    ...Array.from({ length: cuts }, () => first + Math.floor(random() * (lines - first))),
  ];
  const folder = t.testdir();
  const wrong: string[] = [];
  for (const cut of places) {
    for (const keeps of [() => false, () => true, () => random() < 0.5]) {
      const dir = join(folder, String(figures.cuts++));
      mkdirSync(dir);
      writeFileSync(storeFile(dir), fileAfterCut(recording, cut, keeps));
      const store = openStore(dir);
      const sessions = new Sessions(store);
      const { faultCount, faults } = checkStore(store);
      if (faultCount > 0) wrong.push(`cut at ${cut}: ${JSON.stringify(faults[0])}`);
      const flushed = Math.max(-1, ...flushes.filter(({ to }) => to <= cut).map(({ from }) => from));
      let lost = 0;
      for (const { line, token } of answers) {
        if (line > cut || sessions.scoredState(owner.projectId, token)?.eventCount === 5) continue;
        lost++;
        if (line < flushed) wrong.push(`cut at ${cut}: ${token} was acknowledged and flushed`);
      }
      figures.lostMost = Math.max(figures.lostMost, lost);
      await store.close();
    }
  }
  t.same(wrong, [], "every cut leaves a store that is whole, with all that was flushed");
  t.comment(
    `${figures.cuts} cuts of ${writes.length} writes and ${flushes.length} flushes, seed ${seed}: ` +
      `at most ${figures.lostMost} of ${answers.length} acknowledged batches lost`,
  );
  return figures;
}

/** The file as it is now, for tests that copy it between commits. */
export function copyStoreFile(path: string, dir: string): void {
  mkdirSync(dir, { recursive: true });
  copyFileSync(path, storeFile(dir));
}
