/** The body and the answer of `POST /v1/challenge-page`, and where a challenge page loads its script from. */
import type { tags } from "typia";
import type { VerdictBody } from "./judged-request.js";

/** `https://verdictd.example:8443`, without a path; "": the site's own. */
export type ScriptOrigin = string &
  tags.Pattern<"^(?:https?://(?:[A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+\\])(?::[0-9]{1,5})?)?$"> &
  tags.MaxLength<260>;

/** `/bots`, as a proxy has put it before verdictd's paths; "": none. */
export type PathPrefix = string & tags.Pattern<"^(?:/[A-Za-z0-9._~-]+)*$"> & tags.MaxLength<200>;

type PageText = string & tags.MaxLength<1000>;

/** What a page is to be like. Everything is optional. */
export interface ChallengePageOptions {
  /** The action of the verdict, so that nothing has to be judged again. */
  action?: "block" | "challenge";
  /** The `X-Request-Id` of the verdict: the reference that the page shows. Default: that of this answer. */
  verdict_id?: string & tags.Pattern<"^[A-Za-z0-9_-]{1,128}$">;
  /** A site key of the project, for the page of its challenge; default: the current one. */
  site_key?: string & tags.Pattern<"^pk_[A-Za-z0-9_-]{1,125}$">;
  /** Where browsers find `/sdk.js` and `/challenge.js`; default: the project's setting. */
  script_origin?: ScriptOrigin;
  /** What is before these paths there; default: the project's setting. */
  path_prefix?: PathPrefix;
  /** The cookie with the session token, default `service_session`. */
  cookie_name?: string & tags.Pattern<"^[A-Za-z0-9_!#$%&'*+.^`|~-]{1,128}$">;
  /** Its domain, as the SDK's `data-cookie-domain`; default: none, which is the page's host alone. */
  cookie_domain?: string & tags.MaxLength<255>;
  /** Words of the page of a block, or of a challenge that the project does not have. Those of its own challenge are fixed, in eight languages. */
  texts?: { title?: PageText; message?: PageText; contact?: PageText };
}

/** Body of `POST /v1/challenge-page`: that of `POST /v1/verdict`, and what the page is to be like. */
export interface ChallengePageBody extends ChallengePageOptions, Pick<VerdictBody, "session_token" | "request"> {}

/** The visitor's answer, to be sent on as it is. */
export interface ChallengePageAnswer {
  status: 403;
  headers: { [name: string]: string };
  body: string;
}
