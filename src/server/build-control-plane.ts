/** Composes the services that people and commands use: accounts, projects, rules, stored sessions. */
import { Credentials } from "../auth/credentials.js";
import { Accounts } from "../control-plane/accounts/accounts.js";
import { Projects } from "../control-plane/accounts/projects.js";
import { Exceptions } from "../control-plane/exceptions/exceptions.js";
import { Rules } from "../control-plane/rules/rules.js";
import { Marks } from "../control-plane/sessions/marks.js";
import { Sessions } from "../control-plane/sessions/sessions.js";
import type { ThreadContext } from "./thread-context.js";

/** The services that `buildControlPlane` returns. */
export type ControlPlane = ReturnType<typeof buildControlPlane>;

/** Builds the services on stored accounts: credentials, settings, rules, sessions and marks. */
export function buildControlPlane({ store, reads, now }: ThreadContext) {
  const sessions = new Sessions(store);
  return {
    credentials: new Credentials(store, () => reads.revision()),
    accounts: new Accounts(store, now),
    projects: new Projects(store, now),
    rules: new Rules(store, now),
    exceptions: new Exceptions(store, now),
    sessions,
    marks: new Marks(store, sessions, now),
  };
}
