/** Long work shows people how far it is, on a terminal only: a command's output stays what it is. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import t from "tap";
import { json, program, verdictd } from "../support/process.js";

const noTerminal = spawnSync("script", ["--version"]).error && "script (util-linux) is not installed";

t.test("backup and check draw a bar on a terminal", { skip: noTerminal ?? false }, async (t) => {
  const dir = join(t.testdir(), "store");
  await json(dir, "init");
  for (const command of ["check", `backup ${dir}-copy`]) {
    const typed = `"${process.execPath}" "${program}" ${command} --data-dir "${dir}"`;
    const { stdout, status } = spawnSync("script", ["-qec", typed, "/dev/null"], { encoding: "utf8", input: "" });
    t.equal(status, 0, command);
    t.match(stdout, new RegExp(`${command.split(" ")[0]} █{30} 100 %\r?\n`), command);
    t.equal(stdout.match(/100 %/g)?.length, 1, `${command}: once`);
  }
  const piped = await verdictd(["check", "--data-dir", dir]);
  t.same([piped.code, piped.stderr], [0, ""], "not into a pipe");
});
