/** A store with one account, project and enabled scoring, made in the test's process before any server runs on it. */
import { Accounts } from "../../src/control-plane/accounts/accounts.js";
import { createFirstAccount } from "../../src/control-plane/accounts/first-account.js";
import { Projects } from "../../src/control-plane/accounts/projects.js";
import { Refusal } from "../../src/errors.js";
import type { Store } from "../../src/store/store.js";
import { openTestStore } from "./test-store.js";

export interface Owner {
  readonly accountId: number;
  readonly projectId: number;
  readonly token: string;
  readonly siteKey: string;
  readonly privateKey: string;
}

/** Makes the first account on an open store. */
export async function ownerOf(store: Store): Promise<Owner> {
  const projects = new Projects(store, Date.now);
  const made = await createFirstAccount(new Accounts(store, Date.now), projects);
  if (made instanceof Refusal) throw new Error(made.message);
  const keys = await projects.enableScoring(made.projectId);
  if (keys instanceof Refusal) throw new Error(keys.message);
  return {
    accountId: made.accountId,
    projectId: made.projectId,
    token: made.accountToken,
    siteKey: keys.siteKey,
    privateKey: keys.privateKey ?? "",
  };
}

/** Makes the first account in `dataDir` and closes the store again. */
export async function makeOwner(dataDir: string): Promise<Owner> {
  const store = await openTestStore(dataDir);
  try {
    return await ownerOf(store);
  } finally {
    await store.close();
  }
}
