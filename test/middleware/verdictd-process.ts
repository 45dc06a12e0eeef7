/**
 * A real verdictd in a process of its own, with a project, rules by path and a scored session, for tests of what asks it. It can be
 * stopped, frozen and started again on its port.
 */
import { join } from "node:path";
import type { Test } from "tap";
import { event } from "../support/batches.js";
import { freePort } from "../support/free-port.js";
import { makeOwner } from "../support/owner.js";
import { json, type LogLine, type Served, serve } from "../support/process.js";

/** The rules of the project: every action has paths of its own. They match any scored session. */
const rules = [
  { name: "block", expression: 'path starts_with "/block"', action: "block" },
  { name: "challenge", expression: 'path starts_with "/challenge"', action: "challenge" },
  { name: "delay", expression: 'path starts_with "/delay"', action: "delay" },
  { name: "by address", expression: 'path == "/by-ip" AND ip in {"203.0.113.0/24"}', action: "block" },
  { name: "by host", expression: 'path == "/by-host" AND host == "shop.example"', action: "block" },
  { name: "by method", expression: 'path == "/by-method" AND method == "DELETE"', action: "block" },
  { name: "by agent", expression: 'path == "/by-agent" AND user_agent contains "curly"', action: "block" },
];

export interface VerdictdProcess {
  readonly baseUrl: string;
  readonly privateKey: string;
  readonly siteKey: string;
  /** A session that has been scored. */
  readonly sessionToken: string;
  /** Log lines of the running process so far. */
  readonly log: readonly string[];
  /** The first of its log lines with this message, now or later. */
  logged(message: string): Promise<LogLine>;
  /** A new session with a first report. */
  mintSession(): Promise<string>;
  /** Kills it at once, as a crash would. */
  kill(): Promise<void>;
  /** Stops its clock: connections stay open, nothing is answered. */
  freeze(): void;
  thaw(): void;
  /** Runs it again, on the same port and store. */
  restart(): Promise<void>;
  /** Turns request scoring on or off. */
  judgeRequests(enabled: boolean): Promise<void>;
  /** Turns verdictd's own challenge on. */
  enableChallenge(): Promise<void>;
  /** Lets forward-auth give visitors tokens, or not. */
  issueTokens(isOn: boolean): Promise<void>;
  /** Runs a command of the command line against its store, for example `account set 1`. */
  command(...args: string[]): Promise<void>;
}

/** `flags`: further ones of `serve`. */
export async function startVerdictd(t: Test, flags: readonly string[] = []): Promise<VerdictdProcess> {
  const dataDir = join(t.testdir(), "data");
  const owner = await makeOwner(dataDir);
  // A port of its own and not 0: Linux lets a listener come back to a port it named, not to one that the kernel chose.
  const options = { port: await freePort(), flags: ["--verdict-ttl", "0", ...flags] };
  let running = await serve(t, dataDir, options);
  for (const rule of rules) {
    const path = `/v1/projects/${owner.projectId}/rules`;
    const { status, text } = await running.ask("POST", path, { token: owner.token, body: rule });
    if (status >= 300) throw new Error(`${path}: ${status} ${text}`);
  }
  const mintSession = (): Promise<string> => firstReport(running, owner.siteKey);
  return {
    baseUrl: running.address,
    privateKey: owner.privateKey,
    siteKey: owner.siteKey,
    sessionToken: await mintSession(),
    get log() {
      return running.lines;
    },
    logged: (message) => running.logged(message),
    mintSession,
    kill: async () => {
      await running.end("SIGKILL");
    },
    freeze: () => running.child.kill("SIGSTOP"),
    thaw: () => running.child.kill("SIGCONT"),
    restart: async () => {
      running = await serve(t, dataDir, options);
    },
    judgeRequests: async (enabled) => {
      const path = `/v1/projects/${owner.projectId}/request-scoring`;
      await running.ask("PUT", path, { token: owner.token, body: { enabled } });
    },
    enableChallenge: async () => {
      const path = `/v1/projects/${owner.projectId}/challenge`;
      await running.ask("PUT", path, { token: owner.token, body: { enabled: true } });
    },
    issueTokens: async (isOn) => {
      const path = `/v1/projects/${owner.projectId}/request-scoring`;
      await running.ask("PUT", path, { token: owner.token, body: { issue_tokens: isOn } });
    },
    command: async (...args) => {
      await json(dataDir, ...args);
    },
  };
}

async function firstReport(server: Served, siteKey: string): Promise<string> {
  const { status, json, text } = await server.ask("POST", "/v1/events", {
    headers: { "x-service-site-key": siteKey },
    body: { session_token: null, events: [event("first-report-1", { path: "/" })] },
  });
  if (status !== 202) throw new Error(`ingest: ${status} ${text}`);
  return json.session_token;
}
