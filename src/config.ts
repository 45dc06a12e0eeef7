/**
 * Configuration of `verdictd serve`: one row an option, from which flags, environment twins (`VERDICTD_…`), defaults, help and
 * checks derive. Every mistake is reported at once; nothing starts on a bad value.
 */
import { availableParallelism } from "node:os";
import ipaddr from "ipaddr.js";
import type { Durability } from "./contract/scoring-worker.js";

/** How a value is written and read. `parse` returns the value, or what was expected of it. */
interface Form<T> {
  readonly placeholder: string;
  readonly parse: (text: string) => T | Expected;
}

class Expected {
  readonly what: string;
  constructor(what: string) {
    this.what = what;
  }
}

const text: Form<string> = {
  placeholder: "TEXT",
  parse: (value) => (value === "" ? new Expected("some text") : value),
};

const flag: Form<boolean> = {
  placeholder: "",
  parse: (value) => (value === "true" ? true : value === "false" ? false : new Expected("true or false")),
};

const integer = (from: number, to: number): Form<number> => ({
  placeholder: "N",
  parse: (value) => {
    const number = Number(value);
    return /^\d{1,15}$/.test(value) && number >= from && number <= to
      ? number
      : new Expected(`a whole number from ${from} to ${to}`);
  },
});

const oneOf = <T extends string>(...values: readonly T[]): Form<T> => ({
  placeholder: values.join("|"),
  parse: (value) => values.find((each) => each === value) ?? new Expected(values.join(" or ")),
});

/** Networks of proxies that are believed. A range that holds everybody would let any client forge its address. */
const networks: Form<readonly string[]> = {
  placeholder: "CIDR,…",
  parse: (value) => {
    const list = value.split(",").map((each) => each.trim());
    const bad = list.find((each) => !isNetwork(each));
    if (bad !== undefined) return new Expected(`addresses or CIDR ranges, not "${bad}"`);
    const all = list.find((each) => /\/0+$/.test(each));
    return all === undefined ? list : new Expected(`the networks of your own proxies, not everybody ("${all}")`);
  },
};

function isNetwork(value: string): boolean {
  return value.includes("/") ? ipaddr.isValidCIDR(value) : ipaddr.isValid(value);
}

const list: Form<readonly string[]> = {
  placeholder: "A,B,…",
  parse: (value) => value.split(",").map((each) => each.trim()),
};

interface Option<T> extends Form<T> {
  readonly fallback: T;
  readonly help: string;
}

function option<T>(form: Form<T>, fallback: T, help: string): Option<T> {
  return { ...form, fallback, help };
}

const cores = availableParallelism();
const MIB = 1024 * 1024;

/** Every option of `serve`, by flag. Adding one is adding a row. */
export const serveOptions = {
  "data-dir": option(text, "./data", "folder of the store"),
  host: option(text, "127.0.0.1", "address to listen on"),
  port: option(integer(0, 65535), 8080, "port to listen on; 0 picks a free one"),
  "admin-host": option(text, "127.0.0.1", "address of metrics and other operator pages"),
  "admin-port": option(integer(0, 65535), 9464, "port of the admin address; 0 picks a free one"),
  demo: option(flag, false, "serve /demo; on an empty store make a first account and print its credentials"),
  "verdict-ttl": option(integer(0, 86_400), 60, "seconds a verdict is cached; 0 turns the cache off"),
  "verdict-cache-mb": option(integer(1, 1 << 20), 64, "MiB of the verdict cache, per HTTP thread"),
  "scoring-threads": option(integer(1, 256), Math.max(1, Math.floor(cores / 2)), "threads that score and store events"),
  "http-threads": option(integer(1, 256), Math.max(1, Math.floor(cores / 4)), "threads that answer requests"),
  "trusted-proxies": option(networks, [], "networks whose X-Forwarded-For is believed"),
  "dns-servers": option(list, [], "DNS servers asked about crawlers, ADDRESS or ADDRESS:PORT; default: the system's"),
  durability: option(
    oneOf<Durability>("process", "power-loss"),
    "process",
    "what an acknowledged batch survives: a killed process, or a power cut (slower)",
  ),
  "queue-mb": option(integer(1, 1 << 20), 64, "MiB of batches waiting to be scored before more are shed"),
  "sample-above-mb": option(
    integer(1, 1 << 20),
    16,
    "MiB waiting above which batches are recorded without being scored",
  ),
  "session-days": option(integer(1, 3650), 30, "days a session is kept after its last batch"),
  "block-days": option(integer(1, 3650), 90, "days a recorded block is kept"),
  "stats-days": option(integer(1, 3650), 400, "days hourly counts are kept"),
  "strict-abilities": option(flag, false, "ask projects:write of tokens for every change of configuration"),
  "log-level": option(oneOf("trace", "debug", "info", "warn", "error", "silent"), "info", "least level that is logged"),
} as const satisfies Record<string, Option<unknown>>;

export type ServeFlag = keyof typeof serveOptions;

type Camel<S extends string> = S extends `${infer Head}-${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : S;
type ValueOf<O> = O extends Option<infer T> ? T : never;
/** The configuration in code: flags in camelCase. */
export type ServeConfig = { readonly [F in ServeFlag as Camel<F>]: ValueOf<(typeof serveOptions)[F]> };

export function camelCase<S extends string>(name: S): Camel<S> {
  return name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase()) as Camel<S>;
}

export function environmentName(name: string): string {
  return `VERDICTD_${name.toUpperCase().replaceAll("-", "_")}`;
}

/** Texts by flag name, as they were written; absent: not written. */
export type GivenFlags = { readonly [F in ServeFlag]?: string | undefined };

/** A configuration, or all that is wrong with it: one line a mistake, naming flag or variable. */
export type ConfigResult = { readonly config: ServeConfig } | { readonly mistakes: readonly string[] };

/** Flags win over the environment, the environment over defaults. */
export function readServeConfig(flags: GivenFlags, environment: NodeJS.ProcessEnv): ConfigResult {
  const mistakes: string[] = [];
  const config: Record<string, unknown> = {};
  for (const name of Object.keys(serveOptions) as ServeFlag[]) {
    const row: Option<unknown> = serveOptions[name];
    const variable = environmentName(name);
    const given = flags[name] ?? environment[variable];
    const value = given === undefined ? row.fallback : row.parse(given);
    if (value instanceof Expected) {
      const where = flags[name] === undefined ? variable : `--${name}`;
      mistakes.push(`${where}: expected ${value.what}, got "${given}"`);
    } else config[camelCase(name)] = value;
  }
  return mistakes.length > 0 ? { mistakes } : { config: config as unknown as ServeConfig };
}

export const bytesOfMib = (mib: number): number => mib * MIB;
