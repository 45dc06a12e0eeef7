/**
 * Who belongs to the account, and as what. Every member sees the others; owners and admins change them, nobody above the own role, and the
 * account is never left without an owner.
 */

import { isAbove, isAdministrator, type TokenPowers } from "../../../auth/abilities.js";
import type { TokenHolder } from "../../../auth/credentials.js";
import type {
  MemberChangedAnswer,
  MemberCreatedAnswer,
  MemberRow,
  MembersAnswer,
} from "../../../contract/configuration/account-answers.js";
import type { Role } from "../../../contract/configuration/entities.js";
import type { Accounts } from "../../../control-plane/accounts/accounts.js";
import { encodeIdCursor } from "../../../control-plane/logs/cursor.js";
import { Refusal, refuse } from "../../../errors.js";
import type { AccountReads } from "../../../runtime/account-reads.js";
import { type Answered, type Asked, tokenRoute } from "../../operation-route.js";
import { json, refusal, unread } from "../../reply.js";
import type { TokenCall, TokenRoute } from "../../route.js";
import { positiveInteger } from "../../server.js";
import { logParameters, readIdPage } from "./log-query.js";
import { boundAccount, isoTimeOf } from "./wire.js";

/** Reading by `projects:read`; adding, changing and removing by the roles owner and admin with `projects:write`. */
export function memberRoutes(accounts: Accounts, reads: AccountReads): TokenRoute[] {
  return [
    tokenRoute("listMembers", {
      needs: "projects:read",
      doc: {
        tag: "control plane",
        summary: "The account's members",
        description: "By user id. E-mail addresses, tokens and their last use are for owners and admins.",
        parameters: logParameters,
        refusals: ["invalidPayload", "forbidden"],
      },
      handle: (call) => listMembers(accounts, reads, call),
    }),
    tokenRoute("addMember", {
      needs: "administration",
      doc: {
        tag: "control plane",
        summary: "Add somebody new to the account, with a first token",
        description:
          "Owners and admins may, up to their own role. The token has the abilities of the one that asks; its secret is told this once, to " +
          "be handed on. 409 for an e-mail address that a member has. What other accounts have says nothing here: the new user is one of this account.",
        refusals: ["forbidden", "insufficientTokenAbility", "conflict"],
      },
      handle: (call) => addMember(accounts, call),
    }),
    tokenRoute("changeMember", {
      needs: "administration",
      doc: {
        tag: "control plane",
        summary: "Change a member's role",
        description:
          "For owners and admins, from and to roles up to their own. To lower a role, the calling token must be able to revoke every token of the " +
          "member. 409 for the last owner.",
        refusals: ["forbidden", "insufficientTokenAbility", "notFound", "conflict"],
      },
      handle: (call) => changeMember(accounts, call),
    }),
    tokenRoute("removeMember", {
      needs: "administration",
      doc: {
        tag: "control plane",
        summary: "Remove a member",
        description:
          "The user's tokens lose the account for good, from the next request on: adding the user again revives none. Owners and admins may, up to their " +
          "own role, with a token that could revoke every token of the member. 409 for the last owner.",
        refusals: ["forbidden", "insufficientTokenAbility", "notFound", "conflict"],
      },
      handle: (call) => removeMember(accounts, call),
    }),
  ];
}

const missing = refuse("notFound", "the account has no such member");

/** The account; refused for a role above that of whoever asks. */
function changeable(holder: TokenHolder, ...roles: readonly Role[]): number | Refusal {
  const account = boundAccount(holder);
  if (account instanceof Refusal) return account;
  const own = { abilities: [], role: holder.membership?.role ?? null };
  const above = roles.find((role) => isAbove({ abilities: [], role }, own));
  if (above === undefined) return account.id;
  return refuse("insufficientTokenAbility", `the role ${above} is above that of the calling token`);
}

