/** Request bodies of the control plane. Keys beside these are ignored, save where a handler says otherwise. */
import type { tags } from "typia";
import type { Action, LoggedInPolicy } from "./verdict.js";

type Int32 = number & tags.Type<"int32">;

export interface RotateBody {
  type: "site" | "private";
}

/** Send only what changes. */
export interface SettingsBody {
  allow_verified?: boolean;
  protect_static?: boolean;
  logged_in_policy?: LoggedInPolicy;
  likely_bot_threshold?: Int32 & tags.Minimum<1> & tags.Maximum<99>;
}

export interface RuleBody {
  name: string & tags.MinLength<1> & tags.MaxLength<255>;
  /** Source text of the rule, at most 2000 characters. */
  expression: string;
  action: Action;
  /** Default true. */
  is_active?: boolean;
  /** Ascending order of evaluation; default 0. */
  sort_order?: Int32;
}

export type RuleChangeBody = Partial<RuleBody>;

/** What a token may be able to do; `*` is everything the holder's role permits. */
export const tokenAbilities = ["projects:read", "projects:write", "content:read", "content:write", "*"] as const;
export type TokenAbility = (typeof tokenAbilities)[number];

/** A new account token, of the same user and account as the one that asks. */
export interface TokenBody {
  abilities: TokenAbility[] & tags.MinItems<1> & tags.MaxItems<5>;
}

/** A draft rule to replay on stored sessions. */
export interface RuleTestBody {
  expression: string;
  action: Action;
  /** How many sessions to replay at most, the latest ones unless `hours` is given; default 1000. */
  limit?: number & tags.Type<"uint32"> & tags.Minimum<1> & tags.Maximum<10000>;
  /** Replay the sessions that began in so many hours up to now: all of them or, where there are more than `limit`, an even sample in time. */
  hours?: number & tags.Type<"uint32"> & tags.Minimum<1> & tags.Maximum<168>;
}
