/** Answers about an account: its users, members, tokens and use. */

import type { tags } from "typia";
import type { Count, Id, IsoTime, PageMeta } from "../values/answer-values.js";
import type { Role } from "./entities.js";

/** Account of the token (`GET /v1/account`). */
export interface AccountAnswer {
  id: Id;
  name: string;
  slug: string;
  is_personal: boolean;
  /** The caller's role in the account. */
  role: Role | null;
}

/** Holder of the token (`GET /user`). */
export interface UserAnswer {
  id: Id;
  name: string;
  email: string;
  created_at: IsoTime;
}

/** An account token as the list shows it: nothing of its secret is stored. */
export interface TokenRow {
  id: Id;
  /** What it is for; null: not stated. */
  name: string | null;
  abilities: string[];
  /** The user whose role limits the token; null if that user no longer exists. */
  user: { id: Id; name: string } | null;
  created_at: IsoTime;
  /** The last request with it, accurate to a minute (in a cluster, to an hour); null: none since this was first recorded. */
  last_used_at: IsoTime | null;
  /** Whether this is the calling token. */
  current: boolean;
}

/** Tokens without their secrets: all of the account's for owners and admins, their own for others. */
export interface TokensAnswer {
  /** The oldest first. */
  data: TokenRow[];
  meta: PageMeta;
}

/** The new token. Its secret is shown in this answer only. */
export interface TokenCreatedAnswer {
  id: Id;
  account_token: string;
}

/** The token is refused from now on. */
export interface TokenRevokedAnswer {
  id: Id;
  revoked: true;
}

/** A member of the account; what only owners and admins may see is null for others. */
export interface MemberRow {
  /** The e-mail address is for owners and admins. */
  user: { id: Id; name: string; email: string | null };
  role: Role;
  /** Account tokens of the user; null: for owners and admins only. */
  tokens: Count | null;
  /** The last use of any of them; null: none, or for owners and admins only. */
  last_used_at: IsoTime | null;
  /** Whether this is the calling user. */
  current: boolean;
}

/** Everybody on the token's account. */
export interface MembersAnswer {
  /** By user id. */
  data: MemberRow[];
  meta: PageMeta;
}

/** A new member. The secret of the first token is shown in this answer only. */
export interface MemberCreatedAnswer {
  user: { id: Id; name: string; email: string };
  role: Role;
  account_token: string;
}

/** The role that a user has now, after a change or a removal. */
export interface MemberChangedAnswer {
  user_id: Id;
  /** Null: no member any more. */
  role: Role | null;
}

/** Accepted events of the account in the current calendar month (UTC). */
export interface UsageAnswer {
  month: string & tags.Pattern<"^[0-9]{4}-[0-9]{2}$">;
  events: Count;
  /** Events per month in the plan; null: unlimited. Soft: above it, a flag is set and nothing is refused. */
  quota: Count | null;
  plan: string;
}
