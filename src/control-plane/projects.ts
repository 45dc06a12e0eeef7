/** Projects: made here, with scoring enabled, keys rotated and settings changed for the API and the command line. */
import { hashSecret, mintPrivateKey, mintSiteKey } from "../auth/secrets.js";
import type { KeyKind, Project } from "../contract/entities.js";
import type { BotSettings } from "../contract/session.js";
import { type Refusal, refuse } from "../errors.js";
import { limits } from "../limits.js";
import { changeControlPlane, nextId, type Store } from "../store/store.js";
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
    return changeControlPlane(this.#store, () => {
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
      return project;
    });
  }

  /** Mints both keys the first time; afterwards answers the site key there is. */
  async enableScoring(id: number): Promise<EnabledScoring | Refusal> {
    return changeControlPlane(this.#store, () => {
      const project = this.#store.projects.get(id);
      if (project === undefined) return missingProject(id);
      if (project.siteKey !== null) return { project, siteKey: project.siteKey, privateKey: null };
      const siteKey = mintSiteKey();
      const privateKey = mintPrivateKey();
      const enabled: Project = { ...project, siteKey, privateKeyHash: hashSecret(privateKey) };
      this.#putKey(id, "site", hashSecret(siteKey));
      this.#putKey(id, "private", hashSecret(privateKey));
      this.#store.projects.putSync(id, enabled);
      return { project: enabled, siteKey, privateKey };
    });
  }

  /** The new key; the old one is refused from the next request on. `conflict` while scoring is not enabled. */
  async rotateKey(id: number, kind: KeyKind): Promise<string | Refusal> {
    return changeControlPlane(this.#store, () => {
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
      return key;
    });
  }

  /** The project after the change; what is undefined stays. */
  async changeSettings(id: number, change: SettingsChange): Promise<Project | Refusal> {
    const { likelyBotThreshold, ...settings } = change;
    const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
    return changeControlPlane(this.#store, () => {
      const project = this.#store.projects.get(id);
      if (project === undefined) return missingProject(id);
      const changed: Project = {
        ...project,
        botSettings: { ...project.botSettings, ...given },
        likelyBotThreshold: likelyBotThreshold ?? project.likelyBotThreshold,
        settingsRevision: project.settingsRevision + 1,
      };
      this.#store.projects.putSync(id, changed);
      return changed;
    });
  }

  #putKey(projectId: number, kind: KeyKind, hash: string): void {
    this.#store.keys.putSync(hash, { projectId, kind });
  }
}

function missingProject(id: number): Refusal {
  return refuse("notFound", `there is no project ${id}`);
}
