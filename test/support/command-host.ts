/**
 * A process that runs `verdictd` again and again, started by `command` of `process.ts`: the program's own entry is evaluated anew for
 * each command, in order, what it prints is caught, and everything it imports is loaded once. It knows no command.
 */
import type { CommandRun, Outcome } from "./process.js";

/** Address of the entry. */
const program = process.argv[2]!;
const own = { ...process.env };
const printed = { stdout: "", stderr: "" };
for (const name of ["stdout", "stderr"] as const) {
  process[name].setMaxListeners(0);
  process[name].write = (text: string | Uint8Array): boolean => {
    printed[name] += Buffer.from(text as string).toString();
    return true;
  };
}

async function outcomeOf({ id, args, env }: CommandRun): Promise<Outcome> {
  Object.assign(printed, { stdout: "", stderr: "" });
  process.exitCode = undefined;
  process.argv.splice(2, Number.POSITIVE_INFINITY, ...args);
  for (const name of Object.keys(process.env)) if (!(name in own)) delete process.env[name];
  Object.assign(process.env, own, env);
  await import(`${program}?${id}`);
  return { code: Number(process.exitCode ?? 0), ...printed };
}

let last = Promise.resolve();
process.on("message", (run: CommandRun) => {
  last = last.then(async () => {
    const outcome = await outcomeOf(run);
    process.exitCode = 0;
    process.send?.({ id: run.id, outcome });
  });
});
