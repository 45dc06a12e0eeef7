/** Accounts, users, memberships and account tokens. The command line creates and changes them here; the API reads them. */
import { isAbove, type TokenPowers } from "../../auth/abilities.js";
import { hashSecret, mintAccountToken } from "../../auth/secrets.js";
import { type AuditValues, accountOfServer } from "../../contract/configuration/audit.js";
import { tokenAbilities } from "../../contract/configuration/control.js";
import type {
  Account,
  AccountToken,
  Membership,
  Role,
  SubscriptionState,
  User,
} from "../../contract/configuration/entities.js";
import { Refusal, refuse } from "../../errors.js";
import { limits } from "../../limits.js";
import { type AccountRow, accountRows, countOfAccount, putToken, removeToken } from "../../store/account-rows.js";
import { monthOf } from "../../store/keys.js";
import { nextId, type Store } from "../../store/store.js";
import { type Audited, audited, changeAudited } from "../logs/audit.js";

/** An account to create; its slug must be free, and its plan is a name of `plans.ts`. */
interface NewAccount {
  readonly name: string;
  readonly slug: string;
  readonly plan: string;
  readonly isPersonal: boolean;
  readonly subscription: SubscriptionState;
}

/** A token to create, for a user who is a member of the account. */
interface NewToken {
  readonly accountId: number;
  readonly userId: number;
  /** `*` is everything the holder's role permits. */
  readonly abilities: readonly string[];
  /** The purpose of the token, in its creator's words; "" for none. */
  readonly name?: string;
}

/** A user with the role on the account that was asked about. */
interface Member {
  readonly user: User;
  readonly role: Role;
}

/** What a change of a member is refused for. */
interface MemberGuards {
  /** The account must keep an owner. */
  readonly keepsOwner?: boolean;
  /** Who asks; absent: whoever runs the server. */
  readonly by?: TokenPowers;
}

/** A user to create together with membership and first token; the e-mail address must be new to the server. */
interface NewMember {
  readonly accountId: number;
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  /** Of the first token. */
  readonly abilities: readonly string[];
}

const slugForm = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const emailForm = /^[^\s@]+@[^\s@]+$/;

