/**
 * Which test holds which statement of the API specification, and of how requests are judged: section, the statement in short, file, and the name of a test in it
 * (… stands for what a template fills in).
 * `spec-table.test.ts` checks that each is there. A statement without a row has no test: add both together.
 */

type SpecRow = readonly [section: string, statement: string, file: string, test: string];

const ingest = "test/ingest/ingest.test.ts";
const retries = "test/ingest/retry-claims.ts";
const badInput = "test/http/bad-input.test.ts";
const routing = "test/http/routing.test.ts";
const control = "test/http/control-plane.test.ts";
const tenants = "test/http/tenants.test.ts";
const verdict = "test/http/verdict.test.ts";
const loggedIn = "test/http/logged-in.test.ts";
const bots = "test/http/verified-bots.test.ts";
const credentials = "test/auth/credentials.drill.test.ts";
const abilities = "test/auth/abilities.test.ts";
const bands = "test/verdict/bands.test.ts";
const resolve = "test/verdict/resolve.test.ts";
const reader = "test/verdict/verdict-reader.test.ts";
const evaluate = "test/rules/evaluate.test.ts";
const parse = "test/rules/parse.test.ts";
const fields = "test/rules/fields.test.ts";
const semantics = "test/rules/semantics.test.ts";
const score = "test/engines/score.test.ts";
const scoring = "test/http/request-scoring.test.ts";
const judged = "test/requests/verdict.test.ts";
const judgedParts = "test/requests/resolution.test.ts";
const forwarded = "test/requests/forward-auth.test.ts";
const honest = "test/requests/honest-headers.test.ts";
const dishonest = "test/requests/dishonest-headers.test.ts";
const rates = "test/requests/rates.test.ts";
const network = "test/network/network-facts.drill.test.ts";
const networkFiles = "test/resilience/network-facts.test.ts";
const signatures = "test/bots/signed/judge.test.ts";
const directories = "test/bots/signed/directory-fetch.test.ts";
const visitors = "test/bots/marks/visitors.test.ts";
const acts = "test/engines/agent-acts.test.ts";
/** Cases that run in Chromium and in Firefox. */
const browserCases = "test/sdk/cases.ts";

