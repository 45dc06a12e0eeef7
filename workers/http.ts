/** Entry of the further HTTP threads (`--http-threads`): the same server as the first, on the same port. No logic of its own. */
import { parentPort, workerData } from "node:worker_threads";
import { endOnFault } from "../src/server/end-on-fault.js";
import { createLog, startServer } from "../src/server/http-thread.js";
import type { HttpThreadData, HttpThreadOrder, HttpThreadReport } from "../src/server/serve.js";

const { config, name, place } = workerData as HttpThreadData;
const port = parentPort!;
const report = (message: HttpThreadReport): void => port.postMessage(message);
const log = createLog(config.logLevel, name);

/** No await at the top: this is bundled to a script, too. What fails ends the thread with an error. */
async function run(): Promise<void> {
  const server = await startServer(config, log, {}, place);
  endOnFault(log);
  port.on("message", async (order: HttpThreadOrder) => {
    if (typeof order === "object") server.useNetwork(order.network);
    else if (order === "drain") server.drain();
    else if (order === "reopen-event-log") server.reopenEventLog();
    else if (order === "reload-certificate") {
      const fault = await server.reloadCertificate().then(
        () => null,
        (error: unknown) => String(error),
      );
      report({ reloaded: fault });
    } else {
      await server.stop();
      port.close();
    }
  });
  report({ listening: server.buffers });
}

void run();
