/** `GET /v1/account` and `GET /user`: who the token speaks for. */

import { refuse } from "../../../errors.js";
import { tokenRoute } from "../../operation-route.js";
import { json, refusal } from "../../reply.js";
import type { TokenRoute } from "../../route.js";
import { accountView, userView } from "./wire.js";

/** Any account token; `/v1/account` answers 403 to a token that is bound to no account. */
export function accountRoutes(): TokenRoute[] {
  return [
    tokenRoute("getAccount", {
      needs: "any-token",
      doc: {
        tag: "control plane",
        summary: "The account of the token",
        description: "Reachable without an active subscription.",
        refusals: ["forbidden"],
      },
      handle: ({ holder: { account, membership } }) =>
        account === null || membership === null
          ? refusal(refuse("forbidden", "the token is not bound to an accessible account"))
          : json(200, accountView(account, membership)),
    }),
    tokenRoute("getUser", {
      needs: "any-token",
      doc: { tag: "control plane", summary: "The holder of the token" },
      handle: ({ holder: { user } }) =>
        user === null
          ? refusal(refuse("unauthenticated", "a valid account token is required"))
          : json(200, userView(user)),
    }),
  ];
}