// biome-ignore format: a row is a line
export const specTable: readonly SpecRow[] = [
  // 1. What the service does
  ["1", "two planes: ingest and verdicts; account-scoped configuration", routing, "success statuses are 200, but 201 for a new rule, 204 for a deleted one and 202 for a batch"],
  ["1", "the data plane is never rate-limited", ingest, "hundreds of requests in a burst are never answered 429 and carry no Retry-After"],
  ["1", "the ingest response never contains a score", verdict, "every answer of ingest is scored by the time of its 202, and holds no score itself"],
  ["1", "a score is an integer 1-99, or 0 for not computed", badInput, "payload values at their bounds are accepted"],
  ["1", "lower means more bot-confident", bands, "a lower score is never a weaker bot band"],
  ["1", "the verdict read returns a band, a score and an action", verdict, "a session of a declared automation is in a bot band, with detections and a reason that names it"],
  ["1", "the action is resolved from guards and the project's rules", resolve, "the first matching rule with a terminating action wins"],
  ["1", "three engines are combined by strongest evidence", score, "the lowest engine decides, and the strongest detection comes first"],
  ["1", "human-like behaviour does not outweigh the strongest evidence", score, "human behaviour does not hide proven automation"],
  ["1", "JS detection is non-enforcing", bands, "JS detection alone bands no lower than likely_automated, for any threshold"],
  ["1", "each bot-banded verdict carries stable detection ids and a plain-English reason", resolve, "detection ids are empty for clean humans, there for bot bands and for enforced verdicts"],
  ["1", "the ids are stable", "test/detections/catalogue.test.ts", "ids and slugs are unique"],
  ["1", "observe-first: enabling scoring never blocks, the starter rules arrive inactive", verdict, "starter rules are inactive: enabling scoring blocks nobody until one is activated"],
  ["1", "the verdict path fails open for unknown or unscored sessions", verdict, "an unknown session reads 200 with the fail-open body, never 404"],
  ["1", "the verdict path fails open for any load error", reader, "whatever source fails, the answer is the fail-open body, and the failure is told"],
  ["1", "order: verified bot, then static resource", resolve, "the verified-bot guard comes before the static-resource skip"],
  ["1", "order: static resource, then rules", resolve, "static resources are skipped before rules only while protect_static is false"],
  ["1", "order: rules, then allow", resolve, "without a matching rule the action is allow, for every band"],
  ["1", "a verified bot is allowed regardless of score before any rule, if allow_verified", resolve, "a verified bot is allowed before any rule, whatever its score, while allow_verified is true"],
  ["1", "with protect_static false, static-resource requests are skipped (allow)", verdict, "static resources are skipped when protect_static is false"],
  ["1", "rules are evaluated in ascending sort_order", verdict, "rules are asked in ascending sort_order, equal ones by id, and the first that terminates wins"],
  ["1", "the first active rule that matches with a terminating action wins", resolve, "the first matching rule with a terminating action wins"],
  ["1", "an allow rule placed above a band rule overrides it", verdict, "an allow rule above a band rule overrides it, by the path of the request"],

  // 2.1 - 2.2 Account, user
  ["2.1", "account: id, name, slug, is_personal, role", control, "the account is that of the token's binding, with the caller's role"],
  ["2.1", "is_personal is the personal account flag; role is the caller's", control, "a personal account says so, and the role is the caller's"],
  ["2.2", "user: id, name, email, created_at as ISO-8601", control, "the user is shown at /user, without the /v1 prefix"],

  // 2.3 Project
  ["2.3", "a project is identified by an integer id in paths", routing, "is 404 without code for a path id that is not a positive integer"],
  ["2.3", "a project belongs to one account", tenants, "an unknown project and a foreign one answer byte for byte alike: 403 without code"],
  ["2.3", "site_key: prefix pk_, minted on enable", control, "enabling mints both keys once, and answers guards and threshold"],
  ["2.3", "private_key: prefix sk_, minted on enable", control, "enabling mints both keys once, and answers guards and threshold"],
  ["2.3", "only a SHA-256 hash of the private key is stored; it cannot be recovered", control, "a private key cannot be recovered from the store's files"],
  ["2.3", "allow_verified defaults to true", control, "settings may be read and changed before scoring is enabled, and {} or no body changes nothing"],
  ["2.3", "protect_static defaults to true", control, "settings may be read and changed before scoring is enabled, and {} or no body changes nothing"],
  ["2.3", "logged_in_policy defaults to observe and has four values", control, "each setting changes alone, and the answer is the state after the update"],
  ["2.3", "no policy shelters definite or confident_automated", resolve, "logged_in_policy: the whole table of policies, actions and bands, asserted or not"],
  ["2.3", "likely_bot_threshold 1-99, default 30", control, "each setting changes alone, and the answer is the state after the update"],
  ["2.3", "the threshold is the bot/human boundary; higher is more suspicious", bands, "each score of 1 to 99 has the stated band for each threshold of 1 to 99"],
  ["2.3", "enable and update both return bot_settings and likely_bot_threshold", control, "enabling again shows the settings as they are"],
  ["2.3", "enable shows only allow_verified and protect_static", control, "enabling mints both keys once, and answers guards and threshold"],
  ["2.3", "the settings update also shows logged_in_policy", control, "each setting changes alone, and the answer is the state after the update"],

  // 2.4 Rule
  ["2.4", "rule fields, with the compiled expression and its source", control, "a rule is created with defaults and answered in full, with its compiled tree"],
  ["2.4", "name: max 255", control, "names up to 255 and expressions up to 2000 characters are taken"],
  ["2.4", "the name appears in the verdict reason and on recorded blocks", verdict, "a blocking verdict is recorded with its source, rule, score, reason and detections"],
  ["2.4", "expression is derived, regenerated on every source change", control, "… changes only what is sent"],
  ["2.4", "expression cannot be set directly", control, "the compiled tree cannot be set"],
  ["2.4", "node shapes cmp and and", parse, "a good source gives its tree, and the tree its printed form"],
  ["2.4", "expression_source: max 2000, the text sent as expression", parse, "a source holds at most 2000 characters, an astral one counting once"],
  ["2.4", "action: allow, challenge, block, log, delay", control, "every action is accepted, and is_active and sort_order as sent"],
  ["2.4", "inactive rules are stored but never matched", evaluate, "an inactive rule is never asked"],
  ["2.4", "sort_order: ascending, lower wins", evaluate, "the first matching rule by sort_order decides, an allow above a block too"],
  ["2.4", "created_at, updated_at as ISO-8601", control, "a rule is created with defaults and answered in full, with its compiled tree"],
  ["2.4", "the list omits expression and returns expression_source", control, "the list is an array in order of evaluation, without compiled trees"],
  ["2.4", "comparisons with == and <", semantics, "integers compare at their edges"],
  ["2.4", "boolean AND and NOT, and parentheses", semantics, "NOT binds tighter than AND, AND tighter than OR"],
  ["2.4", "string literals in double quotes", parse, "a good source gives its tree, and the tree its printed form"],
  ["2.4", "fields score, path, band, verified_bot", semantics, "every field reads its own fact"],
  ["2.4", "unknown fields are rejected on save", fields, "names every object has are unknown fields"],
  ["2.4", "type/operator mismatch is rejected on save", fields, "every field takes the operators of its type and refuses every other"],
  ["2.4", "unbalanced parentheses and out-of-grammar tokens are rejected on save", parse, "a bad source is refused where it is wrong, saying what was expected and found"],
  ["2.4", "every project ships with two starter rules, both inactive", control, "every project ships with two inactive starter rules"],
  ["2.4", 'starter rules: band == "definite" block, band == "likely_automated" challenge', control, "every project ships with two inactive starter rules"],

  // 2.5 Verdict
  ["2.5", "verdict is one of six bands", bands, "each score of 1 to 99 has the stated band for each threshold of 1 to 99"],
  ["2.5", "band verified", resolve, "a verified bot is allowed before any rule, whatever its score, while allow_verified is true"],
  ["2.5", "band not_computed", resolve, "a session that is not scored answers the fail-open body, and no rule is asked"],
  ["2.5", "score 0 or 1-99", verdict, "a session of a declared automation is in a bot band, with detections and a reason that names it"],
  ["2.5", "action resolved from the active rules and guards", resolve, "the first matching rule with a terminating action wins"],
  ["2.5", "detection_ids: empty for clean humans", verdict, "a session without evidence of automation is likely human, with no detection ids"],
  ["2.5", "detection_ids: populated for bot-banded or enforced verdicts", resolve, "detection ids are empty for clean humans, there for bot bands and for enforced verdicts"],
  ["2.5", "reason: plain-English summary", resolve, "the reason is plain English: band, score and the strongest detections"],
  ["2.5", "a blocking resolution records score, reason, detection ids, source rule and rule id", verdict, "a blocking verdict is recorded with its source, rule, score, reason and detections"],
  ["2.5", "a block is recorded for a computed verdict", reader, "a block is told once for a computed verdict, not for a cached one"],

  // 2.6 Ingest event
  ["2.6", "request_id: per-event id for de-duplication", ingest, "a repeat inside one batch counts once"],
  ["2.6", "the four fields and their types", badInput, "all four fields of an event are required, each of its own type"],
  ["2.6", "type: a signal kind", ingest, "every event type is accepted, with any whitelisted payload key"],
  ["2.6", "received_at: ISO-8601", badInput, "well-formed times are accepted however far off"],
  ["2.6", "a non-whitelisted payload key causes 422", badInput, "an unknown key of an event or of its payload is 422"],

  // 2.7 Session
  ["2.7", "a session token has the prefix sess_ and is minted on first contact", ingest, "a first contact answers 202 with a minted token and exact counts, and never a score"],
  ["2.7", "tokens are strings, unique per project", ingest, "tokens are unique strings"],
  ["2.7", "the record is created by the first report, about half a second after load", browserCases, "the first report holds page and env, and how the page loaded and draws follows"],
  ["2.7", "a logged-in assertion stores only a timestamp", loggedIn, "the assertion stores a timestamp and nothing else"],

  // 2.8 Verified-bot entry
  ["2.8", "entry: name, category, match_method, match_value; inner bounds are not exposed", bots, "the export lists the whole allowlist with its count"],
  ["2.8", "category is surfaced as verified_bot_category", bots, "a verified bot is allowed before any rule while allow_verified is true, and rules decide when it is false"],
  ["2.8", "ip_cidr: client IP inside the CIDR", "test/bots/verified/verified-bots.test.ts", "addresses of the shipped catalogue belong to their operator"],
  ["2.8", "rdns_suffix: forward-confirmed reverse DNS ends with the suffix", "test/bots/verified/verified-bots.test.ts", "a confirmed hostname below the suffix verifies, and lookup knows it from then on"],
  ["2.8", "rdns_suffix: a name that is not confirmed does not count", "test/bots/verified/verified-bots.test.ts", "a PTR record that its own name does not confirm is spoofed"],
  ["2.8", "a global catalog, identical for all subscribers", bots, "it is identical for all subscribers"],

  // 2.9 Error body
  ["2.9", "error, message, code", routing, "an error body holds error, message and, where the contract has one, a code: nothing else"],

  // 3.1 Bands
  ["3.1", "not_computed: score 0, unknown or not yet scored", reader, "not_computed is never cached"],
  ["3.1", "definite, confident_automated, likely_automated, likely_human", bands, "T = 30 gives 1-5, 6-15, 16-29, 30-99"],
  ["3.1", "verified: verified bot", bots, "the address of the request that asks verifies a visitor"],
  ["3.1", "bands are relative to the project threshold", verdict, "the same session at another threshold has another band, without new events"],

  // 3.2 States
  ["3.2", "scoring disabled -> enabled: keys minted, private key returned once", control, "enabling mints both keys once, and answers guards and threshold"],
  ["3.2", "enabled -> enabled: existing site key, private_key null", control, "enabling again shows the settings as they are"],
  ["3.2", "enabling twice at once mints one pair", control, "enabling in parallel mints one pair"],
  ["3.2", "key current -> new key current; old key invalid immediately", control, "rotating answers the new key, and the old one is refused from the next request on"],
  ["3.2", "rule inactive -> active by PATCH, evaluated in later verdicts", verdict, "starter rules are inactive: enabling scoring blocks nobody until one is activated"],
  ["3.2", "rule active -> inactive by PUT, never matched", verdict, "starter rules are inactive: enabling scoring blocks nobody until one is activated"],
  ["3.2", "rule exists -> gone by DELETE, stops being evaluated", verdict, "rules are asked in ascending sort_order, equal ones by id, and the first that terminates wins"],
  ["3.2", "session not asserted -> asserted: asserted_at set", loggedIn, "an assertion answers 200 with the start of its window, which is stored"],
  ["3.2", "session asserted again: the window restarts", loggedIn, "each call restarts the window"],
  ["3.2", "24 h after asserted_at the assertion expires", resolve, "the assertion holds for 24 hours from the most recent call, to the millisecond"],
  ["3.2", "the expiry does not wait for the verdict cache", reader, "a logged-in assertion takes effect at once, and its end does not wait for the TTL"],
  ["3.2", "a new rule has is_active true unless false is sent", control, "a rule is created with defaults and answered in full, with its compiled tree"],
  ["3.2", "the assertion does not change the score", resolve, "logged_in_policy: the whole table of policies, actions and bands, asserted or not"],
  ["3.2", "no rule can read the assertion", resolve, "no rule can tell whether the visitor is logged in"],
  ["3.2", "no field tells of the assertion", semantics, "no field tells of the logged-in assertion"],
  ["3.2", "the assertion acts only through logged_in_policy at enforcement", verdict, "logged_in_policy softens what rules decide, but for the two strongest bands"],

  // 4. Endpoints
  ["4", "all paths start with the base url; ids are integers", routing, "is 404 without code at an unknown path"],

  // 4.1 Ingest
  ["4.1 ingest", "auth: site key", ingest, "a missing or bad site key answers 401 UNAUTHENTICATED, whatever the body"],
  ["4.1 ingest", "header X-Service-Site-Key, or body field site_key", ingest, "a site key in the body is as good as the header"],
  ["4.1 ingest", "header Idempotency-Key per batch", ingest, "an Idempotency-Key has 1 to 255 characters, wherever the site key stands"],
  ["4.1 ingest", "session_token: string or null, required", badInput, "a batch of the wrong shape is 422, and the message names the field"],
  ["4.1 ingest", "a token is minted when it is null", ingest, "a first contact answers 202 with a minted token and exact counts, and never a score"],
  ["4.1 ingest", "a token is minted when it is unrecoverable", ingest, "a token that is malformed, unknown or of another project gets a new one"],
  ["4.1 ingest", "events: required array", badInput, "a batch of the wrong shape is 422, and the message names the field"],
  ["4.1 ingest", "site_key in the body is optional", ingest, "a text/plain beacon with the site key in its body is as good as JSON"],
  ["4.1 ingest", "202 with session_token, accepted, duplicates", ingest, "a first contact answers 202 with a minted token and exact counts, and never a score"],
  ["4.1 ingest", "accepted is the number of events newly recorded", ingest, "a repeat across batches is a duplicate, even with another payload"],
  ["4.1 ingest", "duplicates is the number recognised and not re-counted", ingest, "a repeat inside one batch counts once"],
  ["4.1 ingest", "duplicates are recognised in long sessions", retries, "a batch is recognised after thousands of events"],
  ["4.1 ingest", "over_quota is present and true only past the quota; the batch is accepted", ingest, "the batch that takes the account above its quota is accepted with over_quota, and those after it"],
  ["4.1 ingest", "the SDK stores the returned token in a cookie service_session", browserCases, "the cookie is first-party, lax, for the whole site, and not secure on plain http"],
  ["4.1 ingest", "and reuses it", browserCases, "the answered token is offered to the page and used in the next batch"],
  ["4.1 ingest", "the returned token keeps the session", ingest, "the returned token is used again and keeps the session"],
  ["4.1 ingest", "a first-contact retry resolves to the same session and mints none", retries, "20 parallel retries of one first-contact batch give one session and exact counts"],
  ["4.1 ingest", "retries never double-count, even if the first 202 is lost", retries, "a retry whose first 202 was lost resolves to the same session and counts nothing twice"],
  ["4.1 ingest", "the SDK retries with the same key", browserCases, "a 500 is retried with the same key and the same body"],
  ["4.1 ingest", "what was acknowledged outlives the process", "test/resilience/retries.test.ts", "killed after its 202s, the server has every session, and retries count nothing twice"],
  ["4.1 ingest", "a malformed batch is rejected whole", retries, "a refused batch leaves nothing behind: no session, no event, no key"],
  ["4.1 ingest", "under load a batch may be sampled or shed: 202 or 204", ingest, "a batch that scoring can't take any more is shed without an error"],
  ["4.1 ingest", "401 UNAUTHENTICATED", ingest, "a missing or bad site key answers 401 UNAUTHENTICATED, whatever the body"],
  ["4.1 ingest", "402 NO_ACTIVE_SUBSCRIPTION", credentials, "without an active subscription the data plane is 402, the control plane works"],
  ["4.1 ingest", "422 for a schema violation", badInput, "a batch of the wrong shape is 422, and the message names the field"],
  ["4.1 ingest", "422 for a non-whitelisted payload key", badInput, "an unknown key of an event or of its payload is 422"],
  ["4.1 ingest", "422 for an over-size batch", badInput, "a body of 256 KiB is read, one more byte is 422, by length and in chunks"],
  ["4.1 ingest", "422 for too many events", ingest, "100 events are accepted, 0 and 101 are refused"],
  ["4.1 ingest", "there is no 429", ingest, "hundreds of requests in a burst are never answered 429 and carry no Retry-After"],

  // 4.1 Verdict
  ["4.1 verdict", "auth: private key", credentials, "verdict and assertion are 401 UNAUTHENTICATED for anything but a private key"],
  ["4.1 verdict", "200 with the verdict object", verdict, "a session of a declared automation is in a bot band, with detections and a reason that names it"],
  ["4.1 verdict", "an unknown session is the fail-open body, never 404", verdict, "an unknown session reads 200 with the fail-open body, never 404"],
  ["4.1 verdict", "a session of another project is the fail-open body", tenants, "a foreign session reads as an unknown one, and is 404 UNKNOWN_SESSION for the assertion"],
  ["4.1 verdict", "a not-yet-scored session is the fail-open body", resolve, "a session that is not scored answers the fail-open body, and no rule is asked"],
  ["4.1 verdict", "any load error is the fail-open body", reader, "whatever source fails, the answer is the fail-open body, and the failure is told"],
  ["4.1 verdict", "a malformed token or context is no error", badInput, "odd request contexts and session tokens fail open on the verdict read"],
  ["4.1 verdict", "cached per project, session token and request context", reader, "project, settings, session and each value of the context are told apart"],
  ["4.1 verdict", "default TTL 60 s", reader, "the TTL is 60 seconds unless said otherwise"],
  ["4.1 verdict", "a configuration change applies to verdicts computed afterwards", verdict, "a rule change applies once the cached verdict expires, at once to one that is not cached"],
  ["4.1 verdict", "a cached verdict is served until it expires", verdict, "later events do not disturb a cached verdict"],
  ["4.1 verdict", "401 UNAUTHENTICATED", credentials, "verdict and assertion are 401 UNAUTHENTICATED for anything but a private key"],
  ["4.1 verdict", "402 NO_ACTIVE_SUBSCRIPTION", credentials, "without an active subscription the data plane is 402, the control plane works"],
  ["4.1 verdict", "the cache outlives neither key nor subscription", verdict, "a key rotated away or a lapsed subscription does not read the cache either"],

  // 4.1 Logged-in
  ["4.1 logged-in", "auth: private key", credentials, "verdict and assertion are 401 UNAUTHENTICATED for anything but a private key"],
  ["4.1 logged-in", "the session must belong to the authenticated project", tenants, "a foreign session reads as an unknown one, and is 404 UNKNOWN_SESSION for the assertion"],
  ["4.1 logged-in", "server-side only: no browser of another origin may call it", routing, "of control plane and private-key endpoints has no CORS headers"],
  ["4.1 logged-in", "no body; an empty JSON object is tolerated; anything else 422", loggedIn, "an empty JSON object is tolerated, anything else in the body is 422"],
  ["4.1 logged-in", "no query string", loggedIn, "a query string is 422"],
  ["4.1 logged-in", "200 with logged_in and asserted_at, the start of the window", loggedIn, "an assertion answers 200 with the start of its window, which is stored"],
  ["4.1 logged-in", "idempotent, needs no idempotency key", loggedIn, "no idempotency key is needed, and one changes nothing"],
  ["4.1 logged-in", "each call restarts the window", loggedIn, "each call restarts the window"],
  ["4.1 logged-in", "401 UNAUTHENTICATED: missing or bad private key", credentials, "verdict and assertion are 401 UNAUTHENTICATED for anything but a private key"],
  ["4.1 logged-in", "402 NO_ACTIVE_SUBSCRIPTION", credentials, "without an active subscription the data plane is 402, the control plane works"],
  ["4.1 logged-in", "404 UNKNOWN_SESSION: no such session", loggedIn, "an unknown session is 404 UNKNOWN_SESSION, whatever the body"],
  ["4.1 logged-in", "a token of another project gives the same 404", tenants, "a foreign session reads as an unknown one, and is 404 UNKNOWN_SESSION for the assertion"],
  ["4.1 logged-in", "422: a malformed session token", loggedIn, "a malformed session token is 422"],
  ["4.1 logged-in", "a login before the first report is 404; a retry works", loggedIn, "a login before the first report is 404, and a retry after it works"],

  // 4.2 Control plane
  ["4.2", "all require the account token", credentials, "the control plane is 401 UNAUTHENTICATED for anything but an account token"],
  ["4.2", "a project of another account: 403 with no code", tenants, "an unknown project and a foreign one answer byte for byte alike: 403 without code"],
  ["4.2 enable", "no body; reachable without an active subscription", credentials, "without an active subscription the data plane is 402, the control plane works"],
  ["4.2 enable", "site_key, private_key, bot_settings, likely_bot_threshold", control, "enabling mints both keys once, and answers guards and threshold"],
  ["4.2 enable", "private_key is non-null only on first enablement", control, "enabling mints both keys once, and answers guards and threshold"],
  ["4.2 enable", "401, 403", tenants, "an unknown project and a foreign one answer byte for byte alike: 403 without code"],
  ["4.2 rotate", "body type: site or private, required", control, "rotating is 422 without a known type, and 409 without code while scoring is not enabled"],
  ["4.2 rotate", "response type and key", control, "rotating answers the new key, and the old one is refused from the next request on"],
  ["4.2 rotate", "the old key fails with 401 immediately", control, "rotating answers the new key, and the old one is refused from the next request on"],
  ["4.2 rotate", "401, 403", credentials, "the control plane is 401 UNAUTHENTICATED for anything but an account token"],
  ["4.2 rotate", "409 without code while scoring is not enabled", control, "rotating is 422 without a known type, and 409 without code while scoring is not enabled"],
  ["4.2 rotate", "422 when type is missing or unknown", control, "rotating is 422 without a known type, and 409 without code while scoring is not enabled"],
  ["4.2 settings", "all fields optional: send only what changes", control, "each setting changes alone, and the answer is the state after the update"],
  ["4.2 settings", "types and bounds of the four settings", control, "a bad setting is 422 and changes nothing, the good ones beside it included"],
  ["4.2 settings", "block_definite and challenge_likely are rejected, never translated", control, "a bad setting is 422 and changes nothing, the good ones beside it included"],
  ["4.2 settings", "response: all settings after the update", control, "each setting changes alone, and the answer is the state after the update"],
  ["4.2 settings", "the change busts the verdict cache", verdict, "a settings change takes effect at once"],
  ["4.2 settings", "401, 403, 422", tenants, "an unknown project and a foreign one answer byte for byte alike: 403 without code"],
  ["4.2 rules list", "an array ordered by sort_order ascending", control, "the list is an array in order of evaluation, without compiled trees"],
  ["4.2 rules list", "the nine fields of each item", control, "the list is an array in order of evaluation, without compiled trees"],
  ["4.2 rules list", "401, 403", tenants, "an unknown project and a foreign one answer byte for byte alike: 403 without code"],
  ["4.2 rule create", "name, expression, action required", control, "a bad rule is 422 and never stored"],
  ["4.2 rule create", "is_active default true, sort_order default 0", control, "a rule is created with defaults and answered in full, with its compiled tree"],
  ["4.2 rule create", "the full rule with the compiled expression", control, "a rule is created with defaults and answered in full, with its compiled tree"],
  ["4.2 rule create", "422 for each kind of bad rule; a rejected rule is never stored", control, "a bad rule is 422 and never stored"],
  ["4.2 rule create", "401, 403", tenants, "an unknown project and a foreign one answer byte for byte alike: 403 without code"],
  ["4.2 rule change", "PUT is an alias with the same partial-update semantics", control, "… changes only what is sent"],
  ["4.2 rule change", "all fields optional, with their bounds", control, "names up to 255 and expressions up to 2000 characters are taken"],
  ["4.2 rule change", "the full updated rule; the AST cannot be set", control, "the compiled tree cannot be set"],
  ["4.2 rule change", "a 422 leaves the stored rule untouched", control, "… with a bad value is 422 and leaves the stored rule untouched"],
  ["4.2 rule change", "404 without code: rule missing", control, "DELETE answers 204 without a body, once"],
  ["4.2 rule change", "404 without code: rule not in the project", tenants, "a foreign rule under one's own project is 404, as an unknown one"],
  ["4.2 rule change", "422: invalid expression, unknown action, wrong type", control, "… with a bad value is 422 and leaves the stored rule untouched"],
  ["4.2 rule change", "401, 403", credentials, "the control plane is 401 UNAUTHENTICATED for anything but an account token"],
  ["4.2 rule change", "applies to verdicts computed afterwards", verdict, "a rule change applies once the cached verdict expires, at once to one that is not cached"],
  ["4.2 rule delete", "204 with an empty body", control, "DELETE answers 204 without a body, once"],
  ["4.2 rule delete", "the rule stops being evaluated immediately", verdict, "rules are asked in ascending sort_order, equal ones by id, and the first that terminates wins"],
  ["4.2 rule delete", "401, 403, 404", tenants, "a foreign rule under one's own project is 404, as an unknown one"],
  ["4.2 export", "ability projects:read", bots, "a token without projects:read is 403 INSUFFICIENT_TOKEN_ABILITY, whatever the role"],
  ["4.2 export", "feature verified-bots-export: Business and Owner-lifetime plans", bots, "a plan without the feature is 403 FEATURE_NOT_AVAILABLE"],
  ["4.2 export", "data and meta.count, the full active allowlist", bots, "the export lists the whole allowlist with its count"],
  ["4.2 export", "401, 402, 403 and 403 with their codes", bots, "credential, ownership, subscription, feature and ability are checked in this order"],
  ["4.2 account", "no body; reachable without an active subscription", credentials, "without an active subscription the data plane is 402, the control plane works"],
  ["4.2 account", "the account is resolved from the token's binding", control, "the account is that of the token's binding, with the caller's role"],
  ["4.2 account", "401 UNAUTHENTICATED", credentials, "the control plane is 401 UNAUTHENTICATED for anything but an account token"],
  ["4.2 account", "403 without code: token not bound", credentials, "a token whose user left the account is not bound: 403 without code"],
  ["4.2 user", "path /user without /v1; 200 with the user; 401", control, "the user is shown at /user, without the /v1 prefix"],
  ["4.3", "success status codes", routing, "success statuses are 200, but 201 for a new rule, 204 for a deleted one and 202 for a batch"],

  // 5. Authentication
  ["5", "account API token as bearer, for the control plane", credentials, "the control plane is 401 UNAUTHENTICATED for anything but an account token"],
  ["5", "site key in X-Service-Site-Key or the body, header preferred", ingest, "the site key of the header is preferred to that of the body"],
  ["5", "private key as bearer or X-Service-Private-Key", credentials, "the private key is taken as bearer or in X-Service-Private-Key"],
  ["5", "both keys are minted together and scoped to their project", control, "keys of two projects differ and are scoped to their own"],
  ["5", "the site key can only add signals", credentials, "the site key reads no verdict and changes no configuration"],
  ["5", "keys are rotated independently; the old one is invalid immediately", control, "rotating answers the new key, and the old one is refused from the next request on"],
  ["5", "account tokens are rotated by deleting and recreating", credentials, "a token revoked is refused from the next request on"],
  ["5", "the account token is scoped to its account", tenants, "account and user are those of the token"],
  ["5", "projects:read grants reading reference data", bots, "a token without projects:read is 403 INSUFFICIENT_TOKEN_ABILITY, whatever the role"],
  ["5", "projects:write grants changes of configuration", credentials, "with --strict-abilities a change of configuration asks for projects:write"],
  ["5", "content abilities grant no project ones", abilities, "a token with one ability grants a … that one, where the role allows it"],
  ["5", "wildcard: everything the holder's role permits", abilities, "a wildcard token grants a … only what the role allows"],
  ["5", "stored abilities are the lower bound, the current role the upper", abilities, "a token with one ability grants a … that one, where the role allows it"],
  ["5", "most control-plane endpoints accept any valid token", credentials, "most control-plane endpoints take any valid token"],
  ["5", "a missing ability is 403 INSUFFICIENT_TOKEN_ABILITY", credentials, "with --strict-abilities a change of configuration asks for projects:write"],
  ["5", "401: missing, malformed or revoked credential", credentials, "a token revoked is refused from the next request on"],
  ["5", "402: valid credential without an active subscription", credentials, "without an active subscription the data plane is 402, the control plane works"],
  ["5", "the data plane needs a subscription; enabling, configuring and the account do not", credentials, "without an active subscription the data plane is 402, the control plane works"],

  // 6. Events
  ["6", "inbound events go to POST /v1/events", ingest, "every event type is accepted, with any whitelisted payload key"],

  // 7. Errors
  ["7", "body shape error, message, code; no code where the table says so", routing, "an error body holds error, message and, where the contract has one, a code: nothing else"],
  ["7", "401 UNAUTHENTICATED", credentials, "the control plane is 401 UNAUTHENTICATED for anything but an account token"],
  ["7", "402 NO_ACTIVE_SUBSCRIPTION", credentials, "without an active subscription the data plane is 402, the control plane works"],
  ["7", "403 INSUFFICIENT_TOKEN_ABILITY", credentials, "with --strict-abilities a change of configuration asks for projects:write"],
  ["7", "403 FEATURE_NOT_AVAILABLE", bots, "a plan without the feature is 403 FEATURE_NOT_AVAILABLE"],
  ["7", "403 without code: foreign project", tenants, "an unknown project and a foreign one answer byte for byte alike: 403 without code"],
  ["7", "403 without code: token not bound", credentials, "a token whose user left the account is not bound: 403 without code"],
  ["7", "404 UNKNOWN_SESSION", loggedIn, "an unknown session is 404 UNKNOWN_SESSION, whatever the body"],
  ["7", "404 without code: rule missing or not in the project", tenants, "a foreign rule under one's own project is 404, as an unknown one"],
  ["7", "409 without code: rotate while scoring is not enabled", control, "rotating is 422 without a known type, and 409 without code while scoring is not enabled"],
  ["7", "422 INVALID_PAYLOAD: schema violation", badInput, "what is no JSON object is 422"],
  ["7", "422: invalid rule expression, action, type", control, "a bad rule is 422 and never stored"],
  ["7", "422: bad settings value or removed toggle", control, "a bad setting is 422 and changes nothing, the good ones beside it included"],
  ["7", "422: body or query on the logged-in endpoint", loggedIn, "a query string is 422"],
  ["7", "422: over-size ingest batch", badInput, "a body of 256 KiB is read, one more byte is 422, by length and in chunks"],
  ["7", "an unknown session on the verdict read is no error", verdict, "an unknown session reads 200 with the fail-open body, never 404"],
  ["7", "over-quota ingest is 202 with over_quota", ingest, "the batch that takes the account above its quota is accepted with over_quota, and those after it"],
  ["7", "no 429 and no Retry-After on the data plane", ingest, "hundreds of requests in a burst are never answered 429 and carry no Retry-After"],

  // 8. Limits
  ["8", "rule name max 255 on create and update", control, "names up to 255 and expressions up to 2000 characters are taken"],
  ["8", "rule expression max 2000 on update", control, "names up to 255 and expressions up to 2000 characters are taken"],
  ["8", "likely_bot_threshold 1-99", control, "a bad setting is 422 and changes nothing, the good ones beside it included"],
  ["8", "verdict cache TTL 60 s default", reader, "the TTL is 60 seconds unless said otherwise"],
  ["8", "logged-in window of 24 hours from the most recent call", resolve, "the assertion holds for 24 hours from the most recent call, to the millisecond"],
  ["8", "no rate limiting", ingest, "hundreds of requests in a burst are never answered 429 and carry no Retry-After"],
  ["8", "monthly quota tied to plan, soft, resets each month", ingest, "the batch that takes the account above its quota is accepted with over_quota, and those after it"],
  ["8", "an over-size batch gives 422", ingest, "100 events are accepted, 0 and 101 are refused"],

  // 9. Versioning
  ["9", "versioned by the prefix /v1; /user lives outside", control, "the user is shown at /user, without the /v1 prefix"],
  ["9", "block_definite and challenge_likely are rejected with 422", control, "a bad setting is 422 and changes nothing, the good ones beside it included"],
  ["9", "bot_settings carries guards only and, in the update response, logged_in_policy", control, "each setting changes alone, and the answer is the state after the update"],

  // Judging requests
  ["requests 1", "off by default, signed agents allowed; a change is partial, answers the whole", scoring, "request scoring is off and allows signed agents until that is changed, member by member"],
  ["requests 1", "a wrong type or value is 422", scoring, "a bad value is 422 and changes nothing, the good ones beside it included"],
  ["requests 1", "takes effect at once; bot_settings does not change", scoring, "a change raises the settings revision, by which verdicts notice it, and no other answer shows it"],
  ["requests 2", "while it is off, the answer is that of the verdict read, with its subject", judged, "while request scoring is off, the answer is that of the verdict read, with its subject"],
  ["requests 2", "a body that is no JSON object, no request or over 64 KiB is 422", judged, "a body that is none of this call is 422, and the credential is asked for first"],
  ["requests 2", "what a visitor wrote can't make the call fail", judged, "nothing that a visitor wrote makes the call fail: values are cut, wrong types are missing"],
  ["requests 2", "of more than 100 headers the first 100 count; an entry that is no pair is skipped", judged, "the first 100 headers count, as a list and as an object, and no entry that is no pair is one"],
  ["requests 2", "http_version may also read 2.0 or HTTP/2", judged, "http_version is read in its spellings, ja4 as it is told, and neither from the headers"],
  ["requests 2", "the context is that of the verdict read; what is missing falls back to the session's last", judged, "the context is that of the verdict read; what is missing is what the session last reported"],
  ["requests 2", "forward-auth judges in the same way what the proxy passes on", forwarded, "once it is on, forward-auth judges what the proxy passes on"],
  ["requests 2", "while it is off, forward-auth is as it was", forwarded, "while request scoring is off, a visitor without a session is let in unseen"],
  ["requests 2", "fail-open on any error", reader, "whatever fails while a request is judged, at once or later, it is let in, and the failure is told"],
  ["requests 2", "it is computed each time", judged, "a verdict is computed each time, and the read beside it is not"],
  ["requests 2", "GET /v1/declared-bots is public", "test/http/declared-bots.test.ts", "the list is public, and another is in force as soon as it is imported"],
  ["requests 2", "GET /v1/signed-agents is public", "test/cli/agents.test.ts", "agents are listed, added, taken off and replaced beside a running server, which shows them at once"],
  ["requests 3", "every request has a verdict, neutral 60", judged, "once it is on, every request has a verdict at once, with or without a session"],
  ["requests 3", "a scored session's verdict is the lower of both; the ids of both are shown", judgedParts, "of a session and its request the lower score counts, and the ids of both are there, each once"],
  ["requests 3", "nothing is stored but counters: statistics by band and action", judged, "statistics and metrics tell sessions and requests apart"],
  ["requests 3", "blocks have session_token null, one a rule, address and minute, with a count", judged, "blocks without a session are recorded once a rule, address and minute, those of sessions as always"],
  ["requests 3", "a count is visible soon", forwarded, "what each thread counted of a block is seen, whichever is asked"],
  ["requests 3", "a listed address is verified without a session", judged, "an address of the verified-bot list is verified without a session"],
  ["requests 3", "so is one that DNS proves", "test/http/verified-address.drill.test.ts", "a request of an address that DNS proves is verified without a session"],
  ["requests 3", "two contradictions are a bot band", dishonest, "a set of headers that contradicts itself in two or more ways is a bot, however it is told of"],
  ["requests 3", "one alone may stay above T", honest, "one oddity alone stays above the threshold"],
  ["requests 3", "no honest browser falls below T, whatever it asks for", honest, "captured requests of real browsers fire nothing"],
  ["requests 3", "nothing is definite for missing headers only", honest, "whatever lines are missing, their absence alone makes no definite bot"],
  ["requests 3", "declared bots have operator and category", "test/bots/declared/declared-bots.test.ts", "bots, libraries and tools are known by name, operator and category"],
  ["requests 4", "missing values make a comparison false", judgedParts, "a missing value makes a comparison false without a session"],
  ["requests 4", "the fields may be saved while it is off; rules/test replays what it can; what the verdict read knows", judged, "rules of the new fields can be saved while request scoring is off, and rules/test replays what it can"],
  ["requests 4", "literals of asn go to 4294967295", fields, "numbers of autonomous systems go to 4294967295, other integers to 2147483647"],
  ["requests 4", "has_session and requests_per_minute, by the /64 of IPv6", judged, "rules read the absence of a session and the rate of an address, guards and policies hold as on the read"],
  ["requests 4", "in the last 60 s, this one included", rates, "a request counts for 60 s, this one included, by project and address"],
  ["requests 4", "exact up to 100,000 addresses, 95 % right above", rates, "100,000 addresses are counted exactly, a million right in 95 of 100 cases and more"],
  ["requests 4", "the signature's state", forwarded, "what a signature is worth is a rule field, and only a failing one is evidence"],
  ["requests 5", "country, asn and as_name of the shipped files", network, "the shipped data knows countries and autonomous systems of both families"],
  ["requests 5", "a fact that the operator's files lack comes from those shipped", network, "what a file lacks comes from what lies below, and a name is always that of the number beside it"],
  ["requests 5", "a damaged file stops the start with one line", networkFiles, "a damaged file stops the start with one line that names it"],
  ["requests 5", "a changed file is loaded on SIGHUP, the old one serves until then", networkFiles, "SIGHUP takes a new file over on all threads, and keeps the old facts when it is damaged"],
  ["requests 5", "ip-list import, --as", "test/http/ip-lists.test.ts", "--as takes bare numbers as autonomous systems, and an import replaces the list"],
  ["requests 5", "no list is shipped", "test/http/ip-lists.test.ts", "none is shipped"],
  ["requests 5", "--ja4-header counts from trusted proxies only, and never from request.headers", forwarded, "JA4 is taken from the trusted proxy's header, and no other"],
  ["requests 6", "the published vectors verify", "test/bots/signed/vectors.test.ts", "every published signature verifies, and none with a byte changed"],
  ["requests 6", "both forms of Signature-Agent, at both entrances", forwarded, "a signed request is verified by both entrances, in both forms"],
  ["requests 6", "@authority or @target-uri is covered", signatures, "@authority or @target-uri is covered"],
  ["requests 6", "the agent's member is covered where it is sent", signatures, "the agent's member is covered where it is sent"],
  ["requests 6", "created, expires and keyid are required", signatures, "created, expires and keyid are required"],
  ["requests 6", "created, expires and their bounds", signatures, "created is at most 60 s ahead, expires not past and at most 24 h after created"],
  ["requests 6", "the key is that of directory and keyid", signatures, "the key is that of directory and keyid, never of keyid alone"],
  ["requests 6", "test keys only with --allow-test-keys", signatures, "test keys of RFC 9421 are invalid, whoever publishes them, unless they are allowed"],
  ["requests 6", "the authority is request.host, else the Host header", signatures, "the authority is the reported host, else the Host header, in lower case, without the default port"],
  ["requests 6", "every signature of the tag must verify", signatures, "every signature of the tag must verify"],
  ["requests 6", "other tags are not looked at", signatures, "requests without a signature of the tag are none, at once"],
  ["requests 6", "whatever fails with a known key is invalid", signatures, "whatever fails with a known key is invalid"],
  ["requests 6", "a nonce counts once, but within 10 s for the same request", signatures, "a nonce that was seen before is invalid, but for the same request within 10 s"],
  ["requests 6", "directories: https, no redirects, 64 KiB, 20 keys", directories, "what is no directory is refused"],
  ["requests 6", "3 s", directories, "a directory that never ends, in bytes or in time, is given up"],
  ["requests 6", "public addresses only", directories, "only public addresses are connected to, whatever the name says"],
  ["requests 6", "keys are kept on failure", "test/bots/signed/agent-refresh.test.ts", "a directory that fails keeps its keys, and is asked again later and later"],
  ["requests 6", "keys are importable as a JWKS file", "test/bots/signed/agent-refresh.test.ts", "imported keys are kept like fetched ones, and put the fetch off"],
  ["requests 6", "verified: the agent's category, allowed before rules or not by the setting", judgedParts, "a verified signed agent is verified, and allowed before rules as its setting and the guard say"],
  ["requests 7", "verification is not waited for without end, and cached", signatures, "each request with a signature is counted once, and too many at once are not waited for"],
  ["agents 1", "verdict, forward-auth and session carry the agent; the verdict read stays; a mark lowers no score", visitors, "a mark names the session's agent in every answer, and lowers no score"],
  ["agents 1", "the strongest certainty counts, and no spoofed name", visitors, "the surest of what is known counts: a user agent before a mark; a spoofed name never"],
  ["agents 1", "verified: the operator's address, and which of its bots", visitors, "of a verified operator's bots the user agent says which: rules, exceptions and the catalogue know it by that name"],
  ["agents 1", "not while request scoring is off", visitors, "while request scoring is off no answer names an agent, though rules know the session's"],
  ["agents 1", "rule fields, closed lists, missing where none is known", visitors, "searches and backtests know the agent, and its fields are closed lists"],
  ["agents 1", "behavior: unknown agent, with its evidence", visitors, "an unknown agent is named by how it acts; a mark names it better"],
  ["agents 1", "its evidence: what decided", acts, "the signs that decided on an unknown agent are said, also one that is too little to fire"],
  ["agents 1", "GET /v1/agents: one row a name, by import at once", "test/http/agents.test.ts", "the catalogue has one row a name, and shows imported marks at once"],
  ["agents 1", "marks are data with kinds, at most 200, 4 KB", "test/bots/marks/catalogue.test.ts", "201 entries are refused, and as many as fit no browser's share"],
  ["agents 1", "one bad entry refuses the list", "test/bots/marks/catalogue.test.ts", "one bad entry refuses the whole list and says which"],
  ["agents 2", "marks of each kind, set late", "test/browsers/sdk-agents.test.ts", "each mark is found when it is set in an open page, and nothing else is"],
  ["agents 2", "at start", "test/browsers/sdk-agents.test.ts", "marks that are there before the script are found at once"],
  ["agents 2", "cost at 50,000 elements: nothing in the tree, no layout", "test/browsers/sdk-agents.test.ts", "a report costs little in a page of 50,000 elements, and the file is small"],
  ["agents 2", "a debugger's client that attaches late", "test/browsers/sdk-agents-late.test.ts", "who attaches to an open page is seen once it acts"],
  ["agents 2", "from the first trace on the session's agent is known", visitors, "a session keeps the agent that it was known by, whatever becomes of the list"],
  ["agents 3", "activation without an input, and its exceptions", "test/browsers/sdk-agent-acts.test.ts", "an activation that a key, a frame, a film or the page's own click may have given counts for nothing"],
  ["agents 3", "clicks on arrival", acts, "a click on arrival is one whose pointer shows up in the middle of the page, and then clicks"],
  ["agents 3", "in the very middle", "test/browsers/sdk-agent-acts.test.ts", "element clicks hit the middle without a way there; a moved pointer's don't count"],
  ["agents 3", "pasted forms", acts, "a pasted form counts without keys and menu only"],
  ["agents 3", "text without keys", "test/browsers/sdk-agent-acts.test.ts", "texts that the browser puts into a field as it gets the focus"],
  ["agents 3", "a form without keys: no password manager's", acts, "a form without keys names beside what only a driver gives, and never by itself"],
  ["agents 3", "unpaired keys", "test/browsers/sdk-agent-acts.test.ts", "letters that go down twice are counted, and what systems do with keys is not"],
  ["agents 3", "equal holds", acts, "ten holds that are equal to a millisecond"],
  ["agents 3", "silences without pointer noise", acts, "clicks out of silence are elsewhere, seconds later and without a way"],
  ["agents 3", "pages left at once", acts, "pages that are left at once, three in a row"],
  ["agents 3", "pages replaced by typed ones", acts, "addresses that come by themselves"],
  ["agents 3", "hidden input", "test/browsers/sdk-agent-acts.test.ts", "keys that reach a hidden page"],
  ["agents 3", "two tabs focused", "test/browsers/sdk-agent-acts.test.ts", "two tabs with the focus at once"],
  ["agents 3", "no aid's signs alone", acts, "an unknown agent is named by signs that no aid gives, beside others"],
];
