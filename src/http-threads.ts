/** Runs `--http-threads` servers on one port: the first in this thread, the others in threads of their own. */
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { Logger } from "pino";
import type { ServeConfig } from "./config.js";
import { type RunningServer, startServer } from "./main.js";

/** Starts all of them, or none: rejects when one fails. `stop` stops all. */
export async function startServers(config: ServeConfig, log: Logger): Promise<RunningServer> {
  const first = await startServer(config, log);
  const threads: Worker[] = [];
  const stop = async (): Promise<void> => {
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

async function stopThread(thread: Worker): Promise<void> {
  const ended = once(thread, "exit");
  thread.postMessage("stop");
  await ended;
}
