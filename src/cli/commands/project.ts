/** `verdictd project create`, `project enable-scoring`, and the rotation of a project's keys. */
import { Projects } from "../../control-plane/projects.js";
import { limits } from "../../limits.js";
import type { Given, StoreCommand } from "../command.js";
import { expectDone, idOf, oneOf, textOf } from "../given.js";
import { UsageFailure } from "../output.js";

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
  positionals,
  run: async (store, given) => {
    const enabled = expectDone(await new Projects(store, Date.now).enableScoring(idOf(given, "ID")));
    return { project_id: enabled.project.id, site_key: enabled.siteKey, private_key: enabled.privateKey };
  },
};

const rotateKey: StoreCommand = {
  name: "project rotate-key",
  help: "replace a key; the old one is refused at once unless it is given an overlap",
  positionals,
  flags: [
    keyType,
    {
      name: "overlap-hours",
      placeholder: "N",
      help: "hours that the old key goes on working (default 0); keys before it end now",
    },
  ],
  run: async (store, given) => {
    const type = oneOf(given, "type", keyTypes);
    const projects = new Projects(store, Date.now);
    const { key, oldKeyEndsAt } = expectDone(await projects.rotateKey(idOf(given, "ID"), type, overlapHours(given)));
    return { type, key, old_key_ends_at: oldKeyEndsAt };
  },
};

const endOldKeys: StoreCommand = {
  name: "project end-old-keys",
  help: "end rotated keys that still work, before their time",
  positionals,
  flags: [keyType],
  run: async (store, given) => {
    const type = oneOf(given, "type", keyTypes);
    return { type, ended: expectDone(await new Projects(store, Date.now).endOldKeys(idOf(given, "ID"), type)) };
  },
};

/** Creating, enabling scoring, and keys: a new secret is printed once, an old key may go on for some hours. */
export const projectCommands: readonly StoreCommand[] = [
  {
    name: "project create",
    help: "create a project with its two inactive starter rules",
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
  enableScoring,
  rotateKey,
  endOldKeys,
];
