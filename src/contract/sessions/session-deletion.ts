/** Deletion of stored sessions by a rule's expression. */
import type { tags } from "typia";

type Count = number & tags.Type<"uint64">;

/** Which sessions to delete, and how far; a dry run counts first. */
export interface SessionDeletionBody {
  /** Which sessions, as in a query of sessions; not empty. */
  expression: string & tags.MinLength<1>;
  /** When they began: from, and until (exclusive), ISO-8601. Default of `to`: now. */
  from: string;
  to?: string;
  /** Counts them and deletes nothing. */
  dry_run?: boolean;
  /** Deletes no more than this, such as the number that somebody has confirmed. */
  at_most?: number & tags.Type<"uint32">;
  /** `next_cursor` of the answer before. */
  cursor?: string | null;
}

/** What one call did; repeat it with `next_cursor` until that is null. */
export interface SessionDeletionAnswer {
  /** Sessions that this call looked at. */
  scanned: Count;
  matched: Count;
  /** 0 for a dry run. */
  deleted: Count;
  /** Send it as `cursor` to continue; null: the whole range is done, or `at_most` is reached. */
  next_cursor: string | null;
  /** Fields of the expression that stored sessions don't have: a comparison with them is false. */
  unavailable_fields: string[];
}
