/** Runs `--http-threads` servers on one port: the first in this thread, the others in threads of their own. */
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { Logger } from "pino";
import type { ServeConfig } from "./config.js";
import { limits } from "./limits.js";
import { type RunningServer, startServer } from "./main.js";
import { type Retention, sweep } from "./store/expiry.js";

const dayMs = 86_400_000;

/** Starts all of them, or none: rejects when one fails. `stop` stops all. */
export async function startServers(config: ServeConfig, log: Logger): Promise<RunningServer> {
  const first = await startServer(config, log);
  const threads: Worker[] = [];
  const stopSweeping = sweepRegularly(config, log, first);
  const stop = async (): Promise<void> => {
    await stopSweeping();
    await Promise.all([first.stop(), ...threads.map(stopThread)]);
  };
  try {
    for (let count = 1; count < config.httpThreads; count++) {
      const thread = new Worker(fileURLToPath(new URL("../workers/http.js", import.meta.url)), {
        workerData: { ...config, port: first.port } satisfies ServeConfig,
      });
      threads.push(thread);
      await once(thread, "message");
      thread.on("error", (err) => log.fatal({ err }, "an HTTP thread failed"));
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { ...first, stop };
}

/** Removes what has outlived its retention, now and then; returns what ends it. */
function sweepRegularly(config: ServeConfig, log: Logger, { store }: RunningServer): () => Promise<void> {
  const retention: Retention = {
    sessionMs: config.sessionDays * dayMs,
    blockMs: config.blockDays * dayMs,
    trafficMs: config.statsDays * dayMs,
  };
  let isStopping = false;
  let running = Promise.resolve();
  const run = async (): Promise<void> => {
    try {
      log.debug(await sweep(store, retention, Date.now(), () => isStopping), "swept");
    } catch (err) {
      log.error({ err }, "the sweep failed");
    }
  };
  const timer = setInterval(() => {
    running = running.then(run);
  }, limits.sweepEveryMs);
  return () => {
    isStopping = true;
    clearInterval(timer);
    return running;
  };
}

async function stopThread(thread: Worker): Promise<void> {
  const ended = once(thread, "exit");
  thread.postMessage("stop");
  await ended;
}
