/**
 * Exceptions of a project: sessions, addresses, user agents and agents that are let through until a time, before any rule is asked. Few and short-lived, so
 * they are configuration: changes take effect at once, on every node, and are logged. Expired ones, and those of sessions that are gone, are erased.
 */
import { LRUCache } from "lru-cache";
import type { AuditValues } from "../../contract/configuration/audit.js";
import type { Project } from "../../contract/configuration/entities.js";
import type { Exception, ExceptionRow, ExceptionSubjectKind } from "../../contract/configuration/exceptions.js";
import type { ProjectSettings } from "../../contract/sessions/session.js";
import { type Refusal, refuse } from "../../errors.js";
import { limits } from "../../limits.js";
import { changeControlPlane } from "../../store/control-plane-changes.js";
import { nextId, type Store } from "../../store/store.js";
import { type AuditedChange, audited, changeAudited } from "../logs/audit.js";
import { encodeIdCursor, type LogPage } from "../logs/cursor.js";
import { findSession } from "../sessions/stored-session.js";
import { ExceptionIndex } from "./exception-index.js";

/** An exception to make: its subject in the form that is compared. */
export type NewException = Pick<Exception, "kind" | "value" | "shown" | "expiresAt" | "note" | "reference">;

const perProject = { max: limits.compiledProjectsMax };

/** Refuses `notFound` for an exception of another project, `conflict` for one too many. All changes are logged, without tokens of sessions. */
export class Exceptions {
  readonly #store: Store;
  readonly #now: () => number;
  readonly #ready = new LRUCache<number, { readonly revision: number; readonly index: ExceptionIndex | null }>(
    perProject,
  );

  constructor(store: Store, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** Null for a project without exceptions. Memoised by the project's settings revision, which every change raises. */
  ready({ id, settingsRevision }: Pick<ProjectSettings, "id" | "settingsRevision">): ExceptionIndex | null {
    const memo = this.#ready.get(id);
    if (memo?.revision === settingsRevision) return memo.index;
    const index = ExceptionIndex.of(rowsOf(this.#store, id));
    this.#ready.set(id, { revision: settingsRevision, index });
    return index;
  }

  /** Those that have not expired and have ids above `after`, the oldest first. */
  page(projectId: number, limit: number, after: number): LogPage<Exception> {
    const valid = rowsOf(this.#store, projectId, after).filter((each) => !isOver(each, this.#now()));
    const rows = valid.slice(0, limit);
    return { rows, nextCursor: valid.length > limit ? encodeIdCursor(rows.at(-1)!.id) : null };
  }

  create(project: Project, exception: NewException): Promise<Exception | Refusal> {
    return changeAudited(this.#store, this.#now, () => {
      const valid = rowsOf(this.#store, project.id).filter((each) => !isOver(each, this.#now()));
      if (valid.length >= limits.exceptionsPerProjectMax) {
        return refuse("conflict", `a project has at most ${limits.exceptionsPerProjectMax} exceptions: remove some`);
      }
      const id = nextId(this.#store, "exception");
      const createdAt = new Date(this.#now()).toISOString();
      const created: Exception = { id, projectId: project.id, ...exception, createdAt };
      this.#store.exceptions.putSync([project.id, id], created);
      raiseSettingsRevision(this.#store, project.id);
      return audited(created, changeOf(project, created, "exception.created"));
    });
  }

  remove(project: Project, id: number): Promise<Exception | Refusal> {
    return changeAudited(this.#store, this.#now, () => {
      const exception = this.#store.exceptions.get([project.id, id]);
      if (exception === undefined) return refuse("notFound", "the project has no such exception");
      this.#store.exceptions.removeSync([project.id, id]);
      raiseSettingsRevision(this.#store, project.id);
      return audited(exception, changeOf(project, exception, "exception.removed"));
    });
  }

  /** The same, all of them. */
  all(projectId: number): Exception[] {
    return rowsOf(this.#store, projectId).filter((each) => !isOver(each, this.#now()));
  }

  /** Erases what has expired and what was for a session that is gone; returns how many. Rejects when a cluster can't be asked. */
  async sweep(): Promise<number> {
    let erased = 0;
    for (const projectId of [...this.#store.projects.getKeys({})]) {
      const over: number[] = [];
      for (const each of rowsOf(this.#store, projectId)) {
        if (isOver(each, this.#now()) || (await this.#isOrphan(each))) over.push(each.id);
      }
      if (over.length === 0) continue;
      erased += await changeControlPlane(this.#store, () => {
        const gone = over.filter((id) => this.#store.exceptions.removeSync([projectId, id]));
        if (gone.length > 0) raiseSettingsRevision(this.#store, projectId);
        return { result: gone.length, entries: [] };
      });
    }
    return erased;
  }

  async #isOrphan({ kind, value, projectId }: Exception): Promise<boolean> {
    return kind === "session_token" && (await findSession(this.#store, value, projectId)) === null;
  }
}

/**
 * Erases the exceptions of these sessions. Call inside a change of the configuration: in a cluster it reaches all nodes with it.
 */
export function eraseExceptionsOf(store: Store, projectId: number, tokens: ReadonlySet<string>): number {
  const named = rowsOf(store, projectId).filter(({ kind, value }) => kind === "session_token" && tokens.has(value));
  for (const { id } of named) store.exceptions.removeSync([projectId, id]);
  return named.length;
}

/** An exception as answers have it. */
export function exceptionRow({
  id,
  kind,
  value,
  shown,
  expiresAt,
  note,
  reference,
  createdAt,
}: Exception): ExceptionRow {
  return {
    id,
    subject: { [kind]: shown ?? value },
    expires_at: expiresAt,
    note,
    ...(reference !== undefined && { reference }),
    created_at: createdAt,
  };
}

function rowsOf(store: Store, projectId: number, after = 0): Exception[] {
  const range = { start: [projectId, after + 1], end: [projectId + 1, 0] } as const;
  return [...store.exceptions.getRange(range as never)].map(({ value }) => value);
}

function isOver({ expiresAt }: Exception, nowMs: number): boolean {
  return Date.parse(expiresAt) <= nowMs;
}

/** Cached verdicts of the project count no more. */
function raiseSettingsRevision(store: Store, projectId: number): void {
  const project = store.projects.get(projectId);
  if (project === undefined) return;
  store.projects.putSync(projectId, { ...project, settingsRevision: project.settingsRevision + 1 });
}

const subjectWords: Record<ExceptionSubjectKind, string> = {
  session_token: "a session",
  ip: "address",
  network: "network",
  user_agent: "user agent",
  agent: "agent",
};

function changeOf(
  { id: projectId, accountId }: Project,
  { id, kind, value, shown = value, expiresAt, note, reference }: Exception,
  action: "exception.created" | "exception.removed",
): AuditedChange {
  // The log outlives sessions: it names none.
  const whom = kind === "session_token" ? subjectWords[kind] : `${subjectWords[kind]} ${shown}`;
  const values: AuditValues = { subject: whom, expires_at: expiresAt, note, reference: reference ?? null };
  const isNew = action === "exception.created";
  return {
    accountId,
    projectId,
    action,
    subject: `exception ${id} (${whom})`,
    before: isNew ? null : values,
    after: isNew ? values : null,
  };
}
