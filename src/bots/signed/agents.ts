/**
 * The allow-list of agents: checks lists and addresses, and loads the one that comes with verdictd. Whoever is on it and signs is let in
 * unseen, so one bad entry refuses the whole list.
 */
import { readAsset } from "../../assets.js";
import { botCategories } from "../../contract/bots/bot-categories.js";
import type { SignedAgent, SignedAgentList } from "../../contract/bots/signed-agents.js";
import { limits } from "../../limits.js";
// Only for the compiler, which then copies the file beside the compiled module; it is read below, when it is asked for.
import type shippedFile from "./agents.json";

/** Where an agent's keys are, by the draft for Web Bot Auth (draft-meunier-http-message-signatures-directory). */
export const directoryPath = "/.well-known/http-message-signatures-directory";

/** Why a list or an agent is refused. */
interface AgentFault {
  /** One line that names the place and what was expected. */
  readonly message: string;
}

/** Tells a fault from a list or an agent. */
export function isAgentFault(value: object): value is AgentFault {
  return "message" in value;
}

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
export function checkAgent(value: unknown, at: string): SignedAgent | AgentFault {
  if (!isRecord(value)) return { message: `${at} must be an object {url, name, category}` };
  const { url, name, category } = value;
  const origin = typeof url === "string" ? agentOrigin(withoutDirectory(url)) : null;
  if (origin === null)
    return { message: `${at}.url must be an https address without a path, such as https://chatgpt.com` };
  if (!isLine(name, limits.nameMax)) {
    return { message: `${at}.name must be a text of 1 to ${limits.nameMax} characters, without spaces around it` };
  }
  const known = botCategories.find((each) => each === category);
  if (known === undefined) return { message: `${at}.category must be one of ${botCategories.join(", ")}` };
  return { url: origin, name, category: known };
}

/** The list with addresses in canonical spelling, or the first fault. Unknown keys are ignored; an empty list trusts nobody. */
export function checkAgentList(value: unknown): SignedAgentList | AgentFault {
  if (!isRecord(value)) return { message: "the list must be an object {version, agents}" };
  const { version, agents } = value;
  if (!isLine(version, limits.catalogueVersionMax)) {
    return { message: `version must be a text of 1 to ${limits.catalogueVersionMax} characters` };
  }
  if (!Array.isArray(agents)) return { message: "agents must be a list" };
  if (agents.length > limits.signedAgentsMax) {
    return { message: `agents has ${agents.length} entries: at most ${limits.signedAgentsMax} are allowed` };
  }
  const byUrl = new Map<string, SignedAgent>();
  for (const [index, each] of agents.entries()) {
    const agent = checkAgent(each, `agents[${index}]`);
    if (isAgentFault(agent)) return agent;
    if (byUrl.has(agent.url)) return { message: `agents[${index}].url: ${agent.url} is in the list twice` };
    byUrl.set(agent.url, agent);
  }
  return { version, agents: [...byUrl.values()] };
}

/** The agents that come with verdictd (`agents.json`; sources in `SOURCES.md`). Reads and checks the file. */
export function shippedAgents(): SignedAgentList {
  const file: typeof shippedFile = JSON.parse(readAsset("src/bots/signed/agents.json").toString("utf8"));
  const list = checkAgentList(file);
  if (isAgentFault(list)) throw new Error(`the shipped list of agents is broken: ${list.message}`);
  return list;
}

function withoutDirectory(url: string): string {
  return url.endsWith(directoryPath) ? url.slice(0, -directoryPath.length) : url;
}

/** A text of one line, without white space around it: names are printed. */
function isLine(value: unknown, lengthMax: number): value is string {
  if (typeof value !== "string" || value.length === 0 || value.length > lengthMax) return false;
  return value === value.trim() && !/\p{Cc}/u.test(value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
