/** `verdictd serve`: runs the server until SIGTERM or SIGINT. */
import { environmentName, type GivenFlags, readServeConfig, serveOptions } from "../../config.js";
import { createFirstAccount } from "../../control-plane/first-account.js";
import { Refusal } from "../../errors.js";
import { startServers } from "../../http-threads.js";
import { createLog, type RunningServer } from "../../main.js";
import type { Flag, ProcessCommand } from "../command.js";
import { UsageFailure } from "../output.js";

const flags: readonly Flag[] = Object.entries(serveOptions).map(([name, row]) => ({
  name,
  ...(row.placeholder !== "" && { placeholder: row.placeholder }),
  help: `${row.help} (${environmentName(name)}, default ${String(row.fallback) || "none"})`,
}));

export const serveCommand: ProcessCommand = {
  name: "serve",
  help: "run the server",
  flags,
  runProcess: async (given) => {
    const read = readServeConfig(given as GivenFlags, process.env);
    if ("mistakes" in read) throw new UsageFailure(read.mistakes.join("\n"));
    const { config } = read;
    const log = createLog(config.logLevel);
    const server = await startServers(config, log);
    log.info({ host: config.host, port: server.port, dataDir: config.dataDir }, "listening");
    if (config.demo) await welcome(server, `http://${config.host}:${server.port}`);
    const stop = async (signal: NodeJS.Signals): Promise<void> => {
      log.info({ signal }, "stopping");
      await server.stop();
      log.info("stopped");
    };
    process.once("SIGTERM", stop).once("SIGINT", stop);
  },
};

/** On an empty store: a first account with scoring enabled, its credentials printed this once. */
async function welcome(server: RunningServer, address: string): Promise<void> {
  const made = await createFirstAccount(server.accounts, server.projects);
  const lines = [`demo            ${address}/demo`];
  if (!(made instanceof Refusal)) {
    const enabled = await server.projects.enableScoring(made.projectId);
    if (!(enabled instanceof Refusal)) {
      lines.push(
        `account token   ${made.accountToken}`,
        `project         ${made.projectId}`,
        `site key        ${enabled.siteKey}`,
        `private key     ${enabled.privateKey}`,
        "The account token and the private key are shown this once: keep them.",
      );
    }
  }
  console.log(`\n${lines.join("\n")}\n`);
}
