/** Scoring of a project: enable, read, rotate keys, change settings. */
import type {
  OldKeysEndedAnswer,
  RotatedKeyAnswer,
  ScoringAnswer,
  ScoringEnabledAnswer,
} from "../../../contract/api-answers.js";
import type { SettingsBody } from "../../../contract/control.js";
import type { OldKey, Project } from "../../../contract/entities.js";
import type { JsonObject } from "../../../contract/json-body.js";
import { checkEndOldKeys, checkRotate, checkSettings } from "../../../contract/validators.js";
import type { Projects, SettingsChange } from "../../../control-plane/projects.js";
import { Refusal, refuse } from "../../../errors.js";
import type { Reply } from "../../reply.js";
import { json, refusal } from "../../reply.js";
import type { ProjectCall, ProjectRoute } from "../../route.js";
import { guardsView, readBodyAs, settingsView } from "./wire.js";

/** Enforcement moved into rules: these are refused, never translated. */
const removedToggles = ["block_definite", "challenge_likely"] as const;

/** Enabling, rotating and settings by a role that may write; reading by `projects:read`, ending old keys by `projects:write`. */
export function scoringRoutes(projects: Projects): ProjectRoute[] {
  return [
    {
      method: "post",
      path: "/v1/projects/:project/scoring",
      credential: "project",
      needs: "writing-role",
      doc: {
        id: "enableScoring",
        tag: "control plane",
        summary: "Enable scoring",
        description: "Creates both keys the first time; later calls return the existing site key.",
        answers: { 200: "ScoringEnabledAnswer" },
      },
      handle: ({ project }) => enable(projects, project.id),
    },
    {
      method: "get",
      path: "/v1/projects/:project/scoring",
      credential: "project",
      needs: "projects:read",
      doc: {
        id: "getScoring",
        tag: "control plane",
        summary: "The scoring configuration",
        answers: { 200: "ScoringAnswer" },
      },
      handle: ({ project }) => json(200, scoringView(project, projects.oldKeysOf(project))),
    },
    {
      method: "post",
      path: "/v1/projects/:project/scoring/rotate",
      credential: "project",
      needs: "writing-role",
      readsBody: true,
      doc: {
        id: "rotateKey",
        tag: "control plane",
        summary: "Rotate a key",
        description:
          "The old key and all older ones of its type are refused from the next request on. With `overlap_hours` the old key goes on " +
          "working for so long and is then refused: put the new key everywhere it is used before that.",
        body: "RotateBody",
        answers: { 200: "RotatedKeyAnswer" },
        refusals: ["conflict"],
      },
      handle: (call) => rotate(projects, call),
    },
    {
      method: "post",
      path: "/v1/projects/:project/scoring/end-old-keys",
      credential: "project",
      needs: "projects:write",
      readsBody: true,
      doc: {
        id: "endOldKeys",
        tag: "control plane",
        summary: "End rotated keys before their time",
        description: "Rotated keys of this type that still work are refused from the next request on.",
        body: "EndOldKeysBody",
        answers: { 200: "OldKeysEndedAnswer" },
      },
      handle: (call) => endOldKeys(projects, call),
    },
    {
      method: "put",
      path: "/v1/projects/:project/scoring/settings",
      credential: "project",
      needs: "writing-role",
      readsBody: true,
      doc: {
        id: "changeSettings",
        tag: "control plane",
        summary: "Change the settings",
        description:
          "Send only what changes. The removed `block_definite` and `challenge_likely` are refused: enforcement is decided by rules.",
        body: "SettingsBody",
        bodyOptional: true,
        answers: { 200: "SettingsAnswer" },
      },
      handle: (call) => changeSettings(projects, call),
    },
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

async function enable(projects: Projects, id: number): Promise<Reply> {
  const enabled = await projects.enableScoring(id);
  if (enabled instanceof Refusal) return refusal(enabled);
  return json(200, {
    site_key: enabled.siteKey,
    private_key: enabled.privateKey,
    bot_settings: guardsView(enabled.project),
    likely_bot_threshold: enabled.project.likelyBotThreshold,
  } satisfies ScoringEnabledAnswer);
}

async function rotate(projects: Projects, { project, body }: ProjectCall): Promise<Reply> {
  const read = readBodyAs(body, checkRotate);
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

async function endOldKeys(projects: Projects, { project, body }: ProjectCall): Promise<Reply> {
  const read = readBodyAs(body, checkEndOldKeys);
  if (read instanceof Refusal) return refusal(read);
  const { type } = read.value;
  const ended = await projects.endOldKeys(project.id, type);
  return ended instanceof Refusal ? refusal(ended) : json(200, { type, ended } satisfies OldKeysEndedAnswer);
}

async function changeSettings(projects: Projects, { project, body }: ProjectCall): Promise<Reply> {
  const read = readBodyAs(body, checkSettings, {});
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
