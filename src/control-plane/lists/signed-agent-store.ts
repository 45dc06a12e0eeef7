/**
 * The agents whose signatures count and their keys: the imported list or the one that comes with verdictd, with what was added and taken
 * off since. A change raises the control plane's revision, by which every running server notices it.
 */

import { isCatalogueFault } from "../../bots/catalogue-file.js";
import { checkAgent, checkAgentList, shippedAgents } from "../../bots/signed/agents.js";
import { isKeySetFault, readKeySet } from "../../bots/signed/jwks.js";
import type {
  AgentFetch,
  AgentKeys,
  FetchedAgent,
  KeyedAgent,
  PublicJwk,
  SignedAgent,
  SignedAgentList,
} from "../../contract/bots/signed-agents.js";
import { type AuditValues, accountOfServer } from "../../contract/configuration/audit.js";
import { limits } from "../../limits.js";
import { recordControlPlane } from "../../store/control-plane-changes.js";
import { type SignedAgentKey, signedAgentKeys } from "../../store/keys.js";
import { readRevision, type Store } from "../../store/store.js";
import { type Audited, audited, changeAudited, unchanged } from "../logs/audit.js";

const { list: listKey, changes: changesKey, agent: agentKey, keys: keysKey, fetch: fetchKey } = signedAgentKeys;

/** An agent with all its data. */
export interface ListedAgent extends SignedAgent {
  readonly keys: AgentKeys | null;
  readonly fetch: AgentFetch | null;
}

/** What a change refuses. */
interface AgentRefusal {
  readonly message: string;
}

interface Snapshot {
  readonly list: SignedAgentList;
  readonly keyed: readonly KeyedAgent[];
}

/** Lists and keys are read again only after a change. An agent is known by the origin of its URL. */
export class SignedAgentStore {
  readonly #store: Store;
  readonly #readRevision: () => number;
  #revision = -1;
  #changes = -1;
  #current: Snapshot | null = null;

  /** `revision` as in `Credentials`. */
  constructor(store: Store, revision: () => number = () => readRevision(store)) {
    this.#store = store;
    this.#readRevision = revision;
  }

  /** Returns the current list: the same object until any process changes it or a key. */
  list(): SignedAgentList {
    return this.#read().list;
  }

  /** Its agents with their keys; the same array until one of them is another. */
  keyed(): readonly KeyedAgent[] {
    return this.#read().keyed;
  }

  /** Whether an imported list replaces the shipped one. */
  get isImported(): boolean {
    return this.#store.signedAgents.doesExist(listKey);
  }

