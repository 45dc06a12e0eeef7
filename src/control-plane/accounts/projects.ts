/** Projects. The API and the command line create them here, enable scoring, rotate keys and change settings. */

import { hashSecret, mintPrivateKey, mintSiteKey } from "../../auth/secrets.js";
import type { AuditAction, AuditValues } from "../../contract/configuration/audit.js";
import type { KeyKind, OldKey, Project } from "../../contract/configuration/entities.js";
import { type BotSettings, defaultRequestScoring, type RequestScoring } from "../../contract/sessions/session.js";
import { hourMs } from "../../contract/values/durations.js";
import {
  type ChallengeSettings,
  defaultChallengeSettings,
  defaultClearanceNetworks,
} from "../../contract/verdicts/challenge.js";
import { type Refusal, refuse } from "../../errors.js";
import { limits } from "../../limits.js";
import { accountRows, countOfAccount, putProject } from "../../store/account-rows.js";
import { nextId, type Store } from "../../store/store.js";
import { audited, changeAudited, unchanged } from "../logs/audit.js";
import { putNewRule, starterRules } from "../rules/rules.js";

/** Settings of a new project: both guards on, and a login protects from nothing. */
export const defaultBotSettings: BotSettings = {
  allowVerified: true,
  protectStatic: true,
  loggedInPolicy: "observe",
};
/** The threshold T of a new project, 1 to 99: scores below it are bots. */
const defaultLikelyBotThreshold = 30;

/** `privateKey` is told on the first enabling only: nothing can recover it. */
interface EnabledScoring {
  readonly project: Project;
  readonly siteKey: string;
  readonly privateKey: string | null;
}

/** A new key. `oldKeyEndsAt` is null if the previous key is refused already. `endedKeys`: earlier rotated keys that worked until now. */
interface RotatedKey {
  readonly key: string;
  readonly oldKeyEndsAt: string | null;
  readonly endedKeys: number;
}

/** Bot settings and threshold to change; what is undefined stays. */
export interface SettingsChange {
  readonly allowVerified?: boolean | undefined;
  readonly protectStatic?: boolean | undefined;
  readonly loggedInPolicy?: BotSettings["loggedInPolicy"] | undefined;
  readonly likelyBotThreshold?: number | undefined;
}

/** Settings of request scoring to change; what is undefined stays. */
type RequestScoringChange = { readonly [K in keyof RequestScoring]?: RequestScoring[K] | undefined };
/** What is undefined stays. */
type ChallengeChange = { readonly [Name in keyof ChallengeSettings]?: ChallengeSettings[Name] | undefined };

/**
 * Refuses `notFound` for unknown ids, and `conflict` while scoring is not enabled. Every change is logged, without keys.
 */
export class Projects {
  readonly #store: Store;
  readonly #now: () => number;

