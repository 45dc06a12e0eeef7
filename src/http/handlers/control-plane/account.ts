/** `GET /v1/account` and `GET /user`: who the token speaks for. */
import { refuse } from "../../../errors.js";
import { json, refusal } from "../../reply.js";
import type { TokenRoute } from "../../route.js";
import { accountView, userView } from "./wire.js";

export function accountRoutes(): TokenRoute[] {
  return [
    {
      method: "get",
      path: "/v1/account",
      credential: "token",
      handle: ({ holder: { account, membership } }) =>
        account === null || membership === null
          ? refusal(refuse("forbidden", "the token is not bound to an accessible account"))
          : json(200, accountView(account, membership)),
    },
    {
      method: "get",
      path: "/user",
      credential: "token",
      handle: ({ holder: { user } }) =>
        user === null
          ? refusal(refuse("unauthenticated", "a valid account token is required"))
          : json(200, userView(user)),
    },
  ];
}
