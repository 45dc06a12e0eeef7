/**
 * Configuration of `verdictd serve`: one row an option, from which flags, environment twins (`VERDICTD_…`), keys of the file,
 * defaults, help and checks derive. Every mistake is reported at once; nothing starts on a bad value.
 */
import { isIP, isIPv4, isIPv6 } from "node:net";
import { parseStoreUrl } from "../cluster/store-url.js";
import type { Durability, IpStorage } from "../contract/configuration/scoring-worker.js";
import { nearestWord } from "../contract/values/nearest-word.js";
import { limits } from "../limits.js";
import { parseTrustedProxies } from "../net/client-ip.js";
import { authoritiesFault, certificateFault } from "./certificate.js";
import { type FileValue, readConfigFile, readValueFile } from "./config-file.js";
import { memoryBound, usableCores } from "./machine.js";
import { threadsFor } from "./memory.js";

/** How a value is written and read. `parse` returns the value, or what was expected of it. */
interface Form<T> {
  readonly placeholder: string;
  readonly parse: (text: string) => T | Expected;
}

class Expected {
  /** `isAll`: it says what was written instead, too. */
  constructor(
    readonly what: string,
    readonly isAll = false,
  ) {}
}

const text: Form<string> = {
  placeholder: "TEXT",
  parse: (value) => (value === "" ? new Expected("some text") : value),
};

const file: Form<string> = { ...text, placeholder: "FILE" };
const folder: Form<string> = { ...text, placeholder: "DIR" };

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

/** What a listener can be bound to, as far as the text tells. */
const address: Form<string> = {
  ...text,
  parse: (value) => (isIP(value) !== 0 || hostname.test(value) ? value : new Expected("an IP address or a host name")),
};

