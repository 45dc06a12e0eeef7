/** A client of the Model Context Protocol over a child's pipes, as far as calling tools goes. */
import { endChild, startChild } from "../../child-process.js";

const callMsMax = 60_000;

interface Answer {
  readonly id?: number;
  readonly result?: { readonly isError?: boolean; readonly content?: readonly { readonly text?: string }[] };
  readonly error?: { readonly message: string };
}

/** A running server of tools. */
export interface McpServer {
  /** Calls a tool; resolves with the text that it answers, rejects with the text of an error or after a minute. */
  call(name: string, args?: object): Promise<string>;
  close(): Promise<void>;
}

/** Starts `program` of Node as a server and shakes hands with it. */
export async function startMcpServer(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<McpServer> {
  const child = startChild(process.execPath, [program, ...args], {
    stdio: ["pipe", "pipe", "ignore"],
    env: { ...process.env, ...env },
  });
  const waiting = new Map<number, (answer: Answer) => void>();
  let said = "";
  child.stdout!.setEncoding("utf8").on("data", (text: string) => {
    const lines = (said + text).split("\n");
    said = lines.pop()!;
    for (const line of lines) {
      const answer = JSON.parse(line) as Answer;
      if (answer.id !== undefined) waiting.get(answer.id)?.(answer);
    }
  });
  child.once("exit", () => {
    for (const settle of waiting.values()) settle({ error: { message: `${program} ended` } });
  });
  const send = (message: object) => void child.stdin!.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  let last = 0;
  const ask = (method: string, params: object) =>
    new Promise<Answer["result"]>((resolve, reject) => {
      const id = ++last;
      const timer = setTimeout(() => waiting.get(id)?.({ error: { message: `${method}: no answer` } }), callMsMax);
      waiting.set(id, ({ result, error }) => {
        clearTimeout(timer);
        waiting.delete(id);
        if (error === undefined) resolve(result);
        else reject(new Error(error.message));
      });
      send({ id, method, params });
    });
  try {
    await ask("initialize", {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "jobs", version: "1" },
    });
  } catch (error) {
    await endChild(child);
    throw error;
  }
  send({ method: "notifications/initialized" });
  return {
    async call(name, args = {}) {
      const result = await ask("tools/call", { name, arguments: args });
      const text = (result?.content ?? []).map((part) => part.text ?? "").join("\n");
      if (result?.isError === true) throw new Error(`${name}: ${text.slice(0, 600).replaceAll("\n", " ")}`);
      return text;
    },
    close: () => endChild(child),
  };
}
