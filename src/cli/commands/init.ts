/** `verdictd init`: the first account, owner, project and token of an empty store. */
import { Accounts } from "../../control-plane/accounts.js";
import { createFirstAccount } from "../../control-plane/first-account.js";
import { Projects } from "../../control-plane/projects.js";
import type { StoreCommand } from "../command.js";
import { expectDone } from "../given.js";
import { keyLines, say, UsageFailure } from "../output.js";

/** Prints the ids of what was made and the account token, this once. Enables no scoring. */
export const initCommand: StoreCommand = {
  name: "init",
  help: "create the first account, owner, project and token; refuses a store that has accounts",
  flags: [
    {
      name: "session-stores",
      placeholder: "N",
      help: "removed: all sessions are in one file; 1 is accepted and has no effect",
    },
  ],
  createsStore: true,
  checkGiven: (given) => {
    const count = given["session-stores"];
    if (count === undefined) return;
    if (count !== "1")
      throw new UsageFailure(`--session-stores was removed: all sessions are in one file; got "${count}"`);
    say("--session-stores was removed: all sessions are in one file");
  },
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
  show: (made) => `${keyLines(made)}\n\n${nextStep}`,
};

/** A project has keys once scoring is enabled, which the contract leaves to its owner. */
const nextStep = `The token is shown only once. Next, enable scoring, which prints the keys, and start the server:
verdictd project enable-scoring 1
verdictd serve`;
