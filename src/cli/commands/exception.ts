/** `verdictd exception list`, `create` and `remove`: whom a project lets through until when. */
import type { Project } from "../../contract/configuration/entities.js";
import type { ExceptionBody, ExceptionRow } from "../../contract/configuration/exceptions.js";
import { checkBody } from "../../contract/validators.js";
import { Exceptions, exceptionRow } from "../../control-plane/exceptions/exceptions.js";
import { readException } from "../../control-plane/exceptions/new-exception.js";
import { findSession } from "../../control-plane/sessions/stored-session.js";
import type { Store } from "../../store/store.js";
import type { StoreCommand } from "../command.js";
import type { Given } from "../flag.js";
import { expectDone, idOf, textOf } from "../given.js";
import { CommandFailure, columns, UsageFailure } from "../output.js";

const project = { name: "project", placeholder: "ID", help: "project id", isRequired: true } as const;

function projectOf(store: Store, given: Given): Project {
  const id = idOf(given, "project");
  const found = store.projects.get(id);
  if (found === undefined) throw new CommandFailure(`there is no project ${id}`);
  return found;
}

/** Flags by the key of the subject that they give. */
const subjectFlags = {
  session: "session_token",
  ip: "ip",
  network: "network",
  "user-agent": "user_agent",
  agent: "agent",
} as const;

const rowCells = ({ id, subject, expires_at, note }: ExceptionRow): string[] => {
  const [[kind = "", value = ""] = []] = Object.entries(subject) as [string, string][];
  return [String(id), `${kind} ${value}`, expires_at, note];
};

const list: StoreCommand<{ readonly data: readonly ExceptionRow[] }> = {
  name: "exception list",
  help: "show whom a project lets through",
  onCluster: "same",
  worksOnMigrated: true,
  flags: [project],
  run: async (store, given) => {
    const { id } = projectOf(store, given);
    return { data: new Exceptions(store, Date.now).all(id).map(exceptionRow) };
  },
  show: ({ data }) => columns([["ID", "SUBJECT", "UNTIL", "NOTE"], ...data.map(rowCells)]),
};

const create: StoreCommand<ExceptionRow> = {
  name: "exception create",
  help: "let somebody through until a given time; give one of --session, --ip, --network, --user-agent and --agent",
  onCluster: "same",
  flags: [
    project,
    { name: "session", placeholder: "TOKEN", help: "a stored session" },
    { name: "ip", placeholder: "ADDRESS", help: "one address" },
    { name: "network", placeholder: "CIDR", help: "a range of addresses" },
    { name: "user-agent", placeholder: "TEXT", help: "a whole user agent" },
    { name: "agent", placeholder: "NAME", help: "an agent or a bot by its name" },
    { name: "until", placeholder: "TIME", help: "ISO 8601, at most a year ahead", isRequired: true },
    { name: "note", placeholder: "TEXT", help: "why" },
    { name: "reference", placeholder: "TEXT", help: "the reference of the block page" },
  ],
  run: async (store, given) => {
    const found = projectOf(store, given);
    const checked = checkBody("ExceptionBody", bodyOf(given));
    if (!("value" in checked)) throw new UsageFailure(`${checked.path} ${checked.fault}`);
    const asked = expectDone(readException(checked.value, Date.now()));
    if (asked.kind === "session_token" && (await findSession(store, asked.value, found.id)) === null) {
      throw new CommandFailure("the project has no such session");
    }
    return exceptionRow(expectDone(await new Exceptions(store, Date.now).create(found, asked)));
  },
};

function bodyOf(given: Given): ExceptionBody {
  const { note, reference } = given;
  const subjects = Object.entries(subjectFlags).filter(([flag]) => given[flag] !== undefined);
  return {
    subject: Object.fromEntries(subjects.map(([flag, kind]) => [kind, given[flag]])),
    expires_at: textOf(given, "until"),
    ...(note !== undefined && { note }),
    ...(reference !== undefined && { reference }),
  };
}

const remove: StoreCommand<ExceptionRow> = {
  name: "exception remove",
  help: "end an exception: the rules decide about them again",
  onCluster: "same",
  positionals: [{ name: "EXCEPTION", help: "id of the exception" }],
  flags: [project],
  run: async (store, given) => {
    const found = projectOf(store, given);
    return exceptionRow(expectDone(await new Exceptions(store, Date.now).remove(found, idOf(given, "EXCEPTION"))));
  },
};

/** List, create and remove. A running server notices at once. */
export const exceptionCommands: readonly StoreCommand[] = [list, create, remove];
