/**
 * The allow-list of agents: checks lists and addresses, and loads the one that comes with verdictd. Whoever is on it and signs is let in
 * unseen, so one bad entry refuses the whole list.
 */
import { readAsset } from "../../assets.js";
import { isJsonObject } from "../../contract/api/json-body.js";
import { botCategories } from "../../contract/bots/bot-categories.js";
import type { SignedAgent, SignedAgentList } from "../../contract/bots/signed-agents.js";
import { limits } from "../../limits.js";
import {
  type CatalogueFault,
  checkFile,
  checkWord,
  fault,
  isCatalogueFault,
  isLine,
  lineFault,
} from "../catalogue-file.js";
// Only for the compiler, which then copies the file beside the compiled module; it is read below, when it is asked for.
import type shippedFile from "./agents.json";

/** Where an agent's keys are, by the draft for Web Bot Auth (draft-meunier-http-message-signatures-directory). */
export const directoryPath = "/.well-known/http-message-signatures-directory";

/**
 * The origin that a text names as an agent, `https://host` or `https://host:port` in lower case; null for anything else. An empty path
 * may be written as `/`. What a visitor sends is held to exactly this: no path, query, fragment or credentials.
 */
export function agentOrigin(text: string): string | null {
  if (text.length > limits.agentUrlMax || !/^https:\/\/[^/?#@\\\s]+\/?$/i.test(text)) return null;
  try {
    const { origin, protocol } = new URL(text);
    return protocol === "https:" ? origin : null;
  } catch {
    return null;
  }
}

/** A checked agent, or why it is none. Its address may also be that of the directory itself. */
export function checkAgent(value: unknown, at: string): SignedAgent | CatalogueFault {
  if (!isJsonObject(value)) return fault(at, "must be an object {url, name, category}");
  const { url, name, category } = value;
  const origin = typeof url === "string" ? agentOrigin(withoutDirectory(url)) : null;
  if (origin === null) {
    return fault(`${at}.url`, "must be an https address without a path, such as https://chatgpt.com");
  }
  if (!isLine(name, limits.nameMax)) return lineFault(`${at}.name`, limits.nameMax);
  const known = checkWord(botCategories, category, `${at}.category`);
  return typeof known === "string" ? { url: origin, name, category: known } : known;
}

/** The list with addresses in canonical spelling, or the first fault. Unknown keys are ignored; an empty list trusts nobody. */
export function checkAgentList(value: unknown): SignedAgentList | CatalogueFault {
  const file = checkFile(value, "agents", limits.signedAgentsMax, checkAgent);
  if (isCatalogueFault(file)) return file;
  const { version, entries: agents } = file;
  const urls = agents.map(({ url }) => url);
  const again = urls.findIndex((url, index) => urls.indexOf(url) !== index);
  return again === -1 ? { version, agents } : fault(`agents[${again}].url`, `is in the list twice: ${urls[again]}`);
}

/** The agents that come with verdictd (`agents.json`; sources in `SOURCES.md`). Reads and checks the file. */
export function shippedAgents(): SignedAgentList {
  const file: typeof shippedFile = JSON.parse(readAsset("src/bots/signed/agents.json").toString("utf8"));
  const list = checkAgentList(file);
  if (isCatalogueFault(list)) throw new Error(`the shipped list of agents is broken: ${list.message}`);
  return list;
}

function withoutDirectory(url: string): string {
  return url.endsWith(directoryPath) ? url.slice(0, -directoryPath.length) : url;
}
