/** `verdictd init`: the first account, owner, project and token of an empty store. */
import { Accounts } from "../../control-plane/accounts.js";
import { createFirstAccount } from "../../control-plane/first-account.js";
import { Projects } from "../../control-plane/projects.js";
import type { StoreCommand } from "../command.js";
import { expectDone } from "../given.js";

export const initCommand: StoreCommand = {
  name: "init",
  help: "make the first account, owner, project and token; refuses a store that has accounts",
  createsStore: true,
  run: async (store) => {
    const accounts = new Accounts(store, Date.now);
    const made = expectDone(await createFirstAccount(accounts, new Projects(store, Date.now)));
    return {
      account_id: made.accountId,
      user_id: made.userId,
      project_id: made.projectId,
      account_token: made.accountToken,
    };
  },
};
