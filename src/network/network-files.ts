/**
 * Where network facts come from: those shipped with verdictd, and over them the files of `--ip-database`. Files are read in a thread of
 * their own: a city file takes seconds, in which verdicts go on with what there was.
 */
import { readFileSync, statSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { readSharedAsset, workerPath } from "../assets.js";
import { limits } from "../limits.js";
import { layOver } from "./fact-source.js";
import { factTable, packFacts, sourceOfTable } from "./fact-table.js";
import { readMmdb } from "./mmdb-source.js";

/** What the thread is started with, and what it says. */
export interface NetworkThreadData {
  readonly files: readonly string[];
}
/** What the thread posts once: the packed table, or one line that says why there is none. */
export type NetworkThreadReport = { readonly facts: SharedArrayBuffer } | { readonly fault: string };

/** The table of the shipped facts, in memory that threads can share. */
export function shippedFacts(): SharedArrayBuffer {
  return readSharedAsset("network/facts.bin");
}

/** The table of the files, the first before the next, over the shipped facts. Blocks; throws with one line that names the file. */
export function readNetworkFiles(files: readonly string[]): SharedArrayBuffer {
  const sources = files.map((file) => {
    try {
      const { size } = statSync(file);
      if (size > limits.ipDatabaseBytesMax) throw new Error(`has more than ${limits.ipDatabaseBytesMax} bytes`);
      return readMmdb(readFileSync(file));
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      throw new Error(`--ip-database: "${file}" ${code === undefined ? message : `can't be read (${code})`}`);
    }
  });
  return packFacts(
    sources.reduceRight((below, above) => layOver(above, below), sourceOfTable(factTable(shippedFacts()))),
  );
}

/** The table in force for these files. Rejects with one line that names the file which can't be used. */
export async function loadNetworkFacts(files: readonly string[]): Promise<SharedArrayBuffer> {
  if (files.length === 0) return shippedFacts();
  const worker = new Worker(workerPath("network-facts"), {
    workerData: { files } satisfies NetworkThreadData,
  });
  let timer: NodeJS.Timeout | undefined;
  try {
    const report = await new Promise<NetworkThreadReport>((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", reject);
      worker.once("exit", () => reject(new Error("--ip-database: reading the files was broken off")));
      timer = setTimeout(
        () => reject(new Error(`--ip-database: not read within ${limits.ipDatabaseLoadMsMax / 1000} s`)),
        limits.ipDatabaseLoadMsMax,
      );
    });
    if ("fault" in report) throw new Error(report.fault);
    return report.facts;
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}
