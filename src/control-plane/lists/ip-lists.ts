/**
 * The operator's own lists of addresses. The command line imports, lists and removes them; verdicts look addresses up. They apply to all accounts. A
 * change raises the control plane's revision, so that running servers notice it.
 */
import { accountOfServer } from "../../contract/configuration/audit.js";
import type { IpListRecord } from "../../contract/configuration/ip-lists.js";
import { Refusal, refuse } from "../../errors.js";
import { limits } from "../../limits.js";
import { parseAddressWords } from "../../net/parsed-address.js";
import { createIpListIndex, type IpListIndex } from "../../network/ip-list-index.js";
import { metaKeys } from "../../store/keys.js";
import { readRevision, type Store } from "../../store/store.js";
import { type Audited, audited, changeAudited } from "../logs/audit.js";

/** A list without its addresses: how many entries it has, and when it was imported (ISO-8601). */
export interface IpListSummary {
  readonly name: string;
  readonly count: number;
  readonly importedAt: string;
}

const ofList = (name: string) => ({ accountId: accountOfServer, projectId: null, subject: `list "${name}"` });

const none: readonly string[] = Object.freeze([]);

/** Looks a visitor's address up in memory; lists are read again from the store when one was changed. */
export class IpLists {
  readonly #store: Store;
  readonly #asnOf: (address: string) => number | undefined;
  readonly #readRevision: () => number;
  #revision = -1;
  #changes = -1;
  #indexes: readonly IpListIndex[] = [];

  /** `asnOf` tells the autonomous system of an address, for lists that name some; `revision` as in `Credentials`. */
  constructor(
    store: Store,
    asnOf: (address: string) => number | undefined = () => undefined,
    revision: () => number = () => readRevision(store),
  ) {
    this.#store = store;
    this.#asnOf = asnOf;
    this.#readRevision = revision;
  }

  /** Returns the names of the lists with the address, in order; none for an invalid address. IPv4-mapped IPv6 counts as IPv4. */
  namesOf(address: string): readonly string[] {
    const indexes = this.#current();
    if (indexes.length === 0) return none;
    const asn = indexes.some(({ hasAsns }) => hasAsns) ? this.#asnOf(address) : undefined;
    const parsed = parseAddressWords(address);
    if (parsed === null) return none;
    const names: string[] = [];
    for (const index of indexes) if (index.has(parsed, asn)) names.push(index.name);
    return names.length === 0 ? none : names;
  }

  /** In the order of their names. */
  list(): IpListSummary[] {
    return [...this.#store.ipLists.getRange({})].map(({ key, value }) => ({
      name: key,
      count: value.count,
      importedAt: value.importedAt,
    }));
  }

  /** Adds the list, or replaces the one of the same name. Refused for an invalid name and for too many lists. */
  async put(name: string, list: Omit<IpListRecord, "importedAt">, nowMs: number): Promise<IpListSummary | Refusal> {
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name) || name.length > limits.ipListNameMax) {
      return refuse(
        "invalidPayload",
        `the name of a list has 1 to ${limits.ipListNameMax} letters, digits, dots, hyphens and underscores, a letter or digit first`,
      );
    }
    const importedAt = new Date(nowMs).toISOString();
    return this.#change(() => {
      const { ipLists } = this.#store;
      const before = ipLists.get(name);
      if (before === undefined && ipLists.getKeysCount({}) >= limits.ipListsMax) {
        return refuse("invalidPayload", `there are ${limits.ipListsMax} lists: remove one first`);
      }
      ipLists.putSync(name, { ...list, importedAt });
      return audited(
        { name, count: list.count, importedAt },
        {
          ...ofList(name),
          action: "ip_list.imported",
          before: before === undefined ? null : { entries: before.count, imported_at: before.importedAt },
          after: { entries: list.count, imported_at: importedAt },
        },
      );
    });
  }

  /** The list that was removed. */
  async remove(name: string): Promise<IpListSummary | Refusal> {
    return this.#change(() => {
      const list = this.#store.ipLists.get(name);
      if (list === undefined) return refuse("notFound", `there is no list ${JSON.stringify(name)}`);
      this.#store.ipLists.removeSync(name);
      const { count, importedAt } = list;
      return audited(
        { name, count, importedAt },
        {
          ...ofList(name),
          action: "ip_list.removed",
          before: { entries: count, imported_at: importedAt },
          after: null,
        },
      );
    });
  }

  #change(change: () => Audited<IpListSummary> | Refusal): Promise<IpListSummary | Refusal> {
    return changeAudited(this.#store, Date.now, () => {
      const made = change();
      if (!(made instanceof Refusal)) this.#store.meta.putSync(metaKeys.ipListChanges, this.#readChanges() + 1);
      return made;
    });
  }

  /** The current lists; built again only after any process changed one. */
  #current(): readonly IpListIndex[] {
    const revision = this.#readRevision();
    if (revision === this.#revision) return this.#indexes;
    const changes = this.#readChanges();
    if (changes !== this.#changes) {
      this.#indexes = [...this.#store.ipLists.getRange({})].map(({ key, value }) => createIpListIndex(key, value));
    }
    this.#revision = revision;
    this.#changes = changes;
    return this.#indexes;
  }

  #readChanges(): number {
    return this.#store.meta.get(metaKeys.ipListChanges) ?? 0;
  }
}
