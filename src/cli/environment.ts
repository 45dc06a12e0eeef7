/** The environment twins of flags, with secrets read from files: `VERDICTD_X_FILE` names a file that holds `VERDICTD_X`. */
import { readFileSync } from "node:fs";

/** The environment with the files' contents in place, and what is wrong with it: one line a mistake. */
export interface FiledEnvironment {
  readonly environment: NodeJS.ProcessEnv;
  readonly mistakes: readonly string[];
}

/** Reads the `_FILE` twin of each of `names`. One line break at the end of a file is not part of the value. */
export function withFiles(environment: NodeJS.ProcessEnv, names: readonly string[]): FiledEnvironment {
  const filled: NodeJS.ProcessEnv = { ...environment };
  const mistakes: string[] = [];
  for (const name of names) {
    const path = environment[`${name}_FILE`];
    if (path === undefined) continue;
    const value = readValue(path);
    if (environment[name] !== undefined) mistakes.push(`${name}_FILE: ${name} is set as well; give one of them`);
    else if (typeof value !== "string") mistakes.push(`${name}_FILE: ${value.fault}`);
    else filled[name] = value;
  }
  return { environment: filled, mistakes };
}

function readValue(path: string): string | { readonly fault: string } {
  try {
    return readFileSync(path, "utf8").replace(/\r?\n$/, "");
  } catch (error) {
    return { fault: `can't read "${path}" (${(error as NodeJS.ErrnoException).code ?? "unknown"})` };
  }
}
