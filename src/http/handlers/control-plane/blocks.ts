/** The log of recorded blocks: what was enforced, by which rule, and why. */

import type { BlocksAnswer } from "../../../contract/traffic/block-answers.js";
import { blockRow } from "../../../control-plane/logs/block-row.js";
import { Refusal } from "../../../errors.js";
import { limits } from "../../../limits.js";
import type { Blocks } from "../../../recording/blocks.js";
import type { LongWork } from "../../../runtime/long-work.js";
import { projectRoute } from "../../operation-route.js";
import { json, refusal, unread } from "../../reply.js";
import type { ProjectRoute } from "../../route.js";
import { logParameters, readLogQuery } from "./log-query.js";

/** The block log, which is flushed before a page is read. */
interface BlockServices {
  readonly blocks: Blocks;
  readonly work: LongWork;
  /** Stores what this thread has recorded but not stored yet. */
  readonly flush: () => Promise<void>;
}

/** `GET …/blocks`, `projects:read`: a page of recorded blocks, or the one that a block page's reference names. */
export function blockRoute({ blocks, work, flush }: BlockServices): ProjectRoute {
  return projectRoute("listBlocks", {
    needs: "projects:read",
    doc: {
      tag: "logs",
      summary: "The recorded blocks of a project, latest first",
      description:
        "One for each computed verdict that a rule turned into a block; none for cached answers or softened actions. After " +
        `${limits.blocksOfSessionMinuteMax} of one session and rule in a minute, further ones increase the \`count\` of the last. ` +
        "Blocks of requests without a session have `session_token` null; there is one per rule, address and minute. " +
        "`references` are the `X-Request-Id`s of the answers with the action block, including cached ones; block pages show them. Only the latest are kept. " +
        "Challenges are in no list: one of a visitor, rule and minute is kept beside the blocks and found by the reference that its page shows, " +
        `${limits.challengesRecordedMinuteMax} a minute and thread. ` +
        `A project keeps its latest ${limits.blocksPerProjectMax}; statistics count every block. ` +
        "`id` counts up within its project: it is shown to members of the account only, who may see how many blocks there are. Visitors get references.",
      parameters: [
        ...logParameters,
        {
          in: "query",
          name: "reference",
          description:
            "The reference that a block page or a challenge's page shows: only its block, if it is known; of a challenge a row with `action` `challenge`",
          schema: { type: "string" },
        },
      ],
      refusals: ["invalidPayload"],
    },
    handle: async ({ project, query, isAborted }) => {
      const asked = readLogQuery(query);
      if (asked instanceof Refusal) return refusal(asked);
      await flush();
      const reference = query.get("reference");
      if (reference !== null) {
        const found = await blocks.find(project.id, reference, work.begin(isAborted));
        if (found === undefined) return unread;
        const data = found === null ? [] : [blockRow(found)];
        return json(200, { data, meta: { next_cursor: null } } satisfies BlocksAnswer);
      }
      const page = await blocks.page(project.id, asked.limit, asked.cursor);
      if (page instanceof Refusal) return refusal(page);
      const answer: BlocksAnswer = { data: page.rows.map(blockRow), meta: { next_cursor: page.nextCursor } };
      return json(200, answer);
    },
  });
}
