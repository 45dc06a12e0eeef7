/** `verdictd project create`. */
import { Projects } from "../../control-plane/projects.js";
import type { StoreCommand } from "../command.js";
import { expectDone, idOf, textOf } from "../given.js";

export const projectCommands: readonly StoreCommand[] = [
  {
    name: "project create",
    help: "make a project, with its two inactive starter rules",
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
];
