/**
 * The projects behind the test keys: made at the start of a server with `--test-keys`, and without keys again at the start of one that lacks it, so
 * that keys which everybody knows work only where somebody asked for them.
 */
import { hashSecret } from "../../auth/secrets.js";
import type { Project } from "../../contract/configuration/entities.js";
import { type TestOutcome, testKeys, testOutcomes } from "../../contract/configuration/test-keys.js";
import { Refusal } from "../../errors.js";
import { putProject } from "../../store/account-rows.js";
import type { Store } from "../../store/store.js";
import { audited, changeAudited, unchanged } from "../logs/audit.js";
import type { Projects } from "./projects.js";

/** A pair that works now. */
interface TestPair {
  readonly outcome: TestOutcome;
  readonly projectId: number;
  readonly siteKey: string;
  readonly privateKey: string;
}

const names: Readonly<Record<TestOutcome, string>> = {
  human: "Test keys: always human",
  bot: "Test keys: always a bot",
  challenge: "Test keys: always challenged",
  refused: "Test keys: always challenged, never let in",
};

/** Lets the test keys work, with projects of this account; those that were there before keep their settings and rules. */
export async function startTestKeys(
  store: Store,
  projects: Projects,
  accountId: number,
  now: () => number,
): Promise<readonly TestPair[] | Refusal> {
  const pairs: TestPair[] = [];
  for (const outcome of testOutcomes) {
    const keys = testKeys(outcome);
    const hashes = { site: hashSecret(keys.siteKey), private: hashSecret(keys.privateKey) };
    const current = projectOfKeys(store, hashes);
    if (current?.siteKey === keys.siteKey && current.privateKeyHash === hashes.private) {
      pairs.push({ outcome, projectId: current.id, ...keys });
      continue;
    }
    await endPair(store, outcome, now);
    const known = [...projects.ofAccount(accountId)].find((each) => each.name === names[outcome] && !each.siteKey);
    const project = known ?? (await projects.create(accountId, names[outcome]));
    if (project instanceof Refusal) return project;
    await enable(store, project.id, keys.siteKey, hashes, now);
    pairs.push({ outcome, projectId: project.id, ...keys });
  }
  return pairs;
}

/** Ends every test key, and what else opens its project. */
export async function endTestKeys(store: Store, now: () => number): Promise<void> {
  for (const outcome of testOutcomes) await endPair(store, outcome, now);
}

/** Hashes of a pair. */
interface Hashes {
  readonly site: string;
  readonly private: string;
}

function projectOfKeys(store: Store, hashes: Hashes): Project | undefined {
  const owner = store.keys.get(hashes.site) ?? store.keys.get(hashes.private);
  return owner && store.projects.get(owner.projectId);
}

/** Rules act at once here: keys that always answer `bot` are there to be blocked. */
async function enable(store: Store, id: number, siteKey: string, hashes: Hashes, now: () => number): Promise<void> {
  await changeAudited(store, now, () => {
    const project = store.projects.get(id);
    if (project === undefined) return unchanged(null);
    store.keys.putSync(hashes.site, { projectId: id, kind: "site" });
    store.keys.putSync(hashes.private, { projectId: id, kind: "private" });
    for (const { key, value } of [...store.rules.getRange({ start: [id, 0], end: [id + 1, 0] })]) {
      store.rules.putSync(key, { ...value, isActive: true });
    }
    const enabled: Project = {
      ...project,
      siteKey,
      privateKeyHash: hashes.private,
      requestScoring: project.requestScoring ?? { enabled: true, signedAgents: "allow", issueTokens: true },
      challenge: project.challenge ?? { enabled: true, difficulty: "low", clearanceMinutes: 60 },
      settingsRevision: project.settingsRevision + 1,
      rulesRevision: project.rulesRevision + 1,
    };
    putProject(store, enabled);
    const [before, after] = [{ enabled: false }, { enabled: true }];
    return audited(null, { ...changeOf(enabled), action: "scoring.enabled", before, after });
  });
}

async function endPair(store: Store, outcome: TestOutcome, now: () => number): Promise<void> {
  const keys = testKeys(outcome);
  const hashes = { site: hashSecret(keys.siteKey), private: hashSecret(keys.privateKey) };
  // Most stores have none: nothing is written then.
  if (projectOfKeys(store, hashes) === undefined) return;
  await changeAudited(store, now, () => {
    const project = projectOfKeys(store, hashes);
    if (project === undefined) return unchanged(null);
    const { oldKeys = [], ...kept } = project;
    const own = [project.siteKey && hashSecret(project.siteKey), project.privateKeyHash];
    for (const hash of [...own, ...oldKeys.map((old) => old.hash)]) if (hash) store.keys.removeSync(hash);
    const ended: Project = { ...kept, siteKey: null, privateKeyHash: null };
    putProject(store, ended);
    return audited(null, { ...changeOf(ended), subject: "test keys", action: "key.ended", before: null, after: null });
  });
}

const changeOf = ({ accountId, id, name }: Project) => ({
  accountId,
  projectId: id,
  subject: `project ${id} "${name}"`,
});
