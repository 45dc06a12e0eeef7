/** The first account of an empty store: an owner, a project and a token, so that the API can be used. */
import { Refusal, refuse } from "../../errors.js";
import type { Accounts } from "./accounts.js";
import type { Projects } from "./projects.js";

/** Ids of what was created, and the one token that can do everything on it. */
export interface FirstAccount {
  readonly accountId: number;
  readonly userId: number;
  readonly projectId: number;
  /** Shown this once. */
  readonly accountToken: string;
}

/** `conflict` on a store that has accounts. */
export async function createFirstAccount(accounts: Accounts, projects: Projects): Promise<FirstAccount | Refusal> {
  if (!accounts.isEmpty) return refuse("conflict", "the store has accounts already");
  const account = await accounts.createAccount({
    name: "Default",
    slug: "default",
    plan: "owner_lifetime",
    isPersonal: false,
    subscription: "active",
  });
  if (account instanceof Refusal) return account;
  const user = await accounts.createUser("Owner", "owner@localhost");
  if (user instanceof Refusal) return user;
  await accounts.setMember(account.id, user.id, "owner");
  const project = await projects.create(account.id, "Default");
  if (project instanceof Refusal) return project;
  const token = await accounts.createToken({ accountId: account.id, userId: user.id, abilities: ["*"] });
  if (token instanceof Refusal) return token;
  return { accountId: account.id, userId: user.id, projectId: project.id, accountToken: token.secret };
}
