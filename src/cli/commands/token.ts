/** `verdictd token create` and `token revoke`: account API tokens. */
import { Accounts } from "../../control-plane/accounts.js";
import type { StoreCommand } from "../command.js";
import { expectDone, idOf } from "../given.js";

export const tokenCommands: readonly StoreCommand[] = [
  {
    name: "token create",
    help: "make an account API token; the secret is shown this once",
    flags: [
      { name: "account", placeholder: "ID", help: "account id", isRequired: true },
      { name: "user", placeholder: "ID", help: "user id; the user's role caps the token", isRequired: true },
      { name: "abilities", placeholder: "a,b|*", help: "abilities (*: all that the role permits)" },
    ],
    run: async (store, given) => {
      const abilities = (given["abilities"] ?? "*").split(",").map((ability) => ability.trim());
      const accounts = new Accounts(store, Date.now);
      const request = { accountId: idOf(given, "account"), userId: idOf(given, "user"), abilities };
      const { token, secret } = expectDone(await accounts.createToken(request));
      return { id: token.id, account_token: secret };
    },
  },
  {
    name: "token revoke",
    help: "revoke an account API token; refused from the next request on",
    positionals: [{ name: "ID", help: "token id" }],
    run: async (store, given) => {
      const token = expectDone(await new Accounts(store, Date.now).revokeToken(idOf(given, "ID")));
      return { id: token.id, revoked: true };
    },
  },
];
