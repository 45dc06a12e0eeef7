/** A group of a project's settings: one route that reads them, one that changes what is sent of them. */
import type { AnswerOf, BodyOf, OperationId } from "../../../contract/api/operations.js";
import type { Project } from "../../../contract/configuration/entities.js";
import type { Mismatch } from "../../../contract/values/mismatch.js";
import { Refusal, refuse } from "../../../errors.js";
import { type Answered, type Asked, projectRoute } from "../../operation-route.js";
import { json, refusal } from "../../reply.js";
import type { ProjectRoute } from "../../route.js";

/** `Change` takes what may be sent, each field optional; `Given` is the same as it is stored. */
interface SettingsGroup<Read extends OperationId, Change extends OperationId, Given extends object> {
  readonly read: Read;
  readonly change: Change;
  /** What they are settings of, as in "The settings of …". */
  readonly of: string;
  readonly description?: string;
  /** What the body's type can't say; null: nothing is wrong. */
  readonly faultIn?: (sent: BodyOf<Change>) => Mismatch | null;
  /** Unknown fields of a body are left out here. */
  readonly given: (sent: BodyOf<Change>) => Given;
  /** Called only when something is given. */
  readonly store: (projectId: number, given: Given) => Promise<Project | Refusal>;
  /** The settings as they are answered. */
  readonly view: (project: Project) => AnswerOf<Read> & AnswerOf<Change>;
}

/** `GET` by `projects:read` and `PUT` by `projects:write`; both answer the settings as they are then. */
export function settingsRoutes<Read extends OperationId, Change extends OperationId, Given extends object>(
  group: SettingsGroup<Read, Change, Given>,
): ProjectRoute[] {
  const { read, change, of, description, view } = group;
  return [
    projectRoute(read, {
      needs: "projects:read",
      doc: {
        tag: "control plane",
        summary: `The settings of ${of}`,
        ...(description !== undefined && { description }),
      },
      handle: ({ project }) => json(200, view(project)),
    }),
    projectRoute(change, {
      needs: "projects:write",
      doc: {
        tag: "control plane",
        summary: `Change the settings of ${of}`,
        description: "Send only what changes. It takes effect at once.",
      },
      handle: (call) => changed(group, call),
    }),
  ];
}

async function changed<Read extends OperationId, Change extends OperationId, Given extends object>(
  group: SettingsGroup<Read, Change, Given>,
  { project, readBody }: Asked<Change>,
): Promise<Answered<Change>> {
  const read = readBody();
  if (read instanceof Refusal) return refusal(read);
  const fault = group.faultIn?.(read.value) ?? null;
  if (fault !== null) return refusal(refuse("invalidPayload", `${fault.path} ${fault.fault}`));
  const given = group.given(read.value);
  const isChange = Object.values(given).some((value) => value !== undefined);
  const stored = isChange ? await group.store(project.id, given) : project;
  return stored instanceof Refusal ? refusal(stored) : json(200, group.view(stored));
}
