/** The load generator as the harness sees it: one process beside the server's, kept for all runs, so that it is warm. */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { LoadJob, LoadResult } from "./job.js";

type Message = { readonly results: LoadResult[] } | { readonly failure: string };

export class Generator {
  readonly #process: ChildProcess = fork(fileURLToPath(new URL("generator-process.js", import.meta.url)));

  /** Runs jobs at the same time. Rejects when a server can't be reached or the process dies. */
  run<Jobs extends readonly LoadJob[]>(...jobs: Jobs): Promise<{ [Index in keyof Jobs]: LoadResult }> {
    return new Promise((resolve, reject) => {
      const died = (): void => reject(new Error("the load generator died"));
      this.#process.once("exit", died);
      this.#process.once("message", (message: Message) => {
        this.#process.off("exit", died);
        if ("failure" in message) reject(new Error(message.failure));
        else resolve(message.results as { [Index in keyof Jobs]: LoadResult });
      });
      this.#process.send(jobs);
    });
  }

  get pid(): number {
    return this.#process.pid!;
  }

  close(): void {
    this.#process.disconnect();
  }
}
