/** Entry of the further HTTP threads (`--http-threads`): the same server as the first, on the same port. No logic of its own. */
import { parentPort, workerData } from "node:worker_threads";
import type { ServeConfig } from "../src/config.js";
import { createLog, startServer } from "../src/main.js";

const config = workerData as ServeConfig;
const server = await startServer(config, createLog(config.logLevel));
parentPort!.once("message", async () => {
  await server.stop();
  parentPort!.close();
});
parentPort!.postMessage("listening");