async function listMembers(
  accounts: Accounts,
  reads: AccountReads,
  call: Asked<"listMembers", TokenCall>,
): Promise<Answered<"listMembers">> {
  const { holder, query, isAborted } = call;
  const account = boundAccount(holder);
  if (account instanceof Refusal) return refusal(account);
  const asked = readIdPage(query);
  if (asked instanceof Refusal) return refusal(asked);
  const { limit, after } = asked;
  const seesAll = isAdministrator(holder.membership!.role);
  const answer = await reads.run(account.id, isAborted, async (slices) => {
    const rows = accounts.membersAfter(account.id, after, limit + 1);
    const shown = rows.slice(0, limit);
    const uses = new Map(shown.map(({ user }) => [user.id, { tokens: 0, lastMs: 0 }]));
    for (const { id, userId } of seesAll ? accounts.tokenIds(account.id) : []) {
      if (slices.isOver && !(await slices.next())) return null;
      const own = uses.get(userId);
      if (own === undefined || accounts.findToken(id)?.isUnbound === true) continue;
      own.tokens++;
      own.lastMs = Math.max(own.lastMs, accounts.lastUseOf(id) ?? 0);
    }
    const data = shown.map(({ user, role }): MemberRow => {
      const { tokens, lastMs } = uses.get(user.id)!;
      return {
        user: { id: user.id, name: user.name, email: seesAll ? user.email : null },
        role,
        tokens: seesAll ? tokens : null,
        last_used_at: isoTimeOf(lastMs === 0 ? null : lastMs),
        current: user.id === holder.token.userId,
      };
    });
    const next_cursor = rows.length > limit ? encodeIdCursor(shown.at(-1)!.user.id) : null;
    return { data, meta: { count: accounts.memberCount(account.id), next_cursor } } satisfies MembersAnswer;
  });
  return answer === null ? unread : json(200, answer);
}

/** Who asks, for what acts on another's tokens. */
function powersOf({ token, membership }: TokenHolder): TokenPowers {
  return { abilities: token.abilities, role: membership?.role ?? null };
}

async function addMember(
  accounts: Accounts,
  { holder, readBody }: Asked<"addMember", TokenCall>,
): Promise<Answered<"addMember">> {
  const read = readBody();
  if (read instanceof Refusal) return refusal(read);
  const { name, email, role } = read.value;
  const accountId = changeable(holder, role);
  if (accountId instanceof Refusal) return refusal(accountId);
  const { abilities } = holder.token;
  const made = await accounts.addMember({ accountId, name, email, role, abilities });
  if (made instanceof Refusal) return refusal(made);
  const user = { id: made.user.id, name: made.user.name, email: made.user.email };
  return json(200, { user, role, account_token: made.secret } satisfies MemberCreatedAnswer);
}

async function changeMember(
  accounts: Accounts,
  call: Asked<"changeMember", TokenCall>,
): Promise<Answered<"changeMember">> {
  const found = findMember(accounts, call);
  if (found instanceof Refusal) return refusal(found);
  const read = call.readBody();
  if (read instanceof Refusal) return refusal(read);
  const { role } = read.value;
  const accountId = changeable(call.holder, role);
  if (accountId instanceof Refusal) return refusal(accountId);
  const set = await accounts.setMember(accountId, found.userId, role, {
    keepsOwner: true,
    by: powersOf(call.holder),
  });
  return set instanceof Refusal ? refusal(set) : changed(set.userId, set.role);
}

async function removeMember(
  accounts: Accounts,
  call: Asked<"removeMember", TokenCall>,
): Promise<Answered<"removeMember">> {
  const found = findMember(accounts, call);
  if (found instanceof Refusal) return refusal(found);
  const removed = await accounts.removeMember(found.accountId, found.userId, {
    keepsOwner: true,
    by: powersOf(call.holder),
  });
  return removed instanceof Refusal ? refusal(removed) : changed(removed.userId, null);
}

/** The member that the path names, if it is not above whoever asks. */
function findMember(accounts: Accounts, { holder, params }: TokenCall) {
  const account = boundAccount(holder);
  if (account instanceof Refusal) return account;
  const userId = positiveInteger(params[0]);
  const role = userId === null ? null : accounts.roleOf(account.id, userId);
  if (userId === null || role === null) return missing;
  const accountId = changeable(holder, role);
  return accountId instanceof Refusal ? accountId : { accountId, userId };
}

function changed(userId: number, role: Role | null): Answered<"changeMember"> {
  return json(200, { user_id: userId, role } satisfies MemberChangedAnswer);
}
