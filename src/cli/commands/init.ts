/** `verdictd init`: the first account, owner, project and token of an empty store. */

import { Accounts } from "../../control-plane/accounts/accounts.js";
import { createFirstAccount } from "../../control-plane/accounts/first-account.js";
import { Projects } from "../../control-plane/accounts/projects.js";
import type { StoreCommand } from "../command.js";
import type { Given } from "../flag.js";
import { expectDone } from "../given.js";
import { keyLines } from "../output.js";

/** What a first account is used with. */
interface FirstKeys {
  readonly account_id: number;
  readonly user_id: number;
  readonly project_id: number;
  readonly account_token: string;
}

/** Prints the ids of what was made and the account token, this once. Enables no scoring. */
export const initCommand: StoreCommand<FirstKeys> = {
  name: "init",
  help: "create the first account, owner, project and token; refuses a store that has accounts",
  onCluster: "same",
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
  show: (made, given) => `${keyLines(made)}\n\n${nextStep(made.project_id, given)}`,
};

/** A project has keys once scoring is enabled, which the contract leaves to its owner. */
function nextStep(projectId: number, given: Given): string {
  const folder = given["data-dir"] === undefined ? "" : ` --data-dir ${given["data-dir"]}`;
  // Without the URL itself, which may hold a password.
  const where = folder + (given["store"] === undefined ? "" : " --store URL");
  return `The token is shown only once. Next, enable scoring, which prints the keys, and start the server:
verdictd project enable-scoring ${projectId}${where}
verdictd serve${where}`;
}
