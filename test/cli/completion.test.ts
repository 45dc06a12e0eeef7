/** `verdictd completion` in real shells: words are typed up to a Tab, and what the program then gets is what was meant. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { commands } from "../../src/cli/commands.js";
import { command } from "../support/process.js";

/** What is typed (`→`: Tab), and the words that the program is then started with. */
const typed: readonly (readonly [string, string])[] = [
  ["acc→cr→--pl→fr→", "account create --plan free"],
  ["member set --role=vie→", "member set --role=viewer"],
  ["serve --dur→pow→", "serve --durability power-loss"],
  ["rules apply rule→", "rules apply rules.yaml"],
  ["backup --data-dir sto→", "backup --data-dir store/"],
  ["tail --band defi→", "tail --band definite"],
  ["stats --j→", "stats --json"],
  ["completion z→", "completion zsh"],
];

/** The folder that the shells run in: the script, and files to complete. */
async function folderWith(t: Test, shell: string): Promise<string> {
  const { code, stdout } = await command(["completion", shell]);
  t.equal(code, 0);
  const folder = t.testdir({ "rules.yaml": "", store: {} });
  writeFileSync(join(folder, "script"), stdout);
  return folder;
}

const isThere = (program: string): boolean => spawnSync(program, ["--version"]).error === undefined;

/** All that a shell prints in `folder` when this is typed. */
async function type(folder: string, program: readonly string[], text: string): Promise<string> {
  const child = spawn(program[0]!, program.slice(1), {
    cwd: folder,
    env: { PATH: process.env["PATH"], HOME: folder, TERM: "dumb" },
    stdio: ["pipe", "pipe", "ignore"],
  });
  let printed = "";
  child.stdout.on("data", (piece) => {
    printed += piece;
  });
  child.stdin.end(text);
  await once(child, "close");
  return printed;
}

/** Instead of the program: prints what it is given. */
const echo = `verdictd() { printf '\\nGOT'; printf ' %s' "$@"; echo; }`;
const lines = typed.map(([text]) => `verdictd ${text.replaceAll("→", "\t")}`).join("\n");
const got = (printed: string): string[] => [...printed.matchAll(/^GOT ([^\r\n]*)/gm)].map(([, words]) => words!.trim());
/** zsh writes `--plan=free`, and no slash behind a folder that is given on. */
const spaced = (words: string): string => words.replaceAll("=", " ").replace(/\/$/, "");

t.test("bash completes commands, flags, values, files and folders", async (t) => {
  const folder = await folderWith(t, "bash");
  const printed = await type(folder, ["bash", "--norc", "-i"], `. ./script\n${echo}\n${lines}\nexit\n`);
  t.same(
    got(printed),
    typed.map(([, words]) => words),
  );
});

const noZsh = isThere("zsh") && isThere("script") ? false : "zsh or script (util-linux) is not installed";
t.test("zsh does", { skip: noZsh }, async (t) => {
  const folder = await folderWith(t, "zsh");
  const load = 'autoload -Uz compinit; compinit -u -D; eval "$(<script)"';
  const shell = ["script", "-qec", "zsh -f -i", "/dev/null"];
  const printed = await type(folder, shell, `${load}\n${echo}\n${lines}\nexit\n`);
  t.same(
    got(printed).map(spaced),
    typed.map(([, words]) => spaced(words)),
  );
});

const noFish = isThere("fish") ? false : "fish is not installed";
t.test("fish does", { skip: noFish }, async (t) => {
  const folder = await folderWith(t, "fish");
  const steps = typed.flatMap(([text, words]) => {
    const ends = [...text.matchAll(/→/g)].map(({ index }) => text.slice(0, index).replaceAll("→", " "));
    // Each piece is completed by itself: what is before it is what was meant.
    return ends.map((end, index) => {
      const count = end.split(" ").length;
      const before = words.split(" ").slice(0, count - 1);
      return {
        line: ["verdictd", ...before, end.split(" ").at(-1)].join(" "),
        meant: words.split(" ")[count - 1],
        index,
      };
    });
  });
  const script = ["source ./script", ...steps.map(({ line }) => `complete -C '${line}' | string join ,; echo GOT`)];
  const printed = await type(folder, ["fish", "--no-config", "-c", script.join("\n")], "");
  const offered = printed.split("GOT\n");
  for (const [index, { line, meant }] of steps.entries()) {
    const words = (offered[index] ?? "").trim().split(",");
    t.ok(
      words.some((word) => word.split("\t")[0] === meant),
      `${line} → ${meant}`,
      { words },
    );
  }
});

t.test("every command and flag is in every script; another shell is refused", async (t) => {
  for (const shell of ["bash", "zsh", "fish"]) {
    const { stdout } = await command(["completion", shell]);
    for (const { name, flags = [] } of commands) {
      const offered = flags.filter(({ isRetired }) => isRetired !== true);
      for (const word of [...name.split(" "), ...offered.map((flag) => flag.name)]) {
        if (!stdout.includes(word)) t.fail(`${shell}: ${word} of ${name}`);
      }
    }
  }
  t.match(await command(["completion", "tcsh"]), { code: 2, stderr: /^SHELL: expected bash or zsh or fish/ });
});
