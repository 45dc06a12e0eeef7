/** A group of a project's settings: one route that reads them, one that changes what is sent of them. */
import type { ApiTypes } from "../../../contract/api-answers.js";
import type { Project } from "../../../contract/entities.js";
import { Refusal } from "../../../errors.js";
import { json, type Reply, refusal } from "../../reply.js";
import type { ProjectCall, ProjectRoute } from "../../route.js";
import { readBodyAs } from "./wire.js";

/** `Body` is what may be sent, each field optional; `Given` the same as it is stored. */
interface SettingsGroup<Body extends object, Given extends object> {
  /** Below the project. */
  readonly path: string;
  /** Operation ids are `get…` and `change…` of it; body and answer are the types `…Body` and `…Answer`. */
  readonly id: string;
  readonly body: keyof ApiTypes;
  readonly answer: keyof ApiTypes;
  /** What they are settings of, as in "The settings of …". */
  readonly of: string;
  readonly description?: string;
  readonly check: Parameters<typeof readBodyAs<Body>>[1];
  /** Unknown fields of a body are left out here. */
  readonly given: (sent: Body) => Given;
  /** Called only when something is given. */
  readonly change: (projectId: number, given: Given) => Promise<Project | Refusal>;
  /** The settings as they are answered. */
  readonly view: (project: Project) => object;
}

/** `GET` by `projects:read` and `PUT` by `projects:write`; both answer the settings as they are then. */
export function settingsRoutes<Body extends object, Given extends object>(
  group: SettingsGroup<Body, Given>,
): ProjectRoute[] {
  const { id, of, body, answer, description, view } = group;
  const path = `/v1/projects/:project/${group.path}`;
  return [
    {
      method: "get",
      path,
      credential: "project",
      needs: "projects:read",
      doc: {
        id: `get${id}`,
        tag: "control plane",
        summary: `The settings of ${of}`,
        ...(description !== undefined && { description }),
        answers: { 200: answer },
      },
      handle: ({ project }) => json(200, view(project)),
    },
    {
      method: "put",
      path,
      credential: "project",
      needs: "projects:write",
      readsBody: true,
      doc: {
        id: `change${id}`,
        tag: "control plane",
        summary: `Change the settings of ${of}`,
        description: "Send only what changes. It takes effect at once.",
        body,
        bodyOptional: true,
        answers: { 200: answer },
      },
      handle: (call) => change(group, call),
    },
  ];
}

async function change<Body extends object, Given extends object>(
  group: SettingsGroup<Body, Given>,
  { project, body }: ProjectCall,
): Promise<Reply> {
  const read = readBodyAs(body, group.check, {} as Body);
  if (read instanceof Refusal) return refusal(read);
  const given = group.given(read.value);
  const isChange = Object.values(given).some((value) => value !== undefined);
  const changed = isChange ? await group.change(project.id, given) : project;
  return changed instanceof Refusal ? refusal(changed) : json(200, group.view(changed));
}