/**
 * Refuses `notFound` for unknown ids, `conflict` for taken names, too many rows or the last owner, and `invalidPayload` for bad values. Every change is
 * logged.
 */
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

  /** Every account, oldest first. */
  all(): Account[] {
    return [...this.#store.accounts.getRange({})].map(({ value }) => value);
  }

  async createAccount(account: NewAccount): Promise<Account | Refusal> {
    const fault =
      nameFault(account.name) ??
      (slugForm.test(account.slug) && account.slug.length <= limits.nameMax ? null : slugFault);
    if (fault !== null) return fault;
    return changeAudited(this.#store, this.#now, () => {
      if (this.#store.slugs.get(account.slug) !== undefined) {
        return refuse("conflict", `the slug "${account.slug}" is taken`);
      }
      const created: Account = { id: nextId(this.#store, "account"), ...account, createdAt: this.#timestamp() };
      this.#store.accounts.putSync(created.id, created);
      this.#store.slugs.putSync(created.slug, created.id);
      const { name, slug, plan, subscription, isPersonal } = created;
      return audited(created, {
        ...ofAccount(created),
        action: "account.created",
        before: null,
        after: { name, slug, plan, subscription, is_personal: isPersonal },
      });
    });
  }

  async changeAccount(
    id: number,
    change: { plan?: string | undefined; subscription?: SubscriptionState | undefined },
  ): Promise<Account | Refusal> {
    return changeAudited(this.#store, this.#now, () => {
      const account = this.#store.accounts.get(id);
      if (account === undefined) return unknown("account", id);
      const changed: Account = {
        ...account,
        plan: change.plan ?? account.plan,
        subscription: change.subscription ?? account.subscription,
      };
      this.#store.accounts.putSync(id, changed);
      const values = ({ plan, subscription }: Account) => ({ plan, subscription });
      return audited(changed, {
        ...ofAccount(account),
        action: "account.changed",
        before: values(account),
        after: values(changed),
      });
    });
  }

  async createUser(name: string, email: string): Promise<User | Refusal> {
    return nameFault(name) ?? changeAudited(this.#store, this.#now, () => this.#putUser(name, email, accountOfServer));
  }

  /**
   * Makes the user a member of the account, or changes the role. With `keepsOwner`, refuses to leave the account without an owner; with `by`, to lower the
   * role of somebody who has a token above that.
   */
  async setMember(
    accountId: number,
    userId: number,
    role: Role,
    { keepsOwner = false, by }: MemberGuards = {},
  ): Promise<Membership | Refusal> {
    return changeAudited(this.#store, this.#now, () => {
      const fault = this.#missing(accountId, userId);
      if (fault !== null) return fault;
      if (keepsOwner && role !== "owner" && this.#isLastOwner(accountId, userId)) return lastOwner;
      const before = this.roleOf(accountId, userId);
      const isLower = before !== null && isAbove({ abilities: [], role: before }, { abilities: [], role });
      if (isLower && this.#hasTokenAbove(accountId, userId, by)) return beyondReach;
      return this.#putMember(accountId, userId, role);
    });
  }

  /** Guards as in `setMember`. The user's tokens lose the account for good. */
  async removeMember(
    accountId: number,
    userId: number,
    { keepsOwner = false, by }: MemberGuards = {},
  ): Promise<Membership | Refusal> {
    return changeAudited(this.#store, this.#now, () => {
      const membership = this.#store.memberships.get([accountId, userId]);
      if (membership === undefined) return refuse("notFound", `user ${userId} is no member of account ${accountId}`);
      if (keepsOwner && this.#isLastOwner(accountId, userId)) return lastOwner;
      if (this.#hasTokenAbove(accountId, userId, by)) return beyondReach;
      this.#store.memberships.removeSync([accountId, userId]);
      this.#unbindTokens(accountId, userId);
      return audited(membership, {
        accountId,
        projectId: null,
        action: "member.removed",
        subject: this.#nameOf(userId),
        before: { role: membership.role },
        after: null,
      });
    });
  }

  /** Creates a user, who becomes a member of the account, and a first token. Returns its secret, which is shown only once. All of it or nothing. */
  async addMember(member: NewMember): Promise<{ readonly user: User; readonly secret: string } | Refusal> {
    const fault = nameFault(member.name) ?? abilitiesFault(member.abilities);
    if (fault !== null) return fault;
    const { accountId, name, email, role, abilities } = member;
    const secret = mintAccountToken();
    return changeAudited(this.#store, this.#now, () => {
      if (this.memberCount(accountId) >= limits.membersPerAccountMax) {
        return refuse("conflict", `the account has ${limits.membersPerAccountMax} members: remove one first`);
      }
      const isMember = this.membersOf(accountId).some(({ user }) => user.email.toLowerCase() === email.toLowerCase());
      if (isMember) return refuse("conflict", `a member of the account has the e-mail "${email}"`);
      const user = this.#putUser(name, email, accountId);
      if (user instanceof Refusal) return user;
      const userId = user.result.id;
      const set = this.#putMember(accountId, userId, role);
      const token = this.#putToken({ accountId, userId, abilities, name: "First token" }, secret);
      const [first, ...further] = [...user.changes, ...set.changes, ...token.changes];
      return audited({ user: user.result, secret }, first!, ...further);
    });
  }

  /** Creates a token, of at most `tokensMax` in the account. Returns its record and its secret, which is shown only once. */
  async createToken(
    request: NewToken,
    tokensMax = Number.POSITIVE_INFINITY,
  ): Promise<{ token: AccountToken; secret: string } | Refusal> {
    const fault = abilitiesFault(request.abilities) ?? tokenNameFault(request.name ?? "");
    if (fault !== null) return fault;
    const secret = mintAccountToken();
    return changeAudited(this.#store, this.#now, () => {
      const { accountId, userId } = request;
      const fault = this.#missing(accountId, userId);
      if (fault !== null) return fault;
      if (this.#store.memberships.get([accountId, userId]) === undefined) {
        return refuse("conflict", `user ${userId} is no member of account ${accountId}`);
      }
      if (countOfAccount(this.#store, "token", accountId) >= tokensMax) {
        return refuse("conflict", `the account has ${tokensMax} tokens: revoke one first`);
      }
      const { result, changes } = this.#putToken(request, secret);
      return { result: { token: result, secret }, changes };
    });
  }

  /** By user id; a user who no longer exists is left out. */
  membersOf(accountId: number): Member[] {
    const rows = this.#store.memberships.getRange({ start: [accountId, 0], end: [accountId + 1, 0] });
    return [...rows].flatMap(({ value: { userId, role } }) => {
      const user = this.#store.users.get(userId);
      return user === undefined ? [] : [{ user, role }];
    });
  }

  /** Up to `count` members with user ids above `after`, by user id. */
  membersAfter(accountId: number, after: number, count: number): Member[] {
    const range = { start: [accountId, after + 1] as [number, number], end: [accountId + 1, 0] as [number, number] };
    return [...this.#store.memberships.getRange({ ...range, limit: count })].flatMap(({ value: { userId, role } }) => {
      const user = this.#store.users.get(userId);
      return user === undefined ? [] : [{ user, role }];
    });
  }

  /** How many members the account has. */
  memberCount(accountId: number): number {
    return this.#store.memberships.getKeysCount({ start: [accountId, 0], end: [accountId + 1, 0] });
  }

  /** Ids of the account's tokens, the lowest first, with those of their users. Reads as far as it is asked. */
  tokenIds(accountId: number): Generator<AccountRow> {
    return accountRows(this.#store, "token", accountId);
  }

  /** Returns the account's tokens, oldest first, each with its user (null if deleted). */
  tokensOf(accountId: number): { readonly token: AccountToken; readonly user: User | null }[] {
    return [...this.tokenIds(accountId)].flatMap(({ id }) => {
      const token = this.#store.tokens.get(id);
      return token === undefined ? [] : [{ token, user: this.findUser(token.userId) }];
    });
  }

  findUser(id: number): User | null {
    return this.#store.users.get(id) ?? null;
  }

  /** Returns when the token was last used, ms; null if no use is known. */
  lastUseOf(tokenId: number): number | null {
    return this.#store.tokenUses.get(tokenId) ?? null;
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
    return changeAudited(this.#store, this.#now, () => {
      const token = this.#store.tokens.get(id);
      if (token === undefined) return unknown("token", id);
      removeToken(this.#store, token);
      this.#store.tokenHashes.removeSync(token.hash);
      this.#store.tokenUses.removeSync(id);
      return audited(token, {
        ...this.#ofToken(token),
        action: "token.revoked",
        before: tokenValues(token),
        after: null,
      });
    });
  }

  /**
   * `loggedFor`: the account with the log. An account may add an e-mail address that other accounts have, so that none learns from an answer who uses the
   * server. Call inside a write transaction, as every `put…` function. */
  #putUser(name: string, email: string, loggedFor: number): Audited<User> | Refusal {
    if (!emailForm.test(email) || email.length > limits.nameMax) {
      return refuse("invalidPayload", `"${email}" is not an e-mail address`);
    }
    const isKnown = this.#store.emails.get(email.toLowerCase()) !== undefined;
    if (isKnown && loggedFor === accountOfServer) return refuse("conflict", `the e-mail "${email}" is taken`);
    const created: User = { id: nextId(this.#store, "user"), name, email, createdAt: this.#timestamp() };
    this.#store.users.putSync(created.id, created);
    if (!isKnown) this.#store.emails.putSync(email.toLowerCase(), created.id);
    return audited(created, {
      accountId: loggedFor,
      projectId: null,
      action: "user.created",
      subject: this.#nameOf(created.id),
      before: null,
      after: { name, email },
    });
  }

  #putMember(accountId: number, userId: number, role: Role): Audited<Membership> {
    const before = this.roleOf(accountId, userId);
    const membership: Membership = { accountId, userId, role };
    this.#store.memberships.putSync([accountId, userId], membership);
    // Of one who was removed by an earlier version, too.
    if (before === null) this.#unbindTokens(accountId, userId);
    return audited(membership, {
      accountId,
      projectId: null,
      action: "member.set",
      subject: this.#nameOf(userId),
      before: before === null ? null : { role: before },
      after: { role },
    });
  }

  #putToken({ accountId, userId, abilities, name = "" }: NewToken, secret: string): Audited<AccountToken> {
    const token: AccountToken = {
      id: nextId(this.#store, "token"),
      accountId,
      userId,
      hash: hashSecret(secret),
      abilities: [...abilities],
      createdAt: this.#timestamp(),
      ...(name !== "" && { name }),
    };
    putToken(this.#store, token);
    this.#store.tokenHashes.putSync(token.hash, token.id);
    return audited(token, {
      ...this.#ofToken(token),
      action: "token.created",
      before: null,
      after: tokenValues(token),
    });
  }

  #isLastOwner(accountId: number, userId: number): boolean {
    const rows = this.#store.memberships.getRange({ start: [accountId, 0], end: [accountId + 1, 0] });
    const owners = [...rows].filter(({ value }) => value.role === "owner");
    return owners.length === 1 && owners[0]!.value.userId === userId;
  }

  *#tokensOfUser(accountId: number, userId: number): Generator<AccountToken> {
    for (const row of accountRows(this.#store, "token", accountId)) {
      const token = row.userId === userId ? this.#store.tokens.get(row.id) : undefined;
      if (token !== undefined) yield token;
    }
  }

  /** Whether a token of the member, which would lose what it may, can't be revoked by who asks. */
  #hasTokenAbove(accountId: number, userId: number, by: TokenPowers | undefined): boolean {
    if (by === undefined) return false;
    const role = this.roleOf(accountId, userId);
    if (isAbove({ abilities: [], role }, by)) return true;
    for (const { abilities, isUnbound } of this.#tokensOfUser(accountId, userId))
      if (isUnbound !== true && isAbove({ abilities, role }, by)) return true;
    return false;
  }

  #unbindTokens(accountId: number, userId: number): void {
    for (const token of [...this.#tokensOfUser(accountId, userId)])
      if (token.isUnbound !== true) putToken(this.#store, { ...token, isUnbound: true });
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

const ofAccount = ({ id, name }: Account) => ({ accountId: id, projectId: null, subject: `account ${id} "${name}"` });

function tokenValues({ name, abilities }: AccountToken): AuditValues {
  return { ...(name !== undefined && { name }), abilities };
}

const beyondReach = refuse(
  "insufficientTokenAbility",
  "a token of the member is above the calling token, by role or abilities: it could not be revoked with it",
);
const lastOwner = refuse("conflict", "the account would be without an owner: make somebody else one first");

function abilitiesFault(abilities: readonly string[]): Refusal | null {
  const odd = abilities.find((ability) => !tokenAbilities.some((known) => known === ability));
  if (odd === undefined && abilities.length > 0) return null;
  return refuse("invalidPayload", `abilities must be among ${tokenAbilities.join(", ")}, not "${odd ?? ""}"`);
}

function tokenNameFault(name: string): Refusal | null {
  if (name.length <= limits.tokenNameMax) return null;
  return refuse("invalidPayload", `a token's name must have at most ${limits.tokenNameMax} characters`);
}

const slugFault = refuse(
  "invalidPayload",
  "a slug is lower-case letters, digits and single hyphens, at most 255 characters",
);

function nameFault(name: string): Refusal | null {
  const length = name.trim().length;
  return length > 0 && name.length <= limits.nameMax
    ? null
    : refuse("invalidPayload", `a name must have 1 to ${limits.nameMax} characters`);
}

function unknown(kind: string, id: number): Refusal {
  return refuse("notFound", `there is no ${kind} ${id}`);
}
