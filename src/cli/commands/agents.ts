/** `verdictd agents …`: the agents that sign their requests (Web Bot Auth) and their keys. */

import { isCatalogueFault } from "../../bots/catalogue-file.js";
import { type FetchOutcome, refreshAgents } from "../../bots/signed/agent-refresh.js";
import { agentOrigin, checkAgent, checkAgentList, directoryPath } from "../../bots/signed/agents.js";
import { directoryFetcher } from "../../bots/signed/directory-fetch.js";
import { isKeySetFault, keysById, readKeySet } from "../../bots/signed/jwks.js";
import { botCategories } from "../../contract/bots/bot-categories.js";
import type { SignedAgent, SignedAgentList } from "../../contract/bots/signed-agents.js";
import { type ListedAgent, SignedAgentStore } from "../../control-plane/lists/signed-agent-store.js";
import { limits } from "../../limits.js";
import type { Store } from "../../store/store.js";
import type { StoreCommand } from "../command.js";
import { oneOf, textOf } from "../given.js";
import { readJsonFile } from "../json-file.js";
import { CommandFailure, columns, UsageFailure } from "../output.js";
import { type ImportCounts, importCounts } from "./catalogue.js";

interface Listing {
  readonly version: string;
  readonly source: "imported" | "shipped";
  readonly count: number;
  readonly agents: readonly ListedAgent[];
}

const list: StoreCommand<Listing> = {
  name: "agents list",
  help: "show the agents whose signed requests are verified, and the state of their keys",
  onCluster: "same",
  worksOnMigrated: true,
  run: async (store) => {
    const agents = new SignedAgentStore(store);
    const listed = agents.listed();
    const source = agents.isImported ? "imported" : "shipped";
    return { version: agents.list().version, source, count: listed.length, agents: listed };
  },
  show: ({ version, source, count, agents }) => {
    const rows = agents.map(({ url, name, category, keys, fetch }) => [
      url,
      name,
      category,
      keys === null ? "none" : `${keys.keys.length} ${keys.source} ${keys.at}`,
      fetch?.failure ?? "",
    ]);
    return `${columns([["URL", "NAME", "CATEGORY", "KEYS", "LAST FAILURE"], ...rows])}\n\n${count} agents, version ${version}, ${source}`;
  },
};

const add: StoreCommand<SignedAgent> = {
  name: "agents add",
  help: "add an agent, or change its name and category; a running server fetches its keys within seconds",
  onCluster: "same",
  positionals: [{ name: "URL", help: "value of its Signature-Agent, such as https://chatgpt.com" }],
  flags: [
    { name: "name", placeholder: "N", help: "name to show to people", isRequired: true },
    {
      name: "category",
      placeholder: "C",
      help: `one of ${botCategories.join(", ")}`,
      isRequired: true,
      values: botCategories,
    },
  ],
  run: async (store, given) => {
    const category = oneOf(given, "category", botCategories);
    const agent = checkAgent({ url: textOf(given, "URL"), name: textOf(given, "name"), category }, "the agent");
    if (isCatalogueFault(agent)) throw new UsageFailure(agent.message);
    const added = await new SignedAgentStore(store).add(agent);
    if ("message" in added) throw new CommandFailure(added.message);
    return added;
  },
};

const remove: StoreCommand<SignedAgent> = {
  name: "agents remove",
  help: "remove an agent and its keys: its signatures are unverified from now on",
  onCluster: "same",
  positionals: [{ name: "URL", help: "as agents list shows it" }],
  run: async (store, given) => {
    const url = originOf(textOf(given, "URL"));
    const removed = await new SignedAgentStore(store).remove(url);
    if (removed === null) throw new CommandFailure(`no agent ${url} is listed`);
    return removed;
  },
};

interface KeyImport {
  readonly url: string;
  readonly keys: number;
  /** What stands in `keyid` of their signatures. */
  readonly key_ids: readonly string[];
}

const importFile: StoreCommand<ImportCounts | KeyImport> = {
  name: "agents import",
  help: "replace the list with a file {version, agents}; with --url, replace the keys of one agent with a key set (JWKS)",
  onCluster: "same",
  positionals: [{ name: "FILE", help: "JSON file" }],
  flags: [{ name: "url", placeholder: "URL", help: "the agent whose keys the file contains" }],
  run: async (store, given) => {
    const path = textOf(given, "FILE");
    const value = readJson(path);
    const agents = new SignedAgentStore(store);
    return given["url"] === undefined
      ? importList(agents, path, value)
      : importKeys(agents, path, value, originOf(given["url"]));
  },
};

async function importList(agents: SignedAgentStore, path: string, value: unknown): Promise<ImportCounts> {
  const checked = checkAgentList(value);
  if (isCatalogueFault(checked)) throw new CommandFailure(`${path}: ${checked.message}`);
  const { before, after } = await agents.replace(checked);
  const catalogueOf = ({ version, agents: entries }: SignedAgentList) => ({ version, entries });
  // An agent that is named otherwise is the same one.
  return importCounts(catalogueOf(before), catalogueOf(after), ({ url }) => [url]);
}

async function importKeys(agents: SignedAgentStore, path: string, value: unknown, url: string): Promise<KeyImport> {
  const keys = readKeySet(value);
  if (isKeySetFault(keys)) throw new CommandFailure(`${path} ${keys.message}`);
  const given = (value as { keys: unknown[] }).keys.length;
  if (keys.length < given) {
    const kinds = "public Ed25519, RSA (2048 to 4096 bits) or P-256 keys for signatures";
    throw new CommandFailure(`${path}: ${given - keys.length} of ${given} keys are not ${kinds}`);
  }
  if (!(await agents.importKeys(url, keys, new Date().toISOString()))) {
    throw new CommandFailure(`no agent ${url} is listed: add it first with verdictd agents add`);
  }
  return { url, keys: keys.length, key_ids: [...keysById(keys).keys()] };
}

interface Refreshed {
  readonly agents: readonly FetchOutcome[];
}

const refresh: StoreCommand<Refreshed> = {
  name: "agents refresh",
  help: "fetch the keys of all agents now; if an agent can't be reached, its keys are kept",
  onCluster: "same",
  run: async (store: Store) => {
    const keeper = new SignedAgentStore(store);
    const urls = keeper.listed().map(({ url }) => url);
    return { agents: await refreshAgents({ keeper, fetch: directoryFetcher(), now: Date.now }, urls) };
  },
  show: ({ agents }) =>
    columns([
      ["URL", "KEYS", "FAILURE"],
      ...agents.map(({ url, keys, failure }) => [url, `${keys ?? "kept"}`, failure ?? ""]),
    ]),
  failure: ({ agents }) => {
    const failed = agents.filter(({ failure }) => failure !== null).length;
    return failed === 0 ? null : `${failed} of ${agents.length} agents could not be reached`;
  },
};

function originOf(text: string): string {
  const origin = agentOrigin(text.endsWith(directoryPath) ? text.slice(0, -directoryPath.length) : text);
  if (origin === null) throw new UsageFailure(`expected an https address without a path, got "${text}"`);
  return origin;
}

/** A file that is not larger than a directory may be, or a list of the most agents. */
function readJson(path: string): unknown {
  return readJsonFile(path, limits.agentDirectoryBytesMax * 16);
}

/** List, add, remove, import and refresh. An import of keys is refused unless every key of the file is of use. */
export const agentCommands: readonly StoreCommand[] = [list, add, remove, importFile, refresh];
