/** Answers about projects: their keys, and their settings as they are read or after an update. */
import type { tags } from "typia";
import type { Count, CountMeta, Id, IsoTime, Threshold } from "../values/answer-values.js";
import type { ChallengeDifficulty } from "../verdicts/challenge.js";
import type { PathPrefix, ScriptOrigin } from "../verdicts/challenge-page.js";
import type { LoggedInPolicy, SignedAgentPolicy } from "../verdicts/verdict.js";

/** A project as the list shows it. */
export interface ProjectRow {
  id: Id;
  name: string;
  scoring_enabled: boolean;
}

/** The projects of the token's account. */
export interface ProjectsAnswer {
  /** The oldest first. */
  data: ProjectRow[];
  meta: CountMeta;
}

/** The guards that run before the rules; the answer to enabling shows only these two of the settings. */
export interface GuardSettings {
  /** Verified bots get `allow` before rules. */
  allow_verified: boolean;
  /** When false, requests of static resources are allowed before rules. */
  protect_static: boolean;
}

/** The guards and the logged-in policy, which never softens an action in the bands `definite` and `confident_automated`. */
interface BotSettingsAnswer extends GuardSettings {
  logged_in_policy: LoggedInPolicy;
}

/** The keys of a project whose scoring is now enabled; asked for again, the same site key with `private_key` null. */
export interface ScoringEnabledAnswer {
  site_key: string;
  /** Only in the first answer: the server stores only its hash. */
  private_key: string | null;
  bot_settings: GuardSettings;
  likely_bot_threshold: Threshold;
}

/** Whether a project is scored, and with what keys and settings; never a private key. */
export interface ScoringAnswer {
  enabled: boolean;
  /** null until scoring is enabled. */
  site_key: string | null;
  bot_settings: BotSettingsAnswer;
  likely_bot_threshold: Threshold;
  /** Rotated keys that still work, in the order of their rotation; absent: none. */
  old_keys?: OldKeyRow[];
}

/** A rotated key whose overlap has not ended; the key itself is not shown. */
export interface OldKeyRow {
  type: "site" | "private";
  rotated_at: IsoTime;
  /** Refused from then on. */
  ends_at: IsoTime;
}

/** All bot settings and the threshold T (1 to 99) as they are after an update. */
export interface SettingsAnswer {
  bot_settings: BotSettingsAnswer;
  likely_bot_threshold: Threshold;
}

/** How requests without a scored session are treated, read or after an update. */
export interface RequestScoringAnswer {
  /** Whether requests of visitors without a scored session are judged. */
  enabled: boolean;
  /** `allow`: a verified signed agent is allowed before rules (while `allow_verified` is true); `rules`: rules decide. */
  signed_agents: SignedAgentPolicy;
  /** Patterns of paths whose requests are allowed and judged by nothing. */
  skip_paths: string[];
  /** The project's own hosts, for which signatures count; empty: those that at least a tenth of the last day's sessions reported. */
  hosts: string[];
  /** Forward-auth gives visitors who bring no token one with the answer to a navigation, as a cookie. */
  issue_tokens: boolean;
}

/** verdictd's own challenge as the project has set it, read or after an update. */
export interface ChallengeSettingsAnswer {
  enabled: boolean;
  difficulty: ChallengeDifficulty;
  /** How long a pass is valid. */
  clearance_minutes: number & tags.Type<"uint32"> & tags.Minimum<1> & tags.Maximum<1440>;
  /** From how many networks (IPv4 /16 and IPv6 /32, counted apart) a pass may be used. */
  clearance_networks: number & tags.Type<"uint32"> & tags.Minimum<1> & tags.Maximum<16>;
  /** Where browsers find the challenge's script; "": the site's own origin. */
  script_origin: ScriptOrigin;
  /** What a proxy has put before the script's and the API's paths there; "": nothing. */
  path_prefix: PathPrefix;
}

/** The new key. A private key is shown in this answer only. */
export interface RotatedKeyAnswer {
  type: "site" | "private";
  key: string;
  /** When the key before it ends; only where an overlap was asked for. */
  old_key_ends_at?: IsoTime;
}

/** Rotated keys of one type that are refused from now on. */
export interface OldKeysEndedAnswer {
  type: "site" | "private";
  /** How many still worked. */
  ended: Count;
}
