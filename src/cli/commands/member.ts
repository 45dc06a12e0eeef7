/** `verdictd member set` and `member remove`: who belongs to an account, and as what. */
import { type Membership, roles } from "../../contract/entities.js";
import { Accounts } from "../../control-plane/accounts.js";
import type { StoreCommand } from "../command.js";
import { expectDone, idOf, oneOf } from "../given.js";

const whom = [
  { name: "account", placeholder: "ID", help: "account id", isRequired: true },
  { name: "user", placeholder: "ID", help: "user id", isRequired: true },
] as const;

function view({ accountId, userId, role }: Membership): object {
  return { account_id: accountId, user_id: userId, role };
}

export const memberCommands: readonly StoreCommand[] = [
  {
    name: "member set",
    help: "make a user a member of an account, or change the role",
    flags: [...whom, { name: "role", placeholder: roles.join("|"), help: "role", isRequired: true }],
    run: async (store, given) =>
      view(
        expectDone(
          await new Accounts(store, Date.now).setMember(
            idOf(given, "account"),
            idOf(given, "user"),
            oneOf(given, "role", roles),
          ),
        ),
      ),
  },
  {
    name: "member remove",
    help: "end a membership; the user's tokens are no longer bound to the account",
    flags: whom,
    run: async (store, given) =>
      view(expectDone(await new Accounts(store, Date.now).removeMember(idOf(given, "account"), idOf(given, "user")))),
  },
];
