/** What the token's account uses: the events of this month against the plan's quota. */
import type { UsageAnswer } from "../../../contract/api-answers.js";
import type { Plans } from "../../../contract/plans.js";
import type { Accounts } from "../../../control-plane/accounts.js";
import { Refusal } from "../../../errors.js";
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
    {
      method: "get",
      path: "/v1/usage",
      credential: "token",
      needs: "projects:read",
      doc: {
        id: "getUsage",
        tag: "control plane",
        summary: "This month's accepted events against the plan's quota",
        description: "The month is a calendar month in UTC. The quota is soft: above it, nothing is refused.",
        answers: { 200: "UsageAnswer" },
        refusals: ["forbidden"],
      },
      handle: async ({ holder }) => {
        const account = boundAccount(holder);
        if (account instanceof Refusal) return refusal(account);
        const { plan } = account;
        const quota = plans[plan]?.eventsPerMonth ?? null;
        return json(200, { ...(await accounts.eventsInMonth(account.id, now())), quota, plan } satisfies UsageAnswer);
      },
    },
  ];
}
