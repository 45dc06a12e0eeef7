/**
 * Who is asking: resolves site keys, private keys and account tokens to what they stand for. Answers are memoised by the control
 * plane's revision, so a rotated key or revoked token is refused from the next request on, in every thread and process.
 */

import { LRUCache } from "lru-cache";
import type { Account, AccountToken, KeyKind, Membership, Project, User } from "../contract/configuration/entities.js";
import { testOutcomeOf } from "../contract/configuration/test-keys.js";
import { type Refusal, refuse } from "../errors.js";
import { limits } from "../limits.js";
import { readRevision, type Store } from "../store/store.js";
import { hashSecret, privateKeyPrefix, siteKeyPrefix } from "./secrets.js";

/** The project behind a site or private key, with its owner. */
export interface AuthenticatedKey {
  readonly project: Project;
  readonly account: Account;
}

/** Who holds an account token. `account`, `user`, `membership` are null where they no longer exist: the token is not bound then. */
export interface TokenHolder {
  readonly token: AccountToken;
  readonly user: User | null;
  readonly account: Account | null;
  readonly membership: Membership | null;
}

const prefixes: Record<KeyKind, string> = { site: siteKeyPrefix, private: privateKeyPrefix };
const needsKey: Record<KeyKind, Refusal> = {
  site: refuse("unauthenticated", "a valid site key is required"),
  private: refuse("unauthenticated", "a valid private key is required"),
};
/** What the owner of a key is told that stands where the other one belongs. */
const otherKey: Record<KeyKind, Refusal> = {
  site: refuse(
    "unauthenticated",
    "this is a private key (sk_…), which must never be in a page: replace it, and use the site key (pk_…) here",
  ),
  private: refuse(
    "unauthenticated",
    "this is a site key (pk_…), which belongs in the page: use the private key (sk_…) here",
  ),
};
const noTestKeys = refuse("unauthenticated", "this is a test key: it works while the server runs with --test-keys");
/** What the data plane, and routes that need a subscription, answer an account without one. */
export const noSubscription = refuse("noActiveSubscription", "the account has no active subscription");
/** Longer than any secret minted here; what is longer is refused unhashed. */
const secretCharactersMax = 128;

/** What a key stands for, and until when, ms. */
interface ReadKey {
  readonly holder: AuthenticatedKey;
  readonly untilMs: number;
}

/** What the store knows of a secret: null for one that is wrong. */
interface Known<T> {
  readonly found: T | null;
}

/** Guesses must not fill the memory: those that nobody repeats go first. */
const guessesBounded = { max: limits.credentialMemoMax };

/** The look-ups of one thread. An answer that is remembered costs a look at the revision and no other read of the store. */
export class Credentials {
  readonly #store: Store;
  readonly #readRevision: () => number;
  readonly #now: () => number;
  #revision = -1;
  /** What was asked for last, by kind: reads and batches come mixed. */
  readonly #latest: Readonly<Record<KeyKind, LatestKey>> = { site: new LatestKey(), private: new LatestKey() };
  readonly #keys = new LRUCache<string, Known<ReadKey>>(guessesBounded);
  readonly #tokenHolders = new LRUCache<string, Known<TokenHolder>>(guessesBounded);

  /** `revision` tells the control plane's revision of now; read from the store each time unless the caller knows better. */
  constructor(store: Store, revision: () => number = () => readRevision(store), now: () => number = Date.now) {
    this.#store = store;
    this.#now = now;
    this.#readRevision = revision;
  }

