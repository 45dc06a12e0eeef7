/** Every bound of verdictd in one table, each with its reason. Values only: nothing here reads configuration or the clock. */

const KIB = 1024;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

export const limits = {
  /** Bytes of an ingest body. A full batch of 100 events with long pointer paths is about 200 KiB. */
  ingestBodyBytesMax: 256 * KIB,
  /** Bytes of a request's line and headers; what is over it is answered 431. Browsers keep at most 4 KiB a cookie. */
  headerBytesMax: 16 * KIB,
  /** Bytes of any other body: a rule of 2000 characters escaped to the full is 12 KiB. */
  controlBodyBytesMax: 64 * KIB,
  /** Events of one batch. */
  batchEventsMax: 100,
  /** Rows of `points` or `strokes` in one event. */
  rowsMax: 256,
  /** Characters of a string in a payload. */
  payloadStringMax: 512,
  /** Members of an array of scalars in a payload. */
  payloadArrayMax: 64,
  /** Characters of an `Idempotency-Key`. */
  idempotencyKeyMax: 255,
  /** How long an `Idempotency-Key` resolves to the session it minted. */
  idempotencyKeptMs: DAY_MS,
  /** A client's clock may be wrong by this much; beyond it `received_at` is clamped. */
  clockSkewMs: DAY_MS,
  /** Length of the logged-in window after an assertion. */
  loggedInMs: DAY_MS,

  /** Request ids remembered in the session record itself before they spill into its `repeats` rows. */
  repeatsInlineMax: 128,
  /** Request ids of one spilled generation; two generations are kept, so at least this many are remembered. */
  repeatsGenerationMax: 2048,

  /** Characters kept of a header or context value that a session or a verdict remembers. */
  contextValueMax: 512,

  /** Credentials memoised a thread; wrong guesses are memoised too, so a full memo starts anew. */
  credentialMemoMax: 10_000,

  /**
   * Wrong account tokens from one address in a window that are answered at once; how long each further one waits; addresses
   * remembered; answers held at once, so that guessing from everywhere costs no more than this many connections.
   */
  guessesFree: 10,
  guessWindowMs: MINUTE_MS,
  guessDelayMs: 500,
  guessAddressesMax: 10_000,
  guessesHeldMax: 1000,

  /**
   * Bytes of the disk that batches leave free, so that keys, rules, erasure and the sweep go on: a hundred of the largest
   * transactions. How often the disk is looked at: it fills by a few MiB in that time.
   */
  diskReserveBytes: 64 * KIB * KIB,
  diskLookMs: 100,

  /** LMDB environments that sessions are split over: each costs a map, a file, and readers their slots. */
  sessionStoresMax: 16,

  /** Rows that one transaction of the sweep removes: it holds the store for a few milliseconds. */
  sweepRowsMax: 500,
  /** How often what has outlived its retention is removed. */
  sweepEveryMs: 10 * MINUTE_MS,

  /** How often forward-auth logs that it lets visitors in unseen: every request of a site with a wrong key is one. */
  forwardAuthWarnMs: MINUTE_MS,
  /** Characters of an error's message or stack in the log: a line stays below what a pipe takes at once. */
  logTextMax: 1500,
  /** How often a thread shows the state that metrics read (event loop, DNS). */
  stateShownEveryMs: 500,
  /** How long scoring threads may take to start; measured as 0.3 s on an idle machine. */
  workersUpMs: 60_000,
  /** How often an admin address that is taken is tried again: the process before this one may still hold it. */
  adminRetryMs: 1000,

  /** How often counts of verdict answers are added to the store. */
  trafficFlushMs: 1000,
  /** How often recorded blocks are. */
  blocksFlushMs: 100,
  /** Blocks that wait for that; further ones are counted and dropped. About 10 MB. */
  blocksWaitingMax: 50_000,

  /** Who may follow a thread's verdicts at once, and characters of what each sends to begin with. */
  followersMax: 16,
  followFilterMax: 4 * KIB,
  /** Bytes of verdicts that wait for a follower who reads slowly, before further ones are left out: some thousand. */
  followBytesMax: KIB * KIB,
  /** How often a follower looks for servers that have just started. */
  followLookMs: 500,
  /** Age from which a socket where nobody answers is one that a killed process left behind. */
  socketLeftBehindMs: MINUTE_MS,

  /**
   * Trails: bodies that a thread copies for them between two flushes, twice as many under load (40 us of work each, off the ingest
   * path), and the largest of them; of how many sessions at least one is followed; points and moments kept of a session (about 1 KiB), characters of a path; pixels of the grid on which
   * points lie and the largest coordinate; how far apart events of a batch may be.
   */
  trailBatchesPerFlush: 25,
  trailBodyBytesMax: 32 * KIB,
  trailShareMax: 4096,
  trailPointsMax: 96,
  trailMomentsMax: 48,
  trailPathMax: 64,
  trailGridPx: 4,
  trailPxMax: 16_384,
  trailBatchMsMax: MINUTE_MS,

  /** Slots of a project's memory of pointer paths, against which replays are found. */
  shingleSlotsMax: 1 << 18,
  /** Shingles, and rows, that its log holds before they are taken into buckets: two or three milliseconds of a transaction. */
  replayLogMax: 32_768,
  replayLogRowsMax: 2048,
  /** What a scoring thread keeps of these memories (2 MiB of a busy project), and of how many projects. */
  replayHeldBytesMax: 64 * KIB * KIB,
  replayProjectsMax: 128,

  /** Projects whose compiled rules a thread keeps. */
  compiledProjectsMax: 10_000,

  /** Batches of one scoring task and its bytes: bounds how long one write transaction holds the store. */
  taskBatchesMax: 256,
  /**
   * Batches of a task that are read, folded and saved before the next are looked at: as many as the caches of a core hold what they are turned
   * into (some 20 KB each).
   */
  batchesAtOnce: 8,
  taskBytesMax: 4 * KIB * KIB,
  /** How much a scoring thread gives way to those that answer, where threads have a priority (Linux): a third of their share of a full core. */
  scoringNiceness: 5,
  /** MiB of a scoring thread's heap: a task of 4 MiB of JSON takes a tenth of it. A thread that needs more is replaced. */
  scoringHeapMibMax: 256,
  /** How often scoring is looked after, and how many looks a task or a transaction may take: 256 batches take 25 to 100 ms. */
  watchEveryMs: 1000,
  watchTicksMax: 10,
  /**
   * Stopping: how long open connections may still bring requests, each answered with `Connection: close`; how long requests are
   * waited for; and how long all of it may take before the process ends as it is. Acknowledged batches survive that as they survive a crash.
   */
  stopQuietMs: 1000,
  stopRequestsMsMax: 10_000,
  stopMsMax: 15_000,
  /** From closing a listener until answers close their connections: the time in which all threads close theirs. */
  stopListenersMs: 100,
  /** How often a stopping server looks whether all is answered. */
  stopLookMs: 20,

  /** How many tasks a scoring thread is handed at once: one runs while the next is on its way. */
  tasksInFlightPerThread: 2,
  /** Batches without which a task does not go ahead of a thread's turn: it grows while it waits, and a commit costs the same for more. */
  taskBatchesAhead: 128,

  ruleNameMax: 255,
  ruleSourceMax: 2000,
  ruleDepthMax: 32,
  ruleNodesMax: 128,
  ruleSetMax: 256,
  rulesPerProjectMax: 1000,

  /** Page size of the logs: least, most, and when none is asked for. */
  pageMin: 1,
  pageMax: 100,
  pageDefault: 50,
  /** Stored sessions that one `rules/test` replays when it does not say; 10 to 25 us of CPU each. */
  ruleTestSessionsDefault: 1000,
  /** Sessions looked up in one piece, about 5 ms; fewer would read a busy second, which is read whole, again and again. */
  ruleTestLookup: 1000,
  /** Sessions taken from each slice of the time that `rules/test` samples. */
  ruleTestSliceSessions: 10,
  /** Sessions replayed before other requests get their turn: about a millisecond. */
  ruleTestChunk: 100,
  /** Tokens of matched sessions that `rules/test` shows. */
  ruleTestSampleMax: 10,
  /** Buckets of one `stats` answer: a month of hours, two years of days; 200 KiB. */
  statsBucketsMax: 750,
  /** Hours of `stats` read before other requests get their turn: one to two milliseconds. */
  statsHoursChunk: 240,

  /** Account tokens of one account that the API makes: each is read by every list of them. */
  tokensPerAccountMax: 1000,

  /** Characters of an account's, user's or project's name; the same as a rule's. */
  nameMax: 255,

  /** Entries of a verified-bot catalogue: the shipped one has 2,822; 50,000 still index in well under a second. */
  verifiedBotEntriesMax: 50_000,
  /** Characters of a catalogue's `version`. */
  verifiedBotVersionMax: 64,
  /** Shortest prefixes a catalogue may hold: whoever is inside is allowed unseen, and no operator owns more. */
  verifiedBotPrefixMinV4: 8,
  verifiedBotPrefixMinV6: 16,
  /** Characters of a hostname, so of a suffix too (RFC 1035). */
  hostnameMax: 253,
  /** Faults that an integrity check lists; beyond them it only counts. A wrecked store has as many as rows. */
  integrityFaultsMax: 1000,
  /** Ranges in `--trusted-proxies`: a large CDN lists about 50. */
  trustedProxiesMax: 1000,
  /** Names of one PTR answer that are looked at: a crawler has one, more is somebody wasting our time. */
  reverseNamesMax: 4,
} as const;
