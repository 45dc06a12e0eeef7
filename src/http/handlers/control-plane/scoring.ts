/** Scoring of a project: enable, read, rotate keys, change settings. */
import type { RotatedKeyAnswer, ScoringAnswer, ScoringEnabledAnswer } from "../../../contract/api-answers.js";
import { checkRotate, checkSettings } from "../../../contract/validators.js";
import type { Projects, SettingsChange } from "../../../control-plane/projects.js";
import { Refusal, refuse } from "../../../errors.js";
import type { Reply } from "../../reply.js";
import { json, refusal } from "../../reply.js";
import type { ProjectCall, ProjectRoute } from "../../route.js";
import { guardsView, readBodyAs, settingsView } from "./wire.js";

/** Enforcement moved into rules: these are refused, never translated. */
const removedToggles = ["block_definite", "challenge_likely"] as const;

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
        description: "Mints both keys the first time; afterwards answers the site key there is.",
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
      handle: ({ project }) =>
        json(200, {
          enabled: project.siteKey !== null,
          site_key: project.siteKey,
          ...settingsView(project),
        } satisfies ScoringAnswer),
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
        description: "The old key is refused from the next request on.",
        body: "RotateBody",
        answers: { 200: "RotatedKeyAnswer" },
        refusals: ["conflict"],
      },
      handle: (call) => rotate(projects, call),
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
  const key = await projects.rotateKey(project.id, read.value.type);
  return key instanceof Refusal ? refusal(key) : json(200, { type: read.value.type, key } satisfies RotatedKeyAnswer);
}

async function changeSettings(projects: Projects, { project, body }: ProjectCall): Promise<Reply> {
  const read = readBodyAs(body, checkSettings, {});
  if (read instanceof Refusal) return refusal(read);
  const removed = removedToggles.find((toggle) => Object.hasOwn(read.raw, toggle));
  if (removed !== undefined) {
    return refusal(refuse("invalidPayload", `${removed} was removed: enforcement is decided by rules`));
  }
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
