/** An HTTP thread that throws ends its process, with the reason as the last line of the log. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import t from "tap";

t.test("an error in a thread ends the process, and the log has it", async (t) => {
  const child = spawn(process.execPath, [fileURLToPath(new URL("./failing-thread.js", import.meta.url))]);
  let text = "";
  let errors = "";
  child.stdout.setEncoding("utf8").on("data", (part: string) => {
    text += part;
  });
  child.stderr.setEncoding("utf8").on("data", (part: string) => {
    errors += part;
  });
  const [, signal] = await once(child, "close");
  t.equal(signal, "SIGKILL");
  t.match(JSON.parse(text.trim().split("\n").at(-1)!), {
    level: "fatal",
    thread: "http-1",
    msg: "an HTTP thread failed: ending the process; restart it",
    err: { message: "out of the blue" },
  });
  t.notMatch(errors, /Assertion/);
});
