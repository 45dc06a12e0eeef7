/** What the token's account uses: the events of this month against the plan's quota. */

import type { UsageAnswer } from "../../../contract/configuration/account-answers.js";
import type { Plans } from "../../../contract/configuration/plans.js";
import type { Accounts } from "../../../control-plane/accounts/accounts.js";
import { Refusal } from "../../../errors.js";
import { tokenRoute } from "../../operation-route.js";
import { json, refusal } from "../../reply.js";
import type { TokenRoute } from "../../route.js";
import { boundAccount } from "./wire.js";

/** The token's account with its plan and counts of the month. */
interface UsageServices {
  readonly accounts: Accounts;
  readonly plans: Plans;
  readonly now: () => number;
}

/** `GET /v1/usage`, by `projects:read`; the month is the calendar month of UTC. */
export function usageRoutes({ accounts, plans, now }: UsageServices): TokenRoute[] {
  return [
    tokenRoute("getUsage", {
      needs: "projects:read",
      doc: {
        tag: "control plane",
        summary: "This month's accepted events against the plan's quota",
        description: "The month is a calendar month in UTC. The quota is soft: above it, nothing is refused.",
        refusals: ["forbidden"],
      },
      handle: async ({ holder }) => {
        const account = boundAccount(holder);
        if (account instanceof Refusal) return refusal(account);
        const { plan } = account;
        const quota = plans[plan]?.eventsPerMonth ?? null;
        return json(200, { ...(await accounts.eventsInMonth(account.id, now())), quota, plan } satisfies UsageAnswer);
      },
    }),
  ];
}