  /** The agents as people look at them. */
  listed(): readonly ListedAgent[] {
    const table = this.#store.signedAgents;
    return this.#readList().agents.map((agent) => ({
      ...agent,
      keys: this.#keysOf(agent.url),
      fetch: (table.get(fetchKey(agent.url)) as AgentFetch | undefined) ?? null,
    }));
  }

  /** Adds a checked agent, or changes name and category of one that is listed. Its keys stay. */
  add(agent: SignedAgent): Promise<SignedAgent | AgentRefusal> {
    return this.#change<SignedAgent | AgentRefusal>(() => {
      const { agents } = this.#readList();
      if (agents.length >= limits.signedAgentsMax && !agents.some(({ url }) => url === agent.url)) {
        const message = `there are ${agents.length} agents already: at most ${limits.signedAgentsMax} are allowed`;
        return unchanged({ message });
      }
      this.#store.signedAgents.putSync(agentKey(agent.url), agent);
      const known = agents.find(({ url }) => url === agent.url);
      const before = known === undefined ? null : agentValues(known);
      return audited(agent, { ...ofAgent(agent.url), action: "signed_agent.added", before, after: agentValues(agent) });
    });
  }

  /** Removes an agent and its keys from the list. Returns null if it was not on it. */
  remove(url: string): Promise<SignedAgent | null> {
    return this.#change<SignedAgent | null>(() => {
      const agent = this.#readList().agents.find((each) => each.url === url);
      if (agent === undefined) return unchanged(null);
      this.#store.signedAgents.putSync(agentKey(url), null);
      this.#forget(url);
      return audited(agent, {
        ...ofAgent(url),
        action: "signed_agent.removed",
        before: agentValues(agent),
        after: null,
      });
    });
  }

  /** Replaces the current list with a checked one. Keeps the keys of agents that stay. */
  replace(list: SignedAgentList): Promise<{ readonly before: SignedAgentList; readonly after: SignedAgentList }> {
    return this.#change(() => {
      const table = this.#store.signedAgents;
      const before = this.#readList();
      const stay = new Set(list.agents.map(({ url }) => url));
      for (const { url } of before.agents) if (!stay.has(url)) this.#forget(url);
      for (const { key } of [...this.#overlay()]) table.removeSync(key);
      table.putSync(listKey, list);
      const values = ({ version, agents }: SignedAgentList) => ({ version, agents: agents.length });
      return audited(
        { before, after: list },
        {
          ...ofAgent(null),
          action: "signed_agents.imported",
          before: values(before),
          after: values(list),
        },
      );
    });
  }

  /** Replaces the keys of a listed agent by those that somebody gives; false when it is not listed (any more). */
  async importKeys(url: string, keys: readonly PublicJwk[], at: string): Promise<boolean> {
    if (!this.#isListed(url)) return false;
    return this.#change(() => {
      if (!this.#isListed(url)) return unchanged(false);
      const before = this.#keysOf(url);
      this.#store.signedAgents.putSync(keysKey(url), { keys, source: "imported", at } satisfies AgentKeys);
      return audited(true, {
        ...ofAgent(url),
        action: "signed_agent.keys_imported",
        before: before === null ? null : { keys: before.keys.length, at: before.at },
        after: { keys: keys.length, at },
      });
    });
  }

  /**
   * Stores the keys that were fetched, and how each fetch ended, in one change, because on a cluster each change waits for all nodes. Agents that are not
   * listed any more are left out. On one host it raises the revision only if keys have changed: nothing that is judged depends on the rest.
   */
  async setFetched(fetched: readonly FetchedAgent[]): Promise<void> {
    if (fetched.length === 0) return;
    const write = (): void => {
      for (const { url, at, keys, failure } of fetched) {
        if (!this.#isListed(url)) continue;
        if (keys !== null) {
          this.#store.signedAgents.putSync(keysKey(url), { keys, source: "fetched", at } satisfies AgentKeys);
        }
        this.#store.signedAgents.putSync(fetchKey(url), { at, failure } satisfies AgentFetch);
      }
    };
    const isNew = ({ url, keys }: FetchedAgent): boolean =>
      keys !== null && JSON.stringify(this.#keysOf(url)?.keys) !== JSON.stringify(keys);
    if (!fetched.some(isNew)) await recordControlPlane(this.#store, write);
    else {
      await this.#change(() => {
        write();
        // The keys come from the agents themselves: nobody here decided on them.
        return unchanged(undefined);
      });
    }
  }

  #isListed(url: string): boolean {
    return this.#readList().agents.some((each) => each.url === url);
  }

  #read(): Snapshot {
    const revision = this.#readRevision();
    if (this.#current !== null && revision === this.#revision) return this.#current;
    const changes = this.#readChanges();
    if (this.#current === null || changes !== this.#changes) {
      const list = this.#readList();
      this.#current = {
        list,
        keyed: list.agents.map((agent) => ({ ...agent, keys: this.#keysOf(agent.url)?.keys ?? [] })),
      };
    }
    this.#revision = revision;
    this.#changes = changes;
    return this.#current;
  }

  #change<T>(change: () => Audited<T>): Promise<T> {
    return changeAudited(this.#store, Date.now, () => {
      const made = change();
      this.#store.signedAgents.putSync(changesKey, this.#readChanges() + 1);
      return made;
    });
  }

  #forget(url: string): void {
    this.#store.signedAgents.removeSync(keysKey(url));
    this.#store.signedAgents.removeSync(fetchKey(url));
  }

  #readChanges(): number {
    return (this.#store.signedAgents.get(changesKey) as number | undefined) ?? 0;
  }

  #keysOf(url: string): AgentKeys | null {
    return (this.#store.signedAgents.get(keysKey(url)) as AgentKeys | undefined) ?? null;
  }

  #overlay() {
    return this.#store.signedAgents.getRange({ start: agentKey(""), end: agentKey("\uffff") });
  }

  /** Only checked agents are stored. */
  #readList(): SignedAgentList {
    const base = (this.#store.signedAgents.get(listKey) as SignedAgentList | undefined) ?? shipped();
    const byUrl = new Map(base.agents.map((agent) => [agent.url, agent]));
    let changed = 0;
    for (const { key, value } of this.#overlay()) {
      changed++;
      if (value === null) byUrl.delete(key[1]!);
      else byUrl.set(key[1]!, value as SignedAgent);
    }
    const version = changed === 0 ? base.version : `${base.version}+${changed}`;
    return { version, agents: [...byUrl.values()] };
  }
}

/** As the log of changes has it; null: the list as a whole. */
const ofAgent = (url: string | null) => ({
  accountId: accountOfServer,
  projectId: null,
  subject: url === null ? "signed agents" : `signed agent ${url}`,
});

const agentValues = ({ name, category }: SignedAgent): AuditValues => ({ name, category });

/** What is wrong with a row of the table `signed_agents`, for the integrity check. */
export function signedAgentRowFault(value: unknown, key: SignedAgentKey): string | null {
  if (!Array.isArray(key)) {
    const list = checkAgentList(value);
    return isCatalogueFault(list) ? list.message : null;
  }
  const [kind, url] = key;
  if (kind === "keys") {
    const keys = readKeySet(value);
    return isKeySetFault(keys)
      ? keys.message
      : keys.length === (value as AgentKeys).keys.length
        ? null
        : "a key is broken";
  }
  if (kind === "fetch") return typeof (value as AgentFetch).at === "string" ? null : "has no time";
  if (value === null) return null;
  const agent = checkAgent(value, "agent");
  return isCatalogueFault(agent) ? agent.message : agent.url === url ? null : `holds ${agent.url}`;
}

let shippedList: SignedAgentList | null = null;

function shipped(): SignedAgentList {
  shippedList ??= shippedAgents();
  return shippedList;
}