  constructor(store: Store, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  find(id: number): Project | null {
    return this.#store.projects.get(id) ?? null;
  }

  /** The account's projects, oldest first. Reads as far as it is asked. */
  *ofAccount(accountId: number): Generator<Project> {
    for (const { id } of accountRows(this.#store, "project", accountId)) {
      const project = this.#store.projects.get(id);
      if (project !== undefined) yield project;
    }
  }

  /** Every project of every account, oldest first. */
  all(): Project[] {
    return [...this.#store.projects.getRange({})].map(({ value }) => value);
  }

  /** `conflict` where the account has `projectsMax` of them; whoever runs the server has no bound. */
  async create(accountId: number, name: string, projectsMax = Number.POSITIVE_INFINITY): Promise<Project | Refusal> {
    if (name.trim().length === 0 || name.length > limits.nameMax) {
      return refuse("invalidPayload", `name: expected 1 to ${limits.nameMax} characters, not only spaces`);
    }
    return changeAudited(this.#store, this.#now, () => {
      if (this.#store.accounts.get(accountId) === undefined) {
        return refuse("notFound", `there is no account ${accountId}`);
      }
      if (Number.isFinite(projectsMax) && countOfAccount(this.#store, "project", accountId) >= projectsMax) {
        return refuse("conflict", `the account has ${projectsMax} projects`);
      }
      const project: Project = {
        id: nextId(this.#store, "project"),
        accountId,
        name,
        siteKey: null,
        privateKeyHash: null,
        botSettings: defaultBotSettings,
        likelyBotThreshold: defaultLikelyBotThreshold,
        settingsRevision: 1,
        rulesRevision: 1,
        createdAt: new Date(this.#now()).toISOString(),
      };
      putProject(this.#store, project);
      for (const rule of starterRules) putNewRule(this.#store, project.id, rule, project.createdAt);
      return audited(project, { ...of(project), action: "project.created", before: null, after: { name } });
    });
  }

  /** Creates both keys the first time; later calls return the existing site key. */
  async enableScoring(id: number): Promise<EnabledScoring | Refusal> {
    return changeAudited(this.#store, this.#now, () => {
      const project = this.#store.projects.get(id);
      if (project === undefined) return missingProject(id);
      if (project.siteKey !== null) {
        return unchanged<EnabledScoring>({ project, siteKey: project.siteKey, privateKey: null });
      }
      const siteKey = mintSiteKey();
      const privateKey = mintPrivateKey();
      const enabled: Project = { ...project, siteKey, privateKeyHash: hashSecret(privateKey) };
      this.#putKey(id, "site", hashSecret(siteKey));
      this.#putKey(id, "private", hashSecret(privateKey));
      putProject(this.#store, enabled);
      const made: EnabledScoring = { project: enabled, siteKey, privateKey };
      const [before, after] = [{ enabled: false }, { enabled: true }];
      return audited(made, { ...of(enabled), action: "scoring.enabled", before, after });
    });
  }

  /**
   * Creates a new key. Without an overlap, every older key of its kind is refused from the next request on. With one, the replaced key works for this
   * many more hours. `conflict` while scoring is not enabled, and if too many rotated keys still work.
   */
  async rotateKey(id: number, kind: KeyKind, overlapHours = 0): Promise<RotatedKey | Refusal> {
    return changeAudited(this.#store, this.#now, () => {
      const project = this.#store.projects.get(id);
      if (project === undefined) return missingProject(id);
      if (project.siteKey === null || project.privateKeyHash === null) return notEnabled;
      const ending = this.#endKeys(
        project,
        ({ isOver, ...old }) => isOver || (old.kind === kind && overlapHours === 0),
      );
      const running = ending.kept.filter((old) => old.kind === kind).length;
      if (overlapHours > 0 && running >= limits.oldKeysMax) {
        return refuse("conflict", `${running} rotated ${kind} keys still work: end them first`);
      }
      const key = kind === "site" ? mintSiteKey() : mintPrivateKey();
      const oldHash = kind === "site" ? hashSecret(project.siteKey) : project.privateKeyHash;
      const old = overlapHours === 0 ? null : this.#letRun(id, kind, oldHash, overlapHours);
      if (old === null) this.#store.keys.removeSync(oldHash);
      this.#putKey(id, kind, hashSecret(key));
      const rotated: Project = {
        ...project,
        ...(kind === "site" ? { siteKey: key } : { privateKeyHash: hashSecret(key) }),
        oldKeys: old === null ? ending.kept : [...ending.kept, old],
      };
      putProject(this.#store, rotated);
      const made: RotatedKey = { key, oldKeyEndsAt: old?.endsAt ?? null, endedKeys: ending.ended.length };
      const ends = (keys: readonly OldKey[]) => keys.filter((each) => each.kind === kind).map(({ endsAt }) => endsAt);
      const before: AuditValues = { rotated_keys_end_at: ends(this.oldKeysOf(project)) };
      const after: AuditValues = {
        overlap_hours: overlapHours,
        old_key_ends_at: old?.endsAt ?? new Date(this.#now()).toISOString(),
        rotated_keys_end_at: ends(ending.kept),
      };
      return audited(made, { ...of(rotated), action: "key.rotated", subject: `${kind} key`, before, after });
    });
  }

  /** Ends every rotated key of this kind that still works; how many there were. */
  async endOldKeys(id: number, kind: KeyKind): Promise<number | Refusal> {
    return changeAudited(this.#store, this.#now, () => {
      const project = this.#store.projects.get(id);
      if (project === undefined) return missingProject(id);
      const { kept, ended } = this.#endKeys(project, ({ isOver, ...old }) => isOver || old.kind === kind);
      if (ended.length === 0) return unchanged(0);
      const changed: Project = { ...project, oldKeys: kept };
      putProject(this.#store, changed);
      const before = { ends_at: ended.map(({ endsAt }) => endsAt) };
      const what = { ...of(changed), action: "key.ended", subject: `rotated ${kind} key` } as const;
      return audited(ended.length, { ...what, before, after: null });
    });
  }

  /** The rotated keys of a project that still work. */
  oldKeysOf({ oldKeys = [] }: Project): readonly OldKey[] {
    return oldKeys.filter(({ endsAt }) => Date.parse(endsAt) > this.#now());
  }

  /** Lets a key work for some more hours. Call inside a write transaction. */
  #letRun(projectId: number, kind: KeyKind, hash: string, hours: number): OldKey {
    const nowMs = this.#now();
    const untilMs = nowMs + hours * hourMs;
    this.#store.keys.putSync(hash, { projectId, kind, untilMs });
    return { kind, hash, rotatedAt: new Date(nowMs).toISOString(), endsAt: new Date(untilMs).toISOString() };
  }

  /** Removes rows of the old keys that are to end. `ended`: those that still worked. Call inside a write transaction. */
  #endKeys({ oldKeys = [] }: Project, isEnding: (old: OldKey & { readonly isOver: boolean }) => boolean) {
    const nowMs = this.#now();
    const kept: OldKey[] = [];
    const ended: OldKey[] = [];
    for (const old of oldKeys) {
      const isOver = Date.parse(old.endsAt) <= nowMs;
      if (!isEnding({ ...old, isOver })) {
        kept.push(old);
        continue;
      }
      this.#store.keys.removeSync(old.hash);
      if (!isOver) ended.push(old);
    }
    return { kept, ended };
  }

  /** The project after the change; what is undefined stays. */
  changeSettings(id: number, change: SettingsChange): Promise<Project | Refusal> {
    const { likelyBotThreshold, ...settings } = change;
    return this.#change(id, "settings.changed", settingsOf, (project) => ({
      botSettings: { ...project.botSettings, ...given(settings) },
      likelyBotThreshold: likelyBotThreshold ?? project.likelyBotThreshold,
    }));
  }

  /** The project after the change; what is undefined stays. */
  changeRequestScoring(id: number, change: RequestScoringChange): Promise<Project | Refusal> {
    return this.#change(
      id,
      "request_scoring.changed",
      requestScoringRow,
      ({ requestScoring = defaultRequestScoring }) => ({
        requestScoring: { ...requestScoring, ...given(change) },
      }),
    );
  }

  /** The project after the change; what is undefined stays. */
  changeChallenge(id: number, change: ChallengeChange): Promise<Project | Refusal> {
    return this.#change(id, "challenge.changed", challengeRow, ({ challenge = defaultChallengeSettings }) => ({
      challenge: { ...challenge, ...given(change) },
    }));
  }

  /** Changes settings that verdicts depend on: raises the settings revision. */
  #change(
    id: number,
    action: AuditAction,
    valuesOf: (project: Project) => AuditValues,
    changed: (project: Project) => Partial<Project>,
  ): Promise<Project | Refusal> {
    return changeAudited(this.#store, this.#now, () => {
      const project = this.#store.projects.get(id);
      if (project === undefined) return missingProject(id);
      const after: Project = { ...project, ...changed(project), settingsRevision: project.settingsRevision + 1 };
      putProject(this.#store, after);
      return audited(after, { ...of(after), action, before: valuesOf(project), after: valuesOf(after) });
    });
  }

  #putKey(projectId: number, kind: KeyKind, hash: string): void {
    this.#store.keys.putSync(hash, { projectId, kind });
  }
}

