/** Projects: made here, with scoring enabled, keys rotated and settings changed for the API and the command line. */
import { hashSecret, mintPrivateKey, mintSiteKey } from "../auth/secrets.js";
import type { AuditAction, AuditValues } from "../contract/audit.js";
import { type ChallengeSettings, defaultChallengeSettings } from "../contract/challenge.js";
import type { KeyKind, Project } from "../contract/entities.js";
import { type BotSettings, defaultRequestScoring, type RequestScoring } from "../contract/session.js";
import { type Refusal, refuse } from "../errors.js";
import { limits } from "../limits.js";
import { nextId, type Store } from "../store/store.js";
import { changeAudited } from "./audit.js";
import { putNewRule, starterRules } from "./rules.js";

export const defaultBotSettings: BotSettings = {
  allowVerified: true,
  protectStatic: true,
  loggedInPolicy: "observe",
};
export const defaultLikelyBotThreshold = 30;

/** `privateKey` is told on the first enabling only: nothing can recover it. */
export interface EnabledScoring {
  readonly project: Project;
  readonly siteKey: string;
  readonly privateKey: string | null;
}

export interface SettingsChange {
  readonly allowVerified?: boolean | undefined;
  readonly protectStatic?: boolean | undefined;
  readonly loggedInPolicy?: BotSettings["loggedInPolicy"] | undefined;
  readonly likelyBotThreshold?: number | undefined;
}

export type RequestScoringChange = { readonly [K in keyof RequestScoring]?: RequestScoring[K] | undefined };
/** What is undefined stays. */
export type ChallengeChange = { readonly [Name in keyof ChallengeSettings]?: ChallengeSettings[Name] | undefined };

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

  /** The account's projects, oldest first. Walks the table: the projects of every account. */
  ofAccount(accountId: number): Project[] {
    const range = this.#store.projects.getRange({}).filter(({ value }) => value.accountId === accountId);
    return [...range].map(({ value }) => value);
  }

  async create(accountId: number, name: string): Promise<Project | Refusal> {
    if (name.trim().length === 0 || name.length > limits.nameMax) {
      return refuse("invalidPayload", `a name has 1 to ${limits.nameMax} characters`);
    }
    return changeAudited(this.#store, this.#now, (record) => {
      if (this.#store.accounts.get(accountId) === undefined) {
        return refuse("notFound", `there is no account ${accountId}`);
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
      this.#store.projects.putSync(project.id, project);
      for (const rule of starterRules) putNewRule(this.#store, project.id, rule, project.createdAt);
      record({ ...of(project), action: "project.created", before: null, after: { name } });
      return project;
    });
  }

  /** Mints both keys the first time; afterwards answers the site key there is. */
  async enableScoring(id: number): Promise<EnabledScoring | Refusal> {
    return changeAudited(this.#store, this.#now, (record) => {
      const project = this.#store.projects.get(id);
      if (project === undefined) return missingProject(id);
      if (project.siteKey !== null) return { project, siteKey: project.siteKey, privateKey: null };
      const siteKey = mintSiteKey();
      const privateKey = mintPrivateKey();
      const enabled: Project = { ...project, siteKey, privateKeyHash: hashSecret(privateKey) };
      this.#putKey(id, "site", hashSecret(siteKey));
      this.#putKey(id, "private", hashSecret(privateKey));
      this.#store.projects.putSync(id, enabled);
      record({ ...of(enabled), action: "scoring.enabled", before: null, after: null });
      return { project: enabled, siteKey, privateKey };
    });
  }

  /** The new key; the old one is refused from the next request on. `conflict` while scoring is not enabled. */
  async rotateKey(id: number, kind: KeyKind): Promise<string | Refusal> {
    return changeAudited(this.#store, this.#now, (record) => {
      const project = this.#store.projects.get(id);
      if (project === undefined) return missingProject(id);
      if (project.siteKey === null || project.privateKeyHash === null) {
        return refuse("conflict", "scoring is not enabled on this project");
      }
      const key = kind === "site" ? mintSiteKey() : mintPrivateKey();
      this.#store.keys.removeSync(kind === "site" ? hashSecret(project.siteKey) : project.privateKeyHash);
      this.#putKey(id, kind, hashSecret(key));
      const rotated: Project =
        kind === "site" ? { ...project, siteKey: key } : { ...project, privateKeyHash: hashSecret(key) };
      this.#store.projects.putSync(id, rotated);
      record({ ...of(rotated), action: "key.rotated", subject: `${kind} key`, before: null, after: null });
      return key;
    });
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
      requestScoringOf,
      ({ requestScoring = defaultRequestScoring }) => ({
        requestScoring: { ...requestScoring, ...given(change) },
      }),
    );
  }

  /** The project after the change; what is undefined stays. */
  changeChallenge(id: number, change: ChallengeChange): Promise<Project | Refusal> {
    return this.#change(id, "challenge.changed", challengeOf, ({ challenge = defaultChallengeSettings }) => ({
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
    return changeAudited(this.#store, this.#now, (record) => {
      const project = this.#store.projects.get(id);
      if (project === undefined) return missingProject(id);
      const after: Project = { ...project, ...changed(project), settingsRevision: project.settingsRevision + 1 };
      this.#store.projects.putSync(id, after);
      record({ ...of(after), action, before: valuesOf(project), after: valuesOf(after) });
      return after;
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

function requestScoringOf({ requestScoring = defaultRequestScoring }: Project): AuditValues {
  return { enabled: requestScoring.enabled, signed_agents: requestScoring.signedAgents };
}

function challengeOf({ challenge = defaultChallengeSettings }: Project): AuditValues {
  const { enabled, difficulty, clearanceMinutes } = challenge;
  return { enabled, difficulty, clearance_minutes: clearanceMinutes };
}

/** The members that are not undefined. */
function given<T extends object>(change: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as never;
}

function missingProject(id: number): Refusal {
  return refuse("notFound", `there is no project ${id}`);
}
