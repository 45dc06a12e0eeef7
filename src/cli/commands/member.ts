/** `verdictd member list`, `member set` and `member remove`: who belongs to an account, and as what. */
import { type Membership, roles } from "../../contract/configuration/entities.js";
import { Accounts } from "../../control-plane/accounts/accounts.js";
import type { StoreCommand } from "../command.js";
import { expectDone, idOf, oneOf } from "../given.js";
import { columns } from "../output.js";

const whom = [
  { name: "account", placeholder: "ID", help: "account id", isRequired: true },
  { name: "user", placeholder: "ID", help: "user id", isRequired: true },
] as const;

function view({ accountId, userId, role }: Membership): object {
  return { account_id: accountId, user_id: userId, role };
}

interface ListedMember {
  readonly user_id: number;
  readonly name: string;
  readonly email: string;
  readonly role: string;
}

const memberList: StoreCommand<{ readonly data: readonly ListedMember[] }> = {
  name: "member list",
  help: "show the members of an account and their roles",
  onCluster: "same",
  worksOnMigrated: true,
  flags: [whom[0]],
  run: async (store, given) => {
    const members = new Accounts(store, Date.now).membersOf(idOf(given, "account"));
    return { data: members.map(({ user, role }) => ({ user_id: user.id, name: user.name, email: user.email, role })) };
  },
  show: ({ data }) =>
    columns([
      ["USER", "NAME", "E-MAIL", "ROLE"],
      ...data.map(({ user_id, name, email, role }) => [String(user_id), name, email, role]),
    ]),
};

/** List, add or change, and remove the members of an account. */
export const memberCommands: readonly StoreCommand[] = [
  memberList,
  {
    name: "member set",
    help: "add a user to an account, or change the user's role",
    onCluster: "same",
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
    onCluster: "same",
    flags: whom,
    run: async (store, given) =>
      view(expectDone(await new Accounts(store, Date.now).removeMember(idOf(given, "account"), idOf(given, "user")))),
  },
];