  /** The holder of a valid key of this kind; null for one that is missing, malformed, ended or of the other kind. */
  authenticatedKey(kind: KeyKind, key: string): AuthenticatedKey | null {
    if (!key.startsWith(prefixes[kind]) || key.length > secretCharactersMax) return null;
    this.#refresh();
    // A key that comes again and again is compared faster than it is hashed, which each request's new string would have to be.
    const latest = this.#latest[kind];
    if (latest.is(key)) return this.#holderOf(latest.read);
    let known = this.#keys.get(key);
    if (known === undefined) {
      known = { found: this.#readKey(kind, key) };
      this.#keys.set(key, known);
    }
    latest.set(key, known.found);
    return this.#holderOf(known.found);
  }

  /** The holder of a valid key whose account has an active subscription, or why there is none: `unauthenticated`, `noActiveSubscription`. */
  subscribedKey(kind: KeyKind, key: string): AuthenticatedKey | Refusal {
    const holder = this.authenticatedKey(kind, key);
    if (holder === null) {
      if (key.startsWith(prefixes[kind === "site" ? "private" : "site"])) return otherKey[kind];
      return testOutcomeOf(key) === undefined ? needsKey[kind] : noTestKeys;
    }
    return holder.account.subscription === "active" ? holder : noSubscription;
  }

  /** Null once the key has ended. The clock is asked for rotated keys only. */
  #holderOf(read: ReadKey | null): AuthenticatedKey | null {
    if (read === null) return null;
    return read.untilMs === Number.POSITIVE_INFINITY || this.#now() < read.untilMs ? read.holder : null;
  }

  /** The holder of a valid account token; null for one that is missing, malformed or revoked. */
  tokenHolder(secret: string): TokenHolder | null {
    if (secret.length === 0 || secret.length > secretCharactersMax) return null;
    this.#refresh();
    let known = this.#tokenHolders.get(secret);
    if (known === undefined) {
      known = { found: this.#readTokenHolder(secret) };
      this.#tokenHolders.set(secret, known);
    }
    return known.found;
  }

  #refresh(): void {
    const revision = this.#readRevision();
    if (revision === this.#revision) return;
    this.#revision = revision;
    this.#latest.site.forget();
    this.#latest.private.forget();
    this.#keys.clear();
    this.#tokenHolders.clear();
  }

  #readKey(kind: KeyKind, key: string): ReadKey | null {
    const owner = this.#store.keys.get(hashSecret(key));
    if (owner === undefined || owner.kind !== kind) return null;
    const project = this.#store.projects.get(owner.projectId);
    const account = project && this.#store.accounts.get(project.accountId);
    if (project === undefined || account === undefined) return null;
    const testOutcome = testOutcomeOf(key);
    const found = testOutcome === undefined ? project : { ...project, testOutcome };
    return { holder: { project: found, account }, untilMs: owner.untilMs ?? Number.POSITIVE_INFINITY };
  }

  #readTokenHolder(secret: string): TokenHolder | null {
    const id = this.#store.tokenHashes.get(hashSecret(secret));
    const token = id === undefined ? undefined : this.#store.tokens.get(id);
    if (token === undefined) return null;
    return {
      token,
      user: this.#store.users.get(token.userId) ?? null,
      account: this.#store.accounts.get(token.accountId) ?? null,
      membership:
        token.isUnbound === true ? null : (this.#store.memberships.get([token.accountId, token.userId]) ?? null),
    };
  }
}

/**
 * The key that was asked for last, and what it stands for. Compares in a time that says nothing of how far a guess is right. Copying the guess into a
 * buffer first takes a fifth of the time of reading it character by character, each time by its representation in V8.
 */
class LatestKey {
  readonly #bytes = newKeyBytes();
  /** Bytes; 0 for no key. */
  #length = 0;
  read: ReadKey | null = null;

  /** `guess` has 1 to `secretCharactersMax` characters. Only ASCII is recognised: the keys minted here are. */
  is(guess: string): boolean {
    if (guess.length !== this.#length || guessed.write(guess) !== this.#length) return false;
    let difference = 0;
    for (let at = 0; at < this.#length; at++) difference |= this.#bytes[at]! ^ guessed[at]!;
    return difference === 0;
  }

  set(key: string, read: ReadKey | null): void {
    this.#length = this.#bytes.write(key);
    this.read = read;
  }

  forget(): void {
    this.#length = 0;
    this.read = null;
  }
}

/** UTF-8 has at most three bytes for a character of JavaScript. */
const newKeyBytes = (): Buffer => Buffer.alloc(3 * secretCharactersMax);
const guessed = newKeyBytes();
