/**
 * The account's API tokens: list, make, revoke. A secret leaves here once. Owners and admins see every token of the account,
 * others those of their own.
 */

import { isAble, isAbove, isAdministrator } from "../../../auth/abilities.js";
import type { TokenHolder } from "../../../auth/credentials.js";
import type {
  TokenCreatedAnswer,
  TokenRevokedAnswer,
  TokenRow,
  TokensAnswer,
} from "../../../contract/configuration/account-answers.js";
import type { TokenAbility } from "../../../contract/configuration/control.js";
import type { AccountToken } from "../../../contract/configuration/entities.js";
import type { Accounts } from "../../../control-plane/accounts/accounts.js";
import { encodeIdCursor } from "../../../control-plane/logs/cursor.js";
import { Refusal, refuse } from "../../../errors.js";
import { limits } from "../../../limits.js";
import type { AccountReads } from "../../../runtime/account-reads.js";
import { type Answered, type Asked, tokenRoute } from "../../operation-route.js";
import { json, refusal, unread } from "../../reply.js";
import type { TokenCall, TokenRoute } from "../../route.js";
import { positiveInteger } from "../../server.js";
import { logParameters, readIdPage } from "./log-query.js";
import { boundAccount, isoTimeOf } from "./wire.js";

/** Listing by `projects:read`, making and revoking by `projects:write`; no token makes or revokes one above itself. */
export function tokenRoutes(accounts: Accounts, reads: AccountReads): TokenRoute[] {
  return [
    tokenRoute("listTokens", {
      needs: "projects:read",
      doc: {
        tag: "control plane",
        summary: "The account's tokens, without their secrets",
        description:
          "The oldest first. Owners and admins see every token of the account, other roles those of their own user.",
        parameters: logParameters,
        refusals: ["invalidPayload", "forbidden"],
      },
      handle: (call) => listTokens(accounts, reads, call),
    }),
    tokenRoute("createToken", {
      needs: "projects:write",
      doc: {
        tag: "control plane",
        summary: "Create a token for the same user and account",
        description:
          "It can't have an ability that the calling token, or its holder's role, lacks. The secret is shown only once.",
        refusals: ["forbidden", "insufficientTokenAbility", "conflict"],
      },
      handle: (call) => createToken(accounts, call),
    }),
    tokenRoute("revokeToken", {
      needs: "projects:write",
      doc: {
        tag: "control plane",
        summary: "Revoke a token",
        description:
          "It is refused from the next request on. A token may revoke itself, but none above it: of a higher role, or with an ability " +
          "that the token that asks does not store.",
        refusals: ["forbidden", "insufficientTokenAbility", "notFound"],
      },
      handle: (call) => revokeToken(accounts, call),
    }),
  ];
}

/** Whether the holder may see the token, and revoke it if it is not above the own one. */
function isWithinReach({ membership, token: own }: TokenHolder, token: AccountToken): boolean {
  if (token.accountId !== own.accountId) return false;
  return isAdministrator(membership?.role ?? null) || token.userId === own.userId;
}

async function listTokens(
  accounts: Accounts,
  reads: AccountReads,
  call: Asked<"listTokens", TokenCall>,
): Promise<Answered<"listTokens">> {
  const { holder, query, isAborted } = call;
  const account = boundAccount(holder);
  if (account instanceof Refusal) return refusal(account);
  const asked = readIdPage(query);
  if (asked instanceof Refusal) return refusal(asked);
  const { limit, after } = asked;
  const seesAll = isAdministrator(holder.membership?.role ?? null);
  const answer = await reads.run(account.id, isAborted, async (slices) => {
    const data: TokenRow[] = [];
    let count = 0;
    let hasMore = false;
    for (const { id, userId } of accounts.tokenIds(account.id)) {
      if (slices.isOver && !(await slices.next())) return null;
      if (!seesAll && userId !== holder.token.userId) continue;
      count++;
      if (id <= after) continue;
      const token = data.length < limit ? accounts.findToken(id) : null;
      if (token !== null) data.push(tokenRow(accounts, token, holder));
      else hasMore ||= data.length >= limit;
    }
    const next_cursor = hasMore ? encodeIdCursor(data.at(-1)!.id) : null;
    return { data, meta: { count, next_cursor } } satisfies TokensAnswer;
  });
  return answer === null ? unread : json(200, answer);
}

function tokenRow(accounts: Accounts, token: AccountToken, holder: TokenHolder): TokenRow {
  const user = accounts.findUser(token.userId);
  return {
    id: token.id,
    name: token.name ?? null,
    abilities: token.abilities,
    user: user === null ? null : { id: user.id, name: user.name },
    created_at: token.createdAt,
    last_used_at: isoTimeOf(accounts.lastUseOf(token.id)),
    current: token.id === holder.token.id,
  };
}

async function createToken(
  accounts: Accounts,
  { holder, readBody }: Asked<"createToken", TokenCall>,
): Promise<Answered<"createToken">> {
  const account = boundAccount(holder);
  if (account instanceof Refusal) return refusal(account);
  const read = readBody();
  if (read instanceof Refusal) return refusal(read);
  const abilities = [...new Set(read.value.abilities)];
  const lacking = abilities.find((ability) => !mayGrant(holder, ability));
  if (lacking !== undefined) {
    return refusal(
      refuse("insufficientTokenAbility", `the token can't grant ${lacking}: it lacks that ability itself`),
    );
  }
  const { name = "" } = read.value;
  const request = { accountId: account.id, userId: holder.token.userId, abilities, name };
  const made = await accounts.createToken(request, limits.tokensPerAccountMax);
  if (made instanceof Refusal) return refusal(made);
  return json(200, { id: made.token.id, account_token: made.secret } satisfies TokenCreatedAnswer);
}

/** A wildcard grows with the role, so only a wildcard may hand it on. */
function mayGrant({ token, membership }: TokenHolder, ability: TokenAbility): boolean {
  if (ability === "*") return token.abilities.includes("*");
  return membership !== null && isAble(token.abilities, membership.role, ability);
}

async function revokeToken(
  accounts: Accounts,
  { holder, params }: Asked<"revokeToken", TokenCall>,
): Promise<Answered<"revokeToken">> {
  const account = boundAccount(holder);
  if (account instanceof Refusal) return refusal(account);
  const id = positiveInteger(params[0]);
  const token = id === null ? null : accounts.findToken(id);
  if (token === null || !isWithinReach(holder, token)) return missing;
  const role = token.isUnbound === true ? null : accounts.roleOf(token.accountId, token.userId);
  const own = { abilities: holder.token.abilities, role: holder.membership?.role ?? null };
  if (isAbove({ abilities: token.abilities, role }, own)) {
    return refusal(refuse("insufficientTokenAbility", "the token is above the calling token, by role or abilities"));
  }
  const revoked = await accounts.revokeToken(token.id);
  return revoked instanceof Refusal
    ? missing
    : json(200, { id: revoked.id, revoked: true } satisfies TokenRevokedAnswer);
}

const missing = refusal(refuse("notFound", "the account has no such token"));
