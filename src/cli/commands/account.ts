/** `verdictd account create`, `account list` and `account set`. */
import type { Account } from "../../contract/configuration/entities.js";
import { defaultPlans } from "../../contract/configuration/plans.js";
import { Accounts } from "../../control-plane/accounts/accounts.js";
import type { StoreCommand } from "../command.js";
import { expectDone, idOf, oneOf, textOf } from "../given.js";
import { columns, UsageFailure } from "../output.js";

const plans = Object.keys(defaultPlans);
const states = ["active", "inactive"] as const;

interface Shown {
  readonly id: number;
  readonly name: string;
  readonly slug: string;
  readonly is_personal: boolean;
  readonly plan: string;
  readonly subscription: string;
  readonly created_at: string;
}

function view({ id, name, slug, isPersonal, plan, subscription, createdAt }: Account): Shown {
  return { id, name, slug, is_personal: isPersonal, plan, subscription, created_at: createdAt };
}

const list: StoreCommand<{ readonly data: readonly Shown[] }> = {
  name: "account list",
  help: "show the accounts, with plan and subscription",
  onCluster: "same",
  worksOnMigrated: true,
  run: async (store) => ({ data: new Accounts(store, Date.now).all().map(view) }),
  show: ({ data }) =>
    columns([
      ["ID", "SLUG", "NAME", "PLAN", "SUBSCRIPTION"],
      ...data.map(({ id, slug, name, plan, subscription }) => [String(id), slug, name, plan, subscription]),
    ]),
};

/** Creating, listing, and changing plan or subscription of an account that exists. */
export const accountCommands: readonly StoreCommand[] = [
  {
    name: "account create",
    help: "create an account",
    onCluster: "same",
    createsStore: true,
    flags: [
      { name: "name", placeholder: "NAME", help: "account name", isRequired: true },
      { name: "slug", placeholder: "SLUG", help: "URL-safe name; must be unique", isRequired: true },
      { name: "plan", placeholder: plans.join("|"), help: "plan (free)" },
      { name: "personal", help: "a personal account" },
      { name: "subscription", placeholder: "active|inactive", help: "subscription state (active)" },
    ],
    run: async (store, given) =>
      view(
        expectDone(
          await new Accounts(store, Date.now).createAccount({
            name: textOf(given, "name"),
            slug: textOf(given, "slug"),
            plan: oneOf(given, "plan", plans, "free"),
            isPersonal: given["personal"] !== undefined,
            subscription: oneOf(given, "subscription", states, "active"),
          }),
        ),
      ),
  },
  list,
  {
    name: "account set",
    help: "change the plan or subscription of an account",
    onCluster: "same",
    positionals: [{ name: "ID", help: "account id" }],
    flags: [
      { name: "plan", placeholder: plans.join("|"), help: "new plan" },
      { name: "subscription", placeholder: "active|inactive", help: "new subscription state" },
    ],
    run: async (store, given) => {
      const change = {
        plan: given["plan"] === undefined ? undefined : oneOf(given, "plan", plans),
        subscription: given["subscription"] === undefined ? undefined : oneOf(given, "subscription", states),
      };
      const id = idOf(given, "ID");
      if (change.plan === undefined && change.subscription === undefined) {
        throw new UsageFailure("nothing to change: give --plan or --subscription");
      }
      return view(expectDone(await new Accounts(store, Date.now).changeAccount(id, change)));
    },
  },
];
