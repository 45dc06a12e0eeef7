/** A real verdictd with its demo's project, for one measurement: started from the command line on an empty store, stopped and erased at the end. */
import { awaitOutput, endChild, startChild } from "./child-process.js";
import { scratchFolder } from "./scratch-folder.js";

/** A running server and the keys of its project, whose scoring is enabled. */
interface DemoServer {
  readonly origin: string;
  readonly project: string;
  readonly accountToken: string;
  readonly siteKey: string;
  readonly privateKey: string;
  /** Changes something below the project. Throws when it is refused. */
  configure(method: string, path: string, body: object): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts `program` on free ports, and has it set up; stopped when that throws. Verdicts are computed each time. Batches from loopback may name their
 * visitor's address in X-Forwarded-For.
 */
export async function startDemoServer<T>(
  program: string,
  startMsMax: number,
  setUp: (server: DemoServer) => Promise<T>,
): Promise<T> {
  const data = await scratchFolder();
  const switches = ["--demo", "--port=0", "--admin-port=0", "--verdict-ttl=0", "--trusted-proxies=127.0.0.1/32"];
  const child = startChild(process.execPath, [program, "serve", ...switches, `--data-dir=${data.path}`]);
  const stop = async () => {
    await endChild(child);
    await data.erase();
  };
  try {
    const printed = await awaitOutput(
      child,
      /account token +(\S+)[\s\S]*?project +(\d+)[\s\S]*?site key +(\S+)[\s\S]*?private key +(\S+)/,
      startMsMax,
    );
    const [said, accountToken, project, siteKey, privateKey] = printed;
    const port = /"port":(\d+)[^\n]*"msg":"listening"/.exec(printed.input ?? said)?.[1];
    const origin = `http://127.0.0.1:${port}`;
    const configure = async (method: string, path: string, body: object) => {
      const headers = { Authorization: `Bearer ${accountToken}`, "Content-Type": "application/json" };
      const url = `${origin}/v1/projects/${project}/${path}`;
      const answer = await fetch(url, { method, headers, body: JSON.stringify(body) });
      if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    };
    return await setUp({
      origin,
      project: project!,
      accountToken: accountToken!,
      siteKey: siteKey!,
      privateKey: privateKey!,
      configure,
      stop,
    });
  } catch (error) {
    await stop();
    throw error;
  }
}
