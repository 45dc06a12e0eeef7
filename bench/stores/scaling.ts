/**
 * Scenario `stores`: what more session stores bring, measured with one and two scoring threads without HTTP around them, and simulated
 * for more threads from what the measurement says of a task: how much of it is under LMDB's write lock.
 */
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { Accounts } from "../../src/control-plane/accounts.js";
import { createFirstAccount } from "../../src/control-plane/first-account.js";
import { Projects } from "../../src/control-plane/projects.js";
import { Refusal } from "../../src/errors.js";
import { openStore } from "../../src/store/store.js";
import { currentSchema } from "../../src/store/upgrades.js";
import { longRuns } from "../measure.js";
import type { Figure, Scenario } from "../scenarios/scenario.js";
import { type SimulatedTask, simulatedRate } from "./simulation.js";
import type { TaskTimes, WriterData, WriterReport } from "./writer-thread.js";

const batchesPerTask = 64;
const eventsPerBatch = 10;
const tasks = 90;
/** Where a flush costs nothing, so that what is left of a commit is what happens under the lock. */
const memoryDisk = "/dev/shm";

interface Run {
  /** Batches a second, all threads. */
  readonly rate: number;
  /** User and system time of the process for a batch, µs. */
  readonly cpuMicros: number;
  readonly times: readonly TaskTimes[];
}

async function measure({ under, threads, stores }: Case): Promise<Run> {
  const folder = mkdtempSync(join(under, "verdictd-bench-stores-"));
  try {
    const siteKey = await makeStore(folder, stores);
    const workers = await Promise.all(
      Array.from({ length: threads }, async (_, number) => {
        const workerData: WriterData = { dataDir: folder, siteKey, number, tasks, batchesPerTask, eventsPerBatch };
        const worker = new Worker(new URL("./writer-thread.js", import.meta.url), { workerData });
        await once(worker, "message");
        return worker;
      }),
    );
    const ended = workers.map((worker) => once(worker, "exit"));
    const cpuBefore = process.cpuUsage();
    const from = performance.now();
    const reports = await Promise.all(
      workers.map(async (worker) => {
        const reported = once(worker, "message") as Promise<[WriterReport]>;
        worker.postMessage("go");
        return (await reported)[0];
      }),
    );
    const elapsed = performance.now() - from;
    const { user, system } = process.cpuUsage(cpuBefore);
    await Promise.all(ended);
    const done = reports.filter((report) => report !== "ready");
    if (done.some(({ errors }) => errors > 0)) throw new Error("batches of the bench were not taken as they should be");
    const batches = threads * tasks * batchesPerTask;
    return {
      rate: (1000 * batches) / elapsed,
      cpuMicros: (user + system) / batches,
      times: done.flatMap(({ times }) => times.slice(tasks / 6)),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function makeStore(folder: string, stores: number): Promise<string> {
  const store = openStore(folder, currentSchema, stores);
  try {
    const projects = new Projects(store, Date.now);
    const made = await createFirstAccount(new Accounts(store, Date.now), projects);
    const keys = made instanceof Refusal ? made : await projects.enableScoring(made.projectId);
    if (keys instanceof Refusal) throw new Error(keys.message);
    return keys.siteKey;
  } finally {
    await store.close();
  }
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

/** What is measured: threads, stores, and where the store lies. */
interface Case {
  readonly threads: number;
  readonly stores: number;
  readonly under: string;
}

/** Each case so many times, in turn; of each the fastest run, since whatever else the machine does only slows one. */
async function fastest(cases: readonly Case[], rounds: number): Promise<Map<Case, Run>> {
  const runs = new Map<Case, Run>();
  for (let round = 0; round < rounds; round++) {
    for (const each of cases) {
      const run = await measure(each);
      if (run.rate > (runs.get(each)?.rate ?? 0)) runs.set(each, run);
    }
  }
  return runs;
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

const simulatedThreads = [2, 4, 8, 16] as const;
const simulatedStores = [1, 2, 4, 8, 16] as const;

export const storesScenario: Scenario = {
  name: "stores",
  title: "session stores",
  isExtra: true,
  localOnly: true,
  readsSessions: false,
  estimateS: (options) => 15 * longRuns(options),
  run: async ({ options, say }) => {
    const figures: Figure[] = [];
    const add = (what: string, value: number, unit: string): void => {
      figures.push({ what, value, unit });
      say(`${what}: ${value.toFixed(value < 10 ? 2 : 1)} ${unit}`);
    };
    const cases = [1, 2].flatMap((threads) => [1, 2, 4].map((stores): Case => ({ threads, stores, under: tmpdir() })));
    const inMemory: Case = { threads: 1, stores: 1, under: existsSync(memoryDisk) ? memoryDisk : tmpdir() };
    const measured = await fastest([...cases, inMemory], longRuns(options));
    for (const each of cases) {
      const { rate, cpuMicros } = measured.get(each)!;
      const name = `${counted(each.threads, "scoring thread")}, ${counted(each.stores, "session store")}`;
      add(`${name}: rate`, rate, "batches/s");
      add(`${name}: CPU`, cpuMicros, "µs a batch");
    }
    const alone = measured.get(cases[0]!)!;
    const shares = (name: keyof TaskTimes): number => median(alone.times.map((each) => each[name]));
    const committed = median(measured.get(inMemory)!.times.map((each) => each.committing));
    const committing = Math.min(committed, shares("committing"));
    const flushing = shares("committing") - committing;
    const perBatch = 1000 / batchesPerTask;
    add("of a batch outside of the transaction", shares("outside") * perBatch, "µs");
    add("of a batch work under the lock", shares("holding") * perBatch, "µs");
    add("of a batch commit under the lock", committing * perBatch, "µs");
    add("of a batch flush, others may write", flushing * perBatch, "µs");
    const locked = shares("holding") + committing;
    add(
      "one session store and any number of threads, were the disk free",
      (shares("outside") + locked) / locked,
      "times the rate",
    );
    const simulated: SimulatedTask[] = alone.times.map(({ outside, holding }) => ({
      outside,
      locked: holding + committing,
      flushing,
    }));
    const base = simulatedRate(simulated, 1, 1);
    for (const stores of simulatedStores) {
      for (const threads of simulatedThreads) {
        const what = `simulated: ${counted(threads, "thread")} on as many cores, ${counted(stores, "store")}`;
        add(what, simulatedRate(simulated, threads, stores) / base, "times the rate");
      }
    }
    return { measured: [], goals: {}, figures, fill: [] };
  },
};
