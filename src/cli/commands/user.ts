/** `verdictd user create`. */
import { Accounts } from "../../control-plane/accounts/accounts.js";
import type { StoreCommand } from "../command.js";
import { expectDone, textOf } from "../given.js";

/** Makes a user, whose role comes with `member set`. */
export const userCommands: readonly StoreCommand[] = [
  {
    name: "user create",
    help: "create a user",
    onCluster: "same",
    createsStore: true,
    flags: [
      { name: "name", placeholder: "NAME", help: "name of the person", isRequired: true },
      { name: "email", placeholder: "EMAIL", help: "e-mail address; must be unique", isRequired: true },
    ],
    run: async (store, given) => {
      const accounts = new Accounts(store, Date.now);
      const user = expectDone(await accounts.createUser(textOf(given, "name"), textOf(given, "email")));
      return { id: user.id, name: user.name, email: user.email, created_at: user.createdAt };
    },
  },
];
