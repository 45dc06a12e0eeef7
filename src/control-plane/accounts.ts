/** Accounts, users, memberships and account tokens: made and changed here for the command line, read for the API. */
import { hashSecret, mintAccountToken } from "../auth/secrets.js";
import { tokenAbilities } from "../contract/control.js";
import type { Account, AccountToken, Membership, Role, SubscriptionState, User } from "../contract/entities.js";
import { type Refusal, refuse } from "../errors.js";
import { limits } from "../limits.js";
import { monthOf } from "../store/keys.js";
import { changeControlPlane, nextId, type Store } from "../store/store.js";
import { changeAudited } from "./audit.js";

export interface NewAccount {
  readonly name: string;
  readonly slug: string;
  readonly plan: string;
  readonly isPersonal: boolean;
  readonly subscription: SubscriptionState;
}

export interface NewToken {
  readonly accountId: number;
  readonly userId: number;
  /** `*` is everything the holder's role permits. */
  readonly abilities: readonly string[];
}

const slugForm = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const emailForm = /^[^\s@]+@[^\s@]+$/;

export class Accounts {
  readonly #store: Store;
  readonly #now: () => number;

  constructor(store: Store, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  get isEmpty(): boolean {
    return this.#store.accounts.getCount() === 0;
  }

  async createAccount(account: NewAccount): Promise<Account | Refusal> {
    const fault =
      nameFault(account.name) ??
      (slugForm.test(account.slug) && account.slug.length <= limits.nameMax ? null : slugFault);
    if (fault !== null) return fault;
    return changeControlPlane(this.#store, () => {
      if (this.#store.slugs.get(account.slug) !== undefined) {
        return refuse("conflict", `the slug "${account.slug}" is taken`);
      }
      const created: Account = { id: nextId(this.#store, "account"), ...account, createdAt: this.#timestamp() };
      this.#store.accounts.putSync(created.id, created);
      this.#store.slugs.putSync(created.slug, created.id);
      return created;
    });
  }

  async changeAccount(
    id: number,
    change: { plan?: string | undefined; subscription?: SubscriptionState | undefined },
  ): Promise<Account | Refusal> {
    return changeAudited(this.#store, this.#now, (record) => {
      const account = this.#store.accounts.get(id);
      if (account === undefined) return unknown("account", id);
      const changed: Account = {
        ...account,
        plan: change.plan ?? account.plan,
        subscription: change.subscription ?? account.subscription,
      };
      this.#store.accounts.putSync(id, changed);
      const values = ({ plan, subscription }: Account) => ({ plan, subscription });
      const what = {
        accountId: id,
        projectId: null,
        action: "account.changed",
        subject: `account "${account.name}"`,
      } as const;
      record({ ...what, before: values(account), after: values(changed) });
      return changed;
    });
  }

  async createUser(name: string, email: string): Promise<User | Refusal> {
    const fault = nameFault(name);
    if (fault !== null) return fault;
    if (!emailForm.test(email) || email.length > limits.nameMax) {
      return refuse("invalidPayload", `"${email}" is not an e-mail address`);
    }
    return changeControlPlane(this.#store, () => {
      if (this.#store.emails.get(email.toLowerCase()) !== undefined) {
        return refuse("conflict", `the e-mail "${email}" is taken`);
      }
      const created: User = { id: nextId(this.#store, "user"), name, email, createdAt: this.#timestamp() };
      this.#store.users.putSync(created.id, created);
      this.#store.emails.putSync(email.toLowerCase(), created.id);
      return created;
    });
  }

  /** Makes the user a member of the account, or changes the role. */
  async setMember(accountId: number, userId: number, role: Role): Promise<Membership | Refusal> {
    return changeAudited(this.#store, this.#now, (record) => {
      const fault = this.#missing(accountId, userId);
      if (fault !== null) return fault;
      const before = this.roleOf(accountId, userId);
      const membership: Membership = { accountId, userId, role };
      this.#store.memberships.putSync([accountId, userId], membership);
      const what = { accountId, projectId: null, action: "member.set", subject: this.#nameOf(userId) } as const;
      record({ ...what, before: before === null ? null : { role: before }, after: { role } });
      return membership;
    });
  }

  async removeMember(accountId: number, userId: number): Promise<Membership | Refusal> {
    return changeAudited(this.#store, this.#now, (record) => {
      const membership = this.#store.memberships.get([accountId, userId]);
      if (membership === undefined) return refuse("notFound", `user ${userId} is no member of account ${accountId}`);
      this.#store.memberships.removeSync([accountId, userId]);
      const what = { accountId, projectId: null, action: "member.removed", subject: this.#nameOf(userId) } as const;
      record({ ...what, before: { role: membership.role }, after: null });
      return membership;
    });
  }

  /** The token's record and its secret, which is told this once. */
  async createToken(request: NewToken): Promise<{ token: AccountToken; secret: string } | Refusal> {
    const odd = request.abilities.find((ability) => !tokenAbilities.some((known) => known === ability));
    if (odd !== undefined || request.abilities.length === 0) {
      return refuse("invalidPayload", `abilities are ${tokenAbilities.join(", ")}, not "${odd ?? ""}"`);
    }
    const secret = mintAccountToken();
    return changeAudited(this.#store, this.#now, (record) => {
      const { accountId, userId } = request;
      const fault = this.#missing(accountId, userId);
      if (fault !== null) return fault;
      if (this.#store.memberships.get([accountId, userId]) === undefined) {
        return refuse("conflict", `user ${userId} is no member of account ${accountId}`);
      }
      const token: AccountToken = {
        id: nextId(this.#store, "token"),
        accountId,
        userId,
        hash: hashSecret(secret),
        abilities: [...request.abilities],
        createdAt: this.#timestamp(),
      };
      this.#store.tokens.putSync(token.id, token);
      this.#store.tokenHashes.putSync(token.hash, token.id);
      record({ ...this.#ofToken(token), action: "token.created", before: null, after: { abilities: token.abilities } });
      return { token, secret };
    });
  }

  /** The account's tokens, oldest first, each with its user (null: gone). Walks the table: the tokens of every account. */
  tokensOf(accountId: number): { readonly token: AccountToken; readonly user: User | null }[] {
    const range = this.#store.tokens.getRange({}).filter(({ value }) => value.accountId === accountId);
    return [...range].map(({ value }) => ({ token: value, user: this.#store.users.get(value.userId) ?? null }));
  }

  findToken(id: number): AccountToken | null {
    return this.#store.tokens.get(id) ?? null;
  }

  /** The user's role on the account; null when not a member. */
  roleOf(accountId: number, userId: number): Role | null {
    return this.#store.memberships.get([accountId, userId])?.role ?? null;
  }

  /** Events accepted from the account in the calendar month (UTC) of `atMs`. */
  async eventsInMonth(accountId: number, atMs: number): Promise<{ readonly month: string; readonly events: number }> {
    const month = monthOf(atMs);
    return { month, events: await this.#store.counts.eventsInMonth(accountId, month) };
  }

  async revokeToken(id: number): Promise<AccountToken | Refusal> {
    return changeAudited(this.#store, this.#now, (record) => {
      const token = this.#store.tokens.get(id);
      if (token === undefined) return unknown("token", id);
      this.#store.tokens.removeSync(id);
      this.#store.tokenHashes.removeSync(token.hash);
      record({ ...this.#ofToken(token), action: "token.revoked", before: { abilities: token.abilities }, after: null });
      return token;
    });
  }

  #nameOf(userId: number): string {
    return `user ${userId} "${this.#store.users.get(userId)?.name ?? ""}"`;
  }

  #ofToken({ id, accountId, userId }: AccountToken) {
    return { accountId, projectId: null, subject: `token ${id} of ${this.#nameOf(userId)}` };
  }

  #missing(accountId: number, userId: number): Refusal | null {
    if (this.#store.accounts.get(accountId) === undefined) return unknown("account", accountId);
    if (this.#store.users.get(userId) === undefined) return unknown("user", userId);
    return null;
  }

  #timestamp(): string {
    return new Date(this.#now()).toISOString();
  }
}

const slugFault = refuse(
  "invalidPayload",
  "a slug is lower-case letters, digits and single hyphens, at most 255 characters",
);

function nameFault(name: string): Refusal | null {
  const length = name.trim().length;
  return length > 0 && name.length <= limits.nameMax
    ? null
    : refuse("invalidPayload", `a name has 1 to ${limits.nameMax} characters`);
}

function unknown(kind: string, id: number): Refusal {
  return refuse("notFound", `there is no ${kind} ${id}`);
}
