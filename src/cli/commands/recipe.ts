/** `verdictd recipe`: prints a proxy's configuration for a site that is protected without touching it, or asks a running proxy what is missing. */
import type { ProcessCommand } from "../command.js";
import type { Given } from "../flag.js";
import { oneOf, textOf } from "../given.js";
import { CommandFailure, print, UsageFailure } from "../output.js";
import { checkSite } from "../recipes/check.js";
import { luaFile, proxyNames, recipeFor } from "../recipes/recipe.js";

const address = /^(?:http:\/\/)?([A-Za-z0-9][A-Za-z0-9.-]*)(?::([0-9]{1,5}))?\/?$/;

/** Host and port of an address without TLS. */
function addressOf(given: Given, name: string, fallback?: string): string {
  const text = given[name] ?? fallback ?? textOf(given, name);
  const [, host, port = "80"] = address.exec(text) ?? [];
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535) {
    throw new UsageFailure(`--${name}: expected an address such as http://127.0.0.1:3000, got "${text}"`);
  }
  return `${host}:${port}`;
}

function matching(given: Given, name: string, form: RegExp, example: string, fallback?: string): string {
  const text = given[name] ?? fallback ?? textOf(given, name);
  if (!form.test(text)) throw new UsageFailure(`--${name}: expected ${example}, got "${text}"`);
  return text;
}

function protectedOf({ protect }: Given): readonly string[] {
  const paths = protect?.split(",") ?? [];
  for (const path of paths) {
    if (!/^(?:\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+\/?$/.test(path)) {
      throw new UsageFailure(`--protect: expected the beginning of a path, such as /checkout, got "${path}"`);
    }
  }
  return paths;
}

async function check(url: string): Promise<void> {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw new UsageFailure(`--check: expected the site's address, such as https://shop.example, got "${url}"`);
  }
  const findings = await checkSite(url).catch((error: unknown) => {
    const cause = error instanceof Error ? (error.cause instanceof Error ? error.cause : error).message : String(error);
    throw new CommandFailure(`${url} does not answer: ${cause}`);
  });
  const marks = new Map([
    [true, "good   "],
    [false, "MISSING"],
    [null, "unknown"],
  ]);
  print(findings.map(({ what, isGood, says }) => `${marks.get(isGood)}  ${what} ${says}`).join("\n"));
  const missing = findings.filter(({ isGood }) => isGood === false).length;
  if (missing > 0) throw new CommandFailure(`${missing} of ${findings.length} things are missing`);
}

/** Needs no store and no server. */
export const recipeCommand: ProcessCommand = {
  name: "recipe",
  help: "print the configuration of a proxy that protects a site without changing it; with --check, ask the running proxy what is missing",
  positionals: [{ name: "PROXY", help: proxyNames.join(", "), values: proxyNames }],
  flags: [
    { name: "upstream", placeholder: "URL", help: "the application: http://127.0.0.1:3000 (required)" },
    { name: "host", placeholder: "NAME", help: "the site's name: shop.example (required)" },
    {
      name: "protect",
      placeholder: "PATH",
      help: "ask only about paths that begin with this; may be repeated (default: all paths)",
      isRepeatable: true,
    },
    { name: "verdictd", placeholder: "URL", help: "where the proxy reaches verdictd (default http://127.0.0.1:8080)" },
    {
      name: "site-key",
      placeholder: "KEY",
      help: "the project's site key, for the script tag (default pk_REPLACE_ME)",
    },
    { name: "lua", help: "haproxy: print the Lua file that the configuration loads" },
    {
      name: "check",
      placeholder: "URL",
      help: "ask the running proxy at this address; exit code 1 if something is missing",
    },
  ],
  runProcess: async (given) => {
    const proxy = oneOf(given, "PROXY", proxyNames);
    if (given["check"] !== undefined) {
      await check(given["check"]);
      return;
    }
    if (given["lua"] !== undefined) {
      if (proxy !== "haproxy") throw new UsageFailure("--lua: for haproxy alone");
      process.stdout.write(luaFile());
      return;
    }
    const site = {
      upstream: addressOf(given, "upstream"),
      host: matching(given, "host", /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/, "a name such as shop.example"),
      protect: protectedOf(given),
      verdictd: addressOf(given, "verdictd", "http://127.0.0.1:8080"),
      siteKey: matching(given, "site-key", /^pk_[\w-]{1,100}$/, "a site key (pk_…)", "pk_REPLACE_ME"),
    };
    process.stdout.write(recipeFor(proxy, site));
  },
};
