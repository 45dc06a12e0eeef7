/** Scoring of a project: enable, read, rotate keys, change settings. */

import type { JsonObject } from "../../../contract/api/json-body.js";
import type { SettingsBody } from "../../../contract/configuration/control.js";
import type { OldKey, Project } from "../../../contract/configuration/entities.js";
import type {
  OldKeysEndedAnswer,
  RotatedKeyAnswer,
  ScoringAnswer,
  ScoringEnabledAnswer,
} from "../../../contract/configuration/project-answers.js";
import type { Projects, SettingsChange } from "../../../control-plane/accounts/projects.js";
import { Refusal, refuse } from "../../../errors.js";
import { type Answered, type Asked, projectRoute } from "../../operation-route.js";
import { json, refusal } from "../../reply.js";
import type { ProjectRoute } from "../../route.js";
import { guardsView, settingsView } from "./wire.js";

/** Enforcement moved into rules: these are refused, never translated. */
const removedToggles = ["block_definite", "challenge_likely"] as const;

/** Enabling, rotating and settings by a role that may write; reading by `projects:read`, ending old keys by `projects:write`. */
export function scoringRoutes(projects: Projects): ProjectRoute[] {
  return [
    projectRoute("enableScoring", {
      needs: "writing-role",
      doc: {
        tag: "control plane",
        summary: "Enable scoring",
        description: "Creates both keys the first time; later calls return the existing site key.",
      },
      handle: ({ project }) => enable(projects, project.id),
    }),
    projectRoute("getScoring", {
      needs: "projects:read",
      doc: { tag: "control plane", summary: "The scoring configuration" },
      handle: ({ project }) => json(200, scoringView(project, projects.oldKeysOf(project))),
    }),
    projectRoute("rotateKey", {
      needs: "writing-role",
      doc: {
        tag: "control plane",
        summary: "Rotate a key",
        description:
          "The old key and all older ones of its type are refused from the next request on. With `overlap_hours` the old key goes on " +
          "working for so long and is then refused: put the new key everywhere it is used before that.",
        refusals: ["conflict"],
      },
      handle: (call) => rotate(projects, call),
    }),
    projectRoute("endOldKeys", {
      needs: "projects:write",
      doc: {
        tag: "control plane",
        summary: "End rotated keys before their time",
        description: "Rotated keys of this type that still work are refused from the next request on.",
      },
      handle: (call) => endOldKeys(projects, call),
    }),
    projectRoute("changeSettings", {
      needs: "writing-role",
      doc: {
        tag: "control plane",
        summary: "Change the settings",
        description:
          "Send only what changes. The removed `block_definite` and `challenge_likely` are refused: enforcement is decided by rules.",
      },
      handle: (call) => changeSettings(projects, call),
    }),
  ];
}

function scoringView(project: Project, oldKeys: readonly OldKey[]): ScoringAnswer {
  const old_keys = oldKeys.map(({ kind, rotatedAt, endsAt }) => ({
    type: kind,
    rotated_at: rotatedAt,
    ends_at: endsAt,
  }));
  return {
    enabled: project.siteKey !== null,
    site_key: project.siteKey,
    ...settingsView(project),
    ...(old_keys.length > 0 && { old_keys }),
  };
}

async function enable(projects: Projects, id: number): Promise<Answered<"enableScoring">> {
  const enabled = await projects.enableScoring(id);
  if (enabled instanceof Refusal) return refusal(enabled);
  return json(200, {
    site_key: enabled.siteKey,
    private_key: enabled.privateKey,
    bot_settings: guardsView(enabled.project),
    likely_bot_threshold: enabled.project.likelyBotThreshold,
  } satisfies ScoringEnabledAnswer);
}

async function rotate(projects: Projects, { project, readBody }: Asked<"rotateKey">): Promise<Answered<"rotateKey">> {
  const read = readBody();
  if (read instanceof Refusal) return refusal(read);
  const { type, overlap_hours = 0 } = read.value;
  const rotated = await projects.rotateKey(project.id, type, overlap_hours);
  if (rotated instanceof Refusal) return refusal(rotated);
  const { key, oldKeyEndsAt } = rotated;
  return json(200, {
    type,
    key,
    ...(oldKeyEndsAt !== null && { old_key_ends_at: oldKeyEndsAt }),
  } satisfies RotatedKeyAnswer);
}

async function endOldKeys(
  projects: Projects,
  { project, readBody }: Asked<"endOldKeys">,
): Promise<Answered<"endOldKeys">> {
  const read = readBody();
  if (read instanceof Refusal) return refusal(read);
  const { type } = read.value;
  const ended = await projects.endOldKeys(project.id, type);
  return ended instanceof Refusal ? refusal(ended) : json(200, { type, ended } satisfies OldKeysEndedAnswer);
}

async function changeSettings(
  projects: Projects,
  { project, readBody }: Asked<"changeSettings">,
): Promise<Answered<"changeSettings">> {
  const read = readBody();
  if (read instanceof Refusal) return refusal(read);
  const removed = removedToggleIn(read.raw);
  if (removed !== null) return refusal(removed);
  const change: SettingsChange = {
    allowVerified: read.value.allow_verified,
    protectStatic: read.value.protect_static,
    loggedInPolicy: read.value.logged_in_policy,
    likelyBotThreshold: read.value.likely_bot_threshold,
  };
  const isChange = Object.values(change).some((value) => value !== undefined);
  const changed = isChange ? await projects.changeSettings(project.id, change) : project;
  return changed instanceof Refusal ? refusal(changed) : json(200, settingsView(changed));
}

/** The refusal of a body that names a removed toggle; null for none. */
export function removedToggleIn(body: JsonObject): Refusal | null {
  const removed = removedToggles.find((toggle) => Object.hasOwn(body, toggle));
  if (removed === undefined) return null;
  return refuse("invalidPayload", `${removed} was removed: enforcement is decided by rules`);
}

/** The project as it would be with these settings. */
export function changedProject(project: Project, settings: SettingsBody): Project {
  const { botSettings, likelyBotThreshold } = project;
  return {
    ...project,
    likelyBotThreshold: settings.likely_bot_threshold ?? likelyBotThreshold,
    botSettings: {
      allowVerified: settings.allow_verified ?? botSettings.allowVerified,
      protectStatic: settings.protect_static ?? botSettings.protectStatic,
      loggedInPolicy: settings.logged_in_policy ?? botSettings.loggedInPolicy,
    },
  };
}