const of = ({ accountId, id, name }: Project) => ({ accountId, projectId: id, subject: `project ${id} "${name}"` });

function settingsOf({ botSettings, likelyBotThreshold }: Project): AuditValues {
  const { allowVerified, protectStatic, loggedInPolicy } = botSettings;
  return {
    allow_verified: allowVerified,
    protect_static: protectStatic,
    logged_in_policy: loggedInPolicy,
    likely_bot_threshold: likelyBotThreshold,
  };
}

/** A project's request scoring by the names of the API: what answers show and the log of changes compares. */
export function requestScoringRow({ requestScoring = defaultRequestScoring }: Project) {
  const { enabled, signedAgents, skipPaths = [], hosts = [], issueTokens = false } = requestScoring;
  return {
    enabled,
    signed_agents: signedAgents,
    skip_paths: [...skipPaths],
    hosts: [...hosts],
    issue_tokens: issueTokens,
  };
}

/** The same of its challenge. */
export function challengeRow({ challenge = defaultChallengeSettings }: Project) {
  const { enabled, difficulty, clearanceMinutes, clearanceNetworks = defaultClearanceNetworks } = challenge;
  const { scriptOrigin = "", pathPrefix = "" } = challenge;
  return {
    enabled,
    difficulty,
    clearance_minutes: clearanceMinutes,
    clearance_networks: clearanceNetworks,
    script_origin: scriptOrigin,
    path_prefix: pathPrefix,
  };
}

/** The members that are not undefined. */
function given<T extends object>(change: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as never;
}

const notEnabled = refuse("conflict", "scoring is not enabled on this project");

function missingProject(id: number): Refusal {
  return refuse("notFound", `there is no project ${id}`);
}
