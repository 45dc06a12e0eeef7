/** `verdictd project create`, `project list`, `project enable-scoring`, and the rotation of a project's keys. */

import { Projects } from "../../control-plane/accounts/projects.js";
import { limits } from "../../limits.js";
import type { StoreCommand } from "../command.js";
import type { Given } from "../flag.js";
import { expectDone, idOf, oneOf, textOf } from "../given.js";
import { CommandFailure, columns, isTyped, keyLines, say, UsageFailure } from "../output.js";

const positionals = [{ name: "ID", help: "project id" }] as const;
const keyType = { name: "type", placeholder: "site|private", help: "which key", isRequired: true } as const;
const keyTypes = ["site", "private"] as const;

function overlapHours(given: Given): number {
  const text = given["overlap-hours"] ?? "0";
  if (/^[0-9]{1,3}$/.test(text) && Number(text) <= limits.keyOverlapHoursMax) return Number(text);
  throw new UsageFailure(`--overlap-hours: expected 0 to ${limits.keyOverlapHoursMax}, got "${text}"`);
}

const enableScoring: StoreCommand = {
  name: "project enable-scoring",
  help: "enable scoring; the first time it prints both keys, the private one this once",
  onCluster: "same",
  positionals,
  run: async (store, given) => {
    const enabled = expectDone(await new Projects(store, Date.now).enableScoring(idOf(given, "ID")));
    return { project_id: enabled.project.id, site_key: enabled.siteKey, private_key: enabled.privateKey };
  },
};

/** A new key, and until when older ones work. */
interface Rotated {
  readonly type: (typeof keyTypes)[number];
  readonly key: string;
  readonly old_key_ends_at: string | null;
  /** Keys that were rotated earlier with an overlap, which this rotation has ended. */
  readonly ended: number;
}

const rotateKey: StoreCommand<Rotated> = {
  name: "project rotate-key",
  help: "replace a key; without --overlap-hours the old key is refused at once",
  onCluster: "same",
  positionals,
  flags: [
    keyType,
    { name: "yes", help: "rotate without asking, even if older keys that still work end at once" },
    {
      name: "overlap-hours",
      placeholder: "N",
      help: "hours that the old key still works (default 0: it and all older keys are refused at once)",
    },
  ],
  run: async (store, given) => {
    const type = oneOf(given, "type", keyTypes);
    const projects = new Projects(store, Date.now);
    const [id, hours] = [idOf(given, "ID"), overlapHours(given)];
    if (hours === 0 && given["yes"] === undefined) await agreeToEnd(projects, id, type);
    const { key, oldKeyEndsAt, endedKeys } = expectDone(await projects.rotateKey(id, type, hours));
    return { type, key, old_key_ends_at: oldKeyEndsAt, ended: endedKeys };
  },
  show: ({ type, key, old_key_ends_at, ended }) => {
    const old = old_key_ends_at === null ? "is refused from now on" : `works until ${old_key_ends_at}`;
    const lines = [keyLines({ type, key }), "", `The ${type} key before it ${old}.`];
    if (ended > 0)
      lines.push(`${ended} older ${type} ${ended === 1 ? "key" : "keys"} from earlier rotations ended too.`);
    return lines.join("\n");
  },
};

/** Says which overlaps are still running, and asks whoever sits at a terminal; scripts have to say `--yes`. Where none is running, nothing is asked. */
async function agreeToEnd(projects: Projects, id: number, type: (typeof keyTypes)[number]): Promise<void> {
  const project = projects.find(id);
  const running = project === null ? [] : projects.oldKeysOf(project).filter(({ kind }) => kind === type);
  if (running.length === 0) return;
  const ends = running.map(({ endsAt }) => endsAt).join(", ");
  const question = `Older ${type} keys still work until ${ends}. Without --overlap-hours, this rotation ends them now`;
  if (!process.stdin.isTTY) throw new CommandFailure(`${question}: nothing was rotated; --yes rotates all the same`);
  say(`${question}.`);
  if (!(await isTyped("Type yes to rotate: ", "yes"))) throw new CommandFailure("nothing was rotated");
}

const endOldKeys: StoreCommand = {
  name: "project end-old-keys",
  help: "end rotated keys that still work, before their time",
  onCluster: "same",
  positionals,
  flags: [keyType],
  run: async (store, given) => {
    const type = oneOf(given, "type", keyTypes);
    return { type, ended: expectDone(await new Projects(store, Date.now).endOldKeys(idOf(given, "ID"), type)) };
  },
};

interface Listed {
  readonly id: number;
  readonly account_id: number;
  readonly name: string;
  readonly site_key: string | null;
  readonly created_at: string;
}

const list: StoreCommand<{ readonly data: readonly Listed[] }> = {
  name: "project list",
  help: "show the projects, all or those of one account, with their site keys",
  onCluster: "same",
  worksOnMigrated: true,
  flags: [{ name: "account", placeholder: "ID", help: "only those of this account" }],
  run: async (store, given) => {
    const projects = new Projects(store, Date.now);
    const found = given["account"] === undefined ? projects.all() : [...projects.ofAccount(idOf(given, "account"))];
    const data = found.map(({ id, accountId, name, siteKey, createdAt }) => ({
      id,
      account_id: accountId,
      name,
      site_key: siteKey,
      created_at: createdAt,
    }));
    return { data };
  },
  show: ({ data }) =>
    columns([
      ["ID", "ACCOUNT", "NAME", "SITE KEY"],
      ...data.map(({ id, account_id, name, site_key }) => [
        String(id),
        String(account_id),
        name,
        site_key ?? "scoring is not enabled",
      ]),
    ]),
};

/** Creating, listing, enabling scoring, and keys: a new secret is printed once, an old key may go on for some hours. */
export const projectCommands: readonly StoreCommand[] = [
  {
    name: "project create",
    help: "create a project with its two inactive starter rules",
    onCluster: "same",
    flags: [
      { name: "account", placeholder: "ID", help: "account id", isRequired: true },
      { name: "name", placeholder: "NAME", help: "project name", isRequired: true },
    ],
    run: async (store, given) => {
      const projects = new Projects(store, Date.now);
      const project = expectDone(await projects.create(idOf(given, "account"), textOf(given, "name")));
      return { id: project.id, account_id: project.accountId, name: project.name, created_at: project.createdAt };
    },
  },
  list,
  enableScoring,
  rotateKey,
  endOldKeys,
];
