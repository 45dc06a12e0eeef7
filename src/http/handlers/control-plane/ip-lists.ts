/** `GET /v1/ip-lists`: the operator's own lists of addresses, the same for every account. */

import type { IpListsAnswer } from "../../../contract/configuration/ip-lists.js";
import type { IpLists } from "../../../control-plane/lists/ip-lists.js";
import { tokenRoute } from "../../operation-route.js";
import { json } from "../../reply.js";
import type { TokenRoute } from "../../route.js";

/** Names and sizes, by `projects:read`; the addresses are not shown. */
export function ipListsRoute(lists: IpLists): TokenRoute {
  return tokenRoute("listIpLists", {
    needs: "projects:read",
    doc: {
      tag: "control plane",
      summary: "The operator's own lists of addresses",
      description: "Rules read the names of the lists that contain the visitor's address in `ip_lists`.",
      refusals: ["forbidden"],
    },
    handle: () => {
      const data = lists.list().map(({ name, count, importedAt }) => ({ name, count, imported_at: importedAt }));
      return json(200, { data, meta: { count: data.length } } satisfies IpListsAnswer);
    },
  });
}