/** Labels of RFC 1123, the last of them no number: `10.0.0.256` is a slip, not a name. */
const hostname =
  /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*(?![0-9]+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/** Networks of proxies that are believed, checked by what believes them. */
const networks: Form<readonly string[]> = {
  placeholder: "CIDR,…",
  parse: (value) => {
    const read = parseTrustedProxies(value);
    if ("faults" in read) return new Expected(`networks of your own proxies (${read.faults.join("; ")})`);
    return read.ranges.length === 0 ? new Expected("addresses or CIDR ranges") : read.ranges;
  },
};

/** Name servers, checked by what will ask them. */
const nameServers: Form<readonly string[]> = {
  placeholder: "A,B,…",
  parse: (value) => {
    const list = value.split(",").map((each) => each.trim());
    const bad = list.find((each) => !isNameServer(each));
    return bad === undefined ? list : new Expected(`ADDRESS or ADDRESS:PORT, [ADDRESS]:PORT of IPv6, not "${bad}"`);
  },
};

function isNameServer(value: string): boolean {
  if (isIP(value) !== 0) return true;
  const [, six, four = "", port] = /^(?:\[(.*)\]|([^:]*)):([0-9]{1,5})$/.exec(value) ?? [];
  return (six === undefined ? isIPv4(four) : isIPv6(six)) && Number(port) >= 1 && Number(port) <= 65_535;
}

/** Files that are read in this order. */
const files: Form<readonly string[]> = {
  placeholder: "FILE",
  parse: (value) => {
    const list = value.split(",").map((each) => each.trim());
    if (list.includes("")) return new Expected("names of files");
    return list.length > limits.ipDatabasesMax ? new Expected(`at most ${limits.ipDatabasesMax} files`) : list;
  },
};

/** The name of a header, in small letters; "" for none. */
const headerName: Form<string> = {
  placeholder: "NAME",
  parse: (value) =>
    /^[!#$%&'*+.^_`|~0-9a-z-]{1,100}$/i.test(value) ? value.toLowerCase() : new Expected("the name of a header"),
};

/** The address of a page, without a fragment. */
const consoleUrl: Form<string> = {
  placeholder: "URL",
  parse: (value) =>
    /^https?:\/\/[^\s#]+$/.test(value) && URL.canParse(value)
      ? value
      : new Expected("a URL that begins with https:// or http://"),
};

/** The URL of a cluster, which may hold a password. */
const storeUrl: Form<string> = {
  placeholder: "URL",
  parse: (value) => {
    const read = parseStoreUrl(value);
    return "fault" in read ? new Expected(`the URL of a cluster: it ${read.fault}`, true) : value;
  },
};

interface Option<T> extends Form<T> {
  /** Whether it may be given several times, which is the same as once with commas between. */
  readonly isRepeatable?: boolean;
  readonly fallback: T;
  readonly help: string;
  /** A value that is never printed. */
  readonly isSecret?: boolean;
}

function option<T>(form: Form<T>, fallback: T, help: string): Option<T> {
  return { ...form, fallback, help };
}

function secretOption(form: Form<string>, help: string): Option<string> {
  return { ...form, fallback: "", help, isSecret: true };
}

const MIB = 1024 * 1024;
/** MiB of a verdict cache and of the queue. */
const [cacheMib, queueMib] = [64, 64];
const threads = threadsFor(usableCores(), memoryBound(), { verdictCacheMb: cacheMib, queueMb: queueMib });

/** Every option of `serve`, by flag. Adding one is adding a row. */
export const serveOptions = {
  config: option(file, "", "YAML or JSON file of options by flag name; flags and environment variables override it"),
  "data-dir": option(folder, "./data", "folder of the store"),
  store: secretOption(
    storeUrl,
    "Valkey or Redis Cluster that keeps sessions and configuration, valkey://user:password@host:port,host:port (valkeys: TLS); " +
      "the data folder then mirrors the configuration; default: everything is in the data folder",
  ),
  "store-password": secretOption(text, "password of the cluster's user, if the URL has none"),
  "store-ca": option(file, "", "PEM file of the certificate authorities of the cluster; default: the system's"),
  "store-cert": option(file, "", "PEM file of the client certificate, if the cluster requires one; default: none"),
  "store-key": option(file, "", "PEM file of the key of --store-cert"),
  "store-acks": option(
    integer(0, 5),
    1,
    "replicas of the cluster that must acknowledge a batch before it is answered; 0: a failover may lose acknowledged batches",
  ),
  "store-deadline-ms": option(integer(2, 10_000), 50, "ms a verdict waits for the cluster before it fails open"),
  "store-durable": option(
    flag,
    false,
    "the cluster keeps its data without an append-only file, as managed clusters do",
  ),
  host: option(address, "127.0.0.1", "address to listen on"),
  port: option(integer(0, 65535), 8080, "port to listen on; 0 picks a free one"),
  "admin-host": option(address, "127.0.0.1", "address to listen on for metrics and other operator pages"),
  "admin-port": option(integer(0, 65535), 9464, "port of the admin address; 0 picks a free one"),
  "admin-token": secretOption(text, "bearer token that /metrics on the admin address requires; default: none"),
  "tls-cert": option(file, "", "PEM file of the certificate and its chain: serve HTTPS; read again on SIGHUP"),
  "tls-key": option(file, "", "PEM file of the certificate's key"),
  "drain-seconds": option(
    integer(0, 3600),
    0,
    "seconds after SIGTERM in which /readyz answers 503 and requests are still served, so that load balancers stop sending first",
  ),
  demo: option(flag, false, "serve /demo; on an empty store, create a first account and print its credentials"),
  "steady-interval": option(
    integer(1, 12),
    3,
    "how many of its intervals the SDK may wait before the next batch once a visitor's verdict stands (at most 2 while it is only likely to stand); 1: never longer",
  ),
  "verdict-ttl": option(integer(0, 86_400), 60, "seconds a verdict is cached; 0 turns the cache off"),
  "verdict-cache-mb": option(integer(1, 1 << 20), cacheMib, "MiB of the verdict cache, per HTTP thread"),
  "scoring-threads": option(integer(1, 256), threads.scoringThreads, "threads that score and store events"),
  "http-threads": option(integer(1, 256), threads.httpThreads, "threads that answer requests"),
  "trusted-proxies": option(networks, [], "networks whose X-Forwarded-For is trusted"),
  "dns-servers": option(
    nameServers,
    [],
    "DNS servers that crawlers are verified with, ADDRESS or ADDRESS:PORT; default: the system's",
  ),
  "no-agent-fetch": option(flag, false, "never fetch the keys of signed agents; they come from `agents import` only"),
  "allow-test-keys": option(
    flag,
    false,
    "accept signatures made with the keys printed in RFC 9421, which anybody can make; for tests only",
  ),
  "test-keys": option(
    flag,
    false,
    "accept public key pairs that always give the same answer (human, bot, challenge, refused), to test your own site; never in production",
  ),
  "ip-database": {
    ...option(
      files,
      [],
      "MaxMind DB file of countries or autonomous systems (GeoLite2, DB-IP, IPinfo); may be repeated: the first file that has a fact counts; " +
        "read again on SIGHUP; default: the shipped data",
    ),
    isRepeatable: true,
  },
  "ja4-header": option(
    headerName,
    "",
    "header in which a trusted proxy passes the JA4 of the visitor's TLS, such as CF-JA4",
  ),
  durability: option(
    oneOf<Durability>("process", "power-loss"),
    "process",
    "what an acknowledged batch survives: a killed process, or a power cut (slower)",
  ),
  "ip-storage": option(
    oneOf<IpStorage>("full", "truncated", "none"),
    "full",
    "how much of a visitor's address a session or block keeps: all, its network (/24, /48), or nothing; rules see what is kept",
  ),
  "queue-mb": option(integer(1, 1 << 20), queueMib, "MiB of batches waiting to be scored before more are shed"),
  "sample-above-mb": option(
    integer(1, 1 << 20),
    16,
    "MiB of waiting batches above which batches are recorded without a score",
  ),
  "session-days": option(integer(1, 3650), 30, "days a session is kept after its last batch"),
  "sessions-max": option(
    integer(1, 1_000_000_000),
    10_000_000,
    "sessions a project may have; above this, first contacts are shed and the oldest sessions are deleted",
  ),
  "block-days": option(integer(1, 3650), 90, "days a recorded block is kept"),
  "stats-days": option(integer(1, 3650), 400, "days hourly counts are kept"),
  "request-samples": option(
    integer(0, 2000),
    2000,
    "samples of requests without a session that a project keeps per hour, for 7 days; 0: none",
  ),
  "timeline-sessions": option(
    integer(0, 2000),
    200,
    "latest sessions of a project whose timeline (coarse pointer path, kinds of events) is kept; 0: none",
  ),
  "alert-private-addresses": option(
    flag,
    false,
    "allow alert channels at loopback and private addresses, by http too; default: only the public internet, by https",
  ),
  "event-log": option(
    file,
    "",
    "file to which blocks, challenges, incidents, alerts and changes are appended as JSON lines; reopened on SIGHUP",
  ),
  "console-url": option(
    consoleUrl,
    "",
    "address of the console as people open it, for links in alerts: https://bots.example.com/console; default: the listener's own",
  ),
  "strict-abilities": option(flag, false, "require the ability projects:write for every change of configuration"),
  "log-level": option(
    oneOf("trace", "debug", "info", "warn", "error", "silent"),
    "info",
    "lowest level that is logged",
  ),
} as const satisfies Record<string, Option<unknown>>;

/** An option of `serve` as its flag without the dashes: `http-threads`. */
export type ServeFlag = keyof typeof serveOptions;

/** Earlier names of options, which still work as flag, variable and key of the file; `serve` says that the option has a new one. */
export const formerNames: Readonly<Record<string, ServeFlag>> = {
  "engine-password": "store-password",
  "engine-ca": "store-ca",
  "engine-cert": "store-cert",
  "engine-key": "store-key",
  "engine-acks": "store-acks",
  "engine-deadline-ms": "store-deadline-ms",
  "engine-durable": "store-durable",
};

type Camel<S extends string> = S extends `${infer Head}-${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : S;
type ValueOf<O> = O extends Option<infer T> ? T : never;
/** The configuration in code: flags in camelCase. */
export type ServeConfig = { readonly [F in ServeFlag as Camel<F>]: ValueOf<(typeof serveOptions)[F]> };

/** `http-threads` becomes `httpThreads`, in types as well. */
export function camelCase<S extends string>(name: S): Camel<S> {
  return name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase()) as Camel<S>;
}

/** The environment twin of an option: `VERDICTD_HTTP_THREADS`. */
export function environmentName(name: string): string {
  return `VERDICTD_${name.toUpperCase().replaceAll("-", "_")}`;
}

/** Texts by flag name, as they were written; absent: not written. */
export type GivenFlags = { readonly [F in ServeFlag]?: string | undefined };

/** Where an option's value comes from; the first that has it wins. */
type ValueSource = "flag" | "environment" | "file" | "default";

/** One option as it is in force, for `verdictd config`. */
export interface EffectiveOption {
  readonly name: ServeFlag;
  /** As it would be written; a secret is not shown. */
  readonly value: string;
  readonly source: ValueSource;
  /** The flag, variable or file that holds it; "" for a default. */
  readonly from: string;
}

/** A configuration, or all that is wrong with it: one line a mistake, naming flag, variable or key of the file. */
type ConfigResult =
  | { readonly config: ServeConfig; readonly effective: readonly EffectiveOption[]; readonly notes: readonly string[] }
  | { readonly mistakes: readonly string[] };

interface Written {
  readonly text: string;
  readonly source: ValueSource;
  readonly from: string;
}

/** Flags win over the environment, the environment over the file of `--config`, the file over defaults. */
export function readServeConfig(flags: GivenFlags, environment: NodeJS.ProcessEnv): ConfigResult {
  const mistakes: string[] = [];
  const inEnvironment = readEnvironment(environment, mistakes);
  const path = flags.config ?? inEnvironment.get("config")?.text;
  const known = { ...serveOptions, ...formerNames };
  const inFile = path === undefined ? new Map<string, FileValue>() : readConfigFile(path, known, mistakes);
  const config: Record<string, unknown> = {};
  const effective: EffectiveOption[] = [];
  const notes: string[] = [];
  for (const name of serveFlags) {
    const row: Option<unknown> = serveOptions[name];
    let written = writtenValue(name, flags, inEnvironment, inFile);
    for (const former of formerNamesOf(name)) {
      const old = writtenValue(former, flags, inEnvironment, inFile);
      if (old !== null) notes.push(`${old.from}: the option is called ${name} now`);
      written ??= old;
    }
    const value = written === null ? row.fallback : row.parse(written.text);
    if (value instanceof Expected) {
      const got = row.isSecret === true ? "something else" : `"${written?.text}"`;
      mistakes.push(`${written?.from}: expected ${value.what}${value.isAll ? "" : `, got ${got}`}`);
      continue;
    }
    config[camelCase(name)] = value;
    const { source, from } = written ?? { source: "default", from: "" };
    effective.push({ name, value: shownValue(row, value), source, from });
  }
  mistakes.push(...contradictions(config as Partial<ServeConfig>));
  return mistakes.length > 0 ? { mistakes } : { config: config as unknown as ServeConfig, effective, notes };
}

const serveFlags = Object.keys(serveOptions) as ServeFlag[];

/** The earlier names of an option. */
export const formerNamesOf = (name: ServeFlag): string[] =>
  Object.keys(formerNames).filter((former) => formerNames[former] === name);

/** `name` may be a former one. */
function writtenValue(
  name: string,
  flags: Readonly<Record<string, string | undefined>>,
  inEnvironment: ReadonlyMap<string, Written>,
  inFile: ReadonlyMap<string, FileValue>,
): Written | null {
  const flag = flags[name];
  if (flag !== undefined) return { text: flag, source: "flag", from: `--${name}` };
  const variable = inEnvironment.get(name);
  if (variable !== undefined) return variable;
  const held = inFile.get(name);
  return held === undefined ? null : { ...held, source: "file" };
}

/** The variables of all options; `VERDICTD_X_FILE` names a file that holds the value of `VERDICTD_X`. */
function readEnvironment(environment: NodeJS.ProcessEnv, mistakes: string[]): Map<string, Written> {
  const found = new Map<string, Written>();
  for (const name of [...serveFlags, ...Object.keys(formerNames)]) {
    const variable = environmentName(name);
    const plain = environment[variable];
    const path = environment[`${variable}_FILE`];
    if (plain !== undefined) found.set(name, { text: plain, source: "environment", from: variable });
    if (path === undefined) continue;
    const held = readValueFile(path);
    if (typeof held !== "string") mistakes.push(`${variable}_FILE: ${held.fault}`);
    else if (plain !== undefined) mistakes.push(`${variable}_FILE: ${variable} is also set; give only one of them`);
    else found.set(name, { text: held, source: "environment", from: `${variable}_FILE` });
  }
  return found;
}

/** Variables that no option of `serve` has: of the tests, the build and the samples of the documentation. */
const otherVariables = new Set([
  "VERDICTD_CACHE_DIR",
  "VERDICTD_NUMBER_TRIES",
  "VERDICTD_PRIVATE_KEY",
  "VERDICTD_TEST_ROOT",
  "VERDICTD_TRACES",
]);

/** A line for each variable `VERDICTD_…` that nothing reads. No mistake: a supervisor may set variables of its own, as Kubernetes does. */
export function unknownVariables(environment: NodeJS.ProcessEnv): string[] {
  const known = [...serveFlags, ...Object.keys(formerNames)]
    .map(environmentName)
    .flatMap((name) => [name, `${name}_FILE`]);
  return Object.keys(environment)
    .filter((name) => name.startsWith("VERDICTD_") && !known.includes(name) && !otherVariables.has(name))
    .filter((name) => !serviceVariable.test(name))
    .map((name) => {
      const near = nearestWord(name, known);
      return `${name} is ignored: there is no such option${near === undefined ? "" : `; did you mean ${near}?`}`;
    });
}

/** What Kubernetes and Docker's links set for a service of that name: `VERDICTD_SERVICE_HOST`, `VERDICTD_PORT_8080_TCP_ADDR`. */
const serviceVariable = /^VERDICTD_(SERVICE_(HOST|PORT)|PORT_\d+_(TCP|UDP))/;

function shownValue({ isSecret }: Option<unknown>, value: unknown): string {
  if (isSecret === true) return value === "" ? "" : "(hidden)";
  return Array.isArray(value) ? value.join(",") : String(value);
}

/** Values that are right by themselves and wrong together, or in what they lead to; those that are wrong by themselves are absent. */
function contradictions(config: Partial<ServeConfig>): string[] {
  const { tlsCert, tlsKey, host, port, adminHost, adminPort } = config;
  const mistakes = clusterContradictions(config);
  if (config.testKeys === true && config.store !== undefined && config.store !== "") {
    mistakes.push("--test-keys: not with --store; test a site with a server of its own, on one host");
  }
  if (tlsCert !== undefined && tlsKey !== undefined) {
    if (tlsCert !== "" && tlsKey === "") mistakes.push("--tls-cert: --tls-key is missing; give both or none");
    else if (tlsKey !== "" && tlsCert === "") mistakes.push("--tls-key: --tls-cert is missing; give both or none");
    else if (tlsCert !== "") {
      const fault = certificateFault({ certificate: tlsCert, key: tlsKey });
      if (fault !== null) mistakes.push(`--tls-cert: ${fault}`);
    }
  }
  if (port !== undefined && port !== 0 && port === adminPort && isOneAddress(host, adminHost)) {
    mistakes.push(`--admin-port: ${port} is also the port of --port`);
  }
  return mistakes;
}

function clusterContradictions(config: Partial<ServeConfig>): string[] {
  const { store = "", storeCa = "", storeCert = "", storeKey = "", storePassword = "" } = config;
  const url = store === "" ? null : parseStoreUrl(store);
  if (url === null || "fault" in url) return [];
  const mistakes: string[] = [];
  if (storePassword !== "" && url.password !== undefined) {
    mistakes.push("--store-password: the URL of --store has a password as well; give one of them");
  }
  if (url.user !== undefined && url.password === undefined && storePassword === "") {
    mistakes.push(
      "--store: the URL has a user without a password; write user:password@, or name a file with it in VERDICTD_STORE_PASSWORD_FILE",
    );
  }
  const files = { "store-ca": storeCa, "store-cert": storeCert, "store-key": storeKey };
  for (const [name, path] of Object.entries(files)) {
    if (path !== "" && !url.isTls) mistakes.push(`--${name}: --store is without TLS; write valkeys:// or rediss://`);
  }
  const authorities = storeCa === "" ? null : authoritiesFault(storeCa);
  if (authorities !== null) mistakes.push(`--store-ca: ${authorities}`);
  if (storeCert !== "" && storeKey === "") mistakes.push("--store-cert: --store-key is missing; give both or none");
  else if (storeCert === "" && storeKey !== "")
    mistakes.push("--store-key: --store-cert is missing; give both or none");
  else if (storeCert !== "") {
    const fault = certificateFault({ certificate: storeCert, key: storeKey });
    if (fault !== null) mistakes.push(`--store-cert: ${fault}`);
  }
  return mistakes;
}

/** Whether two listeners on one port would be in each other's way. */
function isOneAddress(one: string | undefined, other: string | undefined): boolean {
  const isAll = (host: string | undefined): boolean => host === "0.0.0.0" || host === "::";
  return (one !== undefined && one === other) || isAll(one) || isAll(other);
}

/** Bytes of so many MiB. */
export const bytesOfMib = (mib: number): number => mib * MIB;
