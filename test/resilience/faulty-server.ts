/** `verdictd serve` with the faulty scoring worker, for tests alone: flags as `serve` takes them, nothing of the command line. */
import { parseArgs } from "node:util";
import { readServeConfig, serveOptions } from "../../src/config/config.js";
import { createLog } from "../../src/server/http-thread.js";
import { startServers } from "../../src/server/serve.js";

const options = Object.fromEntries(Object.keys(serveOptions).map((name) => [name, { type: "string" as const }]));
const { values } = parseArgs({ options, allowPositionals: true });
const read = readServeConfig(values as Record<string, string>, {});
if ("mistakes" in read) throw new Error(read.mistakes.join("\n"));
const log = createLog("info");
const server = await startServers(read.config, log, {
  scoringWorker: new URL("./faulty-scoring.js", import.meta.url),
});
process.on("SIGTERM", () => void server.stop().then(() => log.info("stopped")));
log.info({ port: server.port }, "listening");
