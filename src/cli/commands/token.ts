/** `verdictd token create`, `token list` and `token revoke`: account API tokens. */
import { Accounts } from "../../control-plane/accounts/accounts.js";
import type { StoreCommand } from "../command.js";
import { expectDone, idOf } from "../given.js";
import { columns } from "../output.js";

interface ListedToken {
  readonly id: number;
  readonly name: string | null;
  readonly user: string | null;
  readonly abilities: readonly string[];
  readonly created_at: string;
  readonly last_used_at: string | null;
}

const tokenList: StoreCommand<{ readonly data: readonly ListedToken[] }> = {
  name: "token list",
  help: "show the tokens of an account: name, user, abilities and last use",
  onCluster: "same",
  worksOnMigrated: true,
  flags: [{ name: "account", placeholder: "ID", help: "account id", isRequired: true }],
  run: async (store, given) => {
    const accounts = new Accounts(store, Date.now);
    const data = accounts.tokensOf(idOf(given, "account")).map(({ token, user }) => {
      const usedMs = accounts.lastUseOf(token.id);
      return {
        id: token.id,
        name: token.name ?? null,
        user: user?.name ?? null,
        abilities: token.abilities,
        created_at: token.createdAt,
        last_used_at: usedMs === null ? null : new Date(usedMs).toISOString(),
      };
    });
    return { data };
  },
  show: ({ data }) =>
    columns([
      ["ID", "NAME", "USER", "ABILITIES", "CREATED", "LAST USED"],
      ...data.map(({ id, name, user, abilities, created_at, last_used_at }) => [
        String(id),
        name ?? "",
        user ?? "",
        abilities.join(","),
        created_at,
        last_used_at ?? "never",
      ]),
    ]),
};

/** Creating (the secret is printed this once), listing and revoking. */
export const tokenCommands: readonly StoreCommand[] = [
  {
    name: "token create",
    help: "create an account API token; the secret is shown only once",
    onCluster: "same",
    flags: [
      { name: "account", placeholder: "ID", help: "account id", isRequired: true },
      { name: "user", placeholder: "ID", help: "user id; the user's role limits the token", isRequired: true },
      { name: "name", placeholder: "NAME", help: "its name in lists, for example what it is for" },
      { name: "abilities", placeholder: "a,b|*", help: "abilities (*: everything that the role permits)" },
    ],
    run: async (store, given) => {
      const abilities = (given["abilities"] ?? "*").split(",").map((ability) => ability.trim());
      const accounts = new Accounts(store, Date.now);
      const request = {
        accountId: idOf(given, "account"),
        userId: idOf(given, "user"),
        abilities,
        name: given["name"] ?? "",
      };
      const { token, secret } = expectDone(await accounts.createToken(request));
      return { id: token.id, account_token: secret };
    },
  },
  tokenList,
  {
    name: "token revoke",
    help: "revoke an account API token; refused from the next request on",
    onCluster: "same",
    positionals: [{ name: "ID", help: "token id" }],
    run: async (store, given) => {
      const token = expectDone(await new Accounts(store, Date.now).revokeToken(idOf(given, "ID")));
      return { id: token.id, revoked: true };
    },
  },
];
