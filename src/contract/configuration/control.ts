/** Request bodies of the control plane. Other keys are ignored, unless a handler says otherwise. */
import type { tags } from "typia";
import type { ChallengeDifficulty } from "../verdicts/challenge.js";
import type { PathPrefix, ScriptOrigin } from "../verdicts/challenge-page.js";
import type { Action, LoggedInPolicy, SignedAgentPolicy } from "../verdicts/verdict.js";
import type { Role } from "./entities.js";

type Int32 = number & tags.Type<"int32">;

/** Which key of a project to replace, and how long the old one overlaps with the new. */
export interface RotateBody {
  type: "site" | "private";
  /** How many hours the key that is replaced still works; default 0: every older key of this type is refused at once. */
  overlap_hours?: number & tags.Type<"uint32"> & tags.Maximum<720>;
}

/** A new project of the token's account; it has the two inactive starter rules, and no keys until scoring is enabled. */
export interface ProjectBody {
  name: string & tags.MinLength<1> & tags.MaxLength<255>;
}

/** Ends the overlap of all rotated keys of this type now; the current key stays. */
export interface EndOldKeysBody {
  type: "site" | "private";
}

/** Send only what changes. */
export interface SettingsBody {
  allow_verified?: boolean;
  protect_static?: boolean;
  logged_in_policy?: LoggedInPolicy;
  likely_bot_threshold?: Int32 & tags.Minimum<1> & tags.Maximum<99>;
}

/** Settings to try: only what would change. */
export interface SettingsTestBody extends SettingsBody {
  /** How many sessions to evaluate at most, the latest ones unless `hours` is given; default 1000. */
  limit?: number & tags.Type<"uint32"> & tags.Minimum<1> & tags.Maximum<10000>;
  /** Evaluate the sessions that began in so many hours up to now, and samples of requests of these hours. */
  hours?: number & tags.Type<"uint32"> & tags.Minimum<1> & tags.Maximum<168>;
}

/** Send only what changes. */
export interface RequestScoringBody {
  enabled?: boolean;
  signed_agents?: SignedAgentPolicy;
  /**
   * Requests of these paths are allowed and judged by nothing. Each is a pattern of the whole path, `*` for any characters, `/` too. A path with
   * parameters (`;`) or an encoded delimiter matches none.
   */
  skip_paths?: (string & tags.MinLength<1> & tags.MaxLength<200>)[] & tags.MaxItems<50>;
  /** The project's own hosts, for which signatures count: names, or `*.` before a name. Empty: those that at least a tenth of the last day's sessions reported. */
  hosts?: OwnHost[] & tags.MaxItems<100>;
  issue_tokens?: boolean;
}

/** A name, its port and trailing dot dropped, or `*.` and a name. */
type OwnHost = string &
  tags.Pattern<"^(?:[*][.])?(?:[^\\s/?#@\\\\*:.]{1,63}[.])*[^\\s/?#@\\\\*:.]{1,63}[.]?(?::[0-9]{1,5})?$"> &
  tags.MaxLength<260>;

/** Settings of verdictd's own challenge. Send only what changes. */
export interface ChallengeSettingsBody {
  enabled?: boolean;
  /** About 0.3, 1 or 4 s of work on a phone of five years ago. */
  difficulty?: ChallengeDifficulty;
  /** How long a pass is valid. */
  clearance_minutes?: Int32 & tags.Minimum<1> & tags.Maximum<1440>;
  /** From how many networks (IPv4 /16 and IPv6 /32, counted apart) a pass may be used. */
  clearance_networks?: Int32 & tags.Minimum<1> & tags.Maximum<16>;
  /** Where browsers find the challenge's script, `https://verdictd.example`; "": the site's own origin. */
  script_origin?: ScriptOrigin;
  /** What a proxy has put before the script's and the API's paths there, `/bots`; "": nothing. */
  path_prefix?: PathPrefix;
}

/** Asks for a challenge. */
export interface ChallengeBody {
  session_token: string;
  /** Alternative to the header. */
  site_key?: string;
}

/** The solution of a challenge that was made for the same session, to get a pass for it. */
export interface SolutionBody extends ChallengeBody {
  /** Base64 of JSON `{challenge, solution}`, as altcha-lib makes it. */
  solution: string;
}

/** A new rule; its expression is compiled before it is stored, and one that doesn't compile is refused. */
export interface RuleBody {
  name: string & tags.MinLength<1> & tags.MaxLength<255>;
  /** Source text of the rule, at most 2000 characters. */
  expression: string;
  action: Action;
  /** Default true. */
  is_active?: boolean;
  /** Ascending order of evaluation; default 0. */
  sort_order?: Int32;
  /** ISO 8601: from then on the rule is inactive. Null: it never expires, which is the default. */
  expires_at?: string | null;
}

/** Send only what changes; an absent key keeps its value. */
export interface RuleChangeBody extends Partial<RuleBody> {}

/** What a token may be able to do; `*` is everything the holder's role permits. */
export const tokenAbilities = ["projects:read", "projects:write", "content:read", "content:write", "*"] as const;
/** One ability of a token; it never permits more than the holder's role does. */
export type TokenAbility = (typeof tokenAbilities)[number];

/** A new account token, for the same user and account as the calling token. */
export interface TokenBody {
  /** What it is for, as lists show it. */
  name?: string & tags.MaxLength<100>;
  abilities: TokenAbility[] & tags.MinItems<1> & tags.MaxItems<5>;
}

/** A new member of the account. */
export interface MemberBody {
  name: string & tags.MinLength<1> & tags.MaxLength<255>;
  /** An address that no user of the server has yet. */
  email: string & tags.MinLength<3> & tags.MaxLength<255>;
  role: Role;
}

/** The member's new role. */
export interface MemberChangeBody {
  role: Role;
}

/** A draft rule to backtest on stored sessions. */
export interface RuleTestBody {
  expression: string;
  action: Action;
  /** Where the draft would stand, behind rules with the same number; default: behind all others. */
  sort_order?: Int32;
  /** Id of the rule that the draft takes the place of, as one that is edited: it is not among the others. One that is not active changes nothing. */
  replaces?: number & tags.Type<"uint32"> & tags.Minimum<1>;
  /** How many sessions to evaluate at most, the latest ones unless `hours` is given; default 1000. */
  limit?: number & tags.Type<"uint32"> & tags.Minimum<1> & tags.Maximum<10000>;
  /** Evaluate the sessions that began in so many hours up to now: all of them or, where there are more than `limit`, an even sample in time. */
  hours?: number & tags.Type<"uint32"> & tags.Minimum<1> & tags.Maximum<168>;
  /** Another span of time, for which `compare` says the same: of the sessions that began in it and the requests judged in it. Both or neither. */
  compare_from?: string;
  /** Exclusive. */
  compare_to?: string;
}
