/** Every bound of verdictd in one table, each with its reason. Values only: nothing here reads configuration or the clock. */

const KIB = 1024;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Characters kept of a header or context value that a session or a verdict remembers. The client needs this bound, and none of the table. */
export const contextValueMax = 512;

/** Units are in the names (`Bytes`, `Ms`) or at the entry; what operators may choose is in `config.ts`. */
export const limits = {
  /** Bytes of an ingest body. A full batch of 100 events with long pointer paths is about 200 KiB. */
  ingestBodyBytesMax: 256 * KIB,
  /** Bytes of a request's line and headers; what is over it is answered 431. Browsers keep at most 4 KiB a cookie. */
  headerBytesMax: 16 * KIB,
  /** Bytes of any other body: a rule of 2000 characters escaped to the full is 12 KiB. */
  controlBodyBytesMax: 64 * KIB,
  /**
   * Bytes of bodies on their way to one HTTP thread, as far as they came in pieces: those whose request named a valid key or token, and those of
   * anybody. Beyond them the body that has been longest on its way is given up. A body of one piece, as most are, is not held.
   */
  bodiesBytesMax: 64 * KIB * KIB,
  anonymousBodiesBytesMax: 16 * KIB * KIB,
  /** Bytes of answers (files, which all share, not counted) that clients of one HTTP thread are slow to read; beyond them the oldest is cut off. */
  unreadAnswersBytesMax: 32 * KIB * KIB,
  /**
   * Answers without a body (204, 304, HEAD) that a connection gets on average before it is closed: what a client can leave unread, 400 bytes
   * each. The first of a thread are free, some 400 KB.
   */
  bodilessAnswersOfConnection: 512,
  bodilessAnswersFree: 1000,
  /** Connections of one HTTP thread: each may hold as much as `headerBytesMax` for ten seconds. */
  connectionsMax: 16_384,
  /** Connections and requests of each on the admin address: an answer is up to 100 KB. How long it waits for a client that does not read. */
  adminConnectionsMax: 64,
  adminRequestsOfConnection: 16,
  adminSilenceMs: 10_000,
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

  /** Bytes of a file that a command reads: the longest list of addresses has some 15 MB. */
  importBytesMax: 64 * KIB * KIB,
  /** Sockets that are looked at at once. With fewer open, more requests than that in a tick of the event loop were pipelined. */
  socketsPerTick: 1024,
  /** Requests beyond that which one address gets answered in a tick, some 0.1 s. More wait for the next, and cost pipelining connections the connection. */
  requestsPerTickMax: 3072,
  /** How long a start ticket holds. It comes back within seconds, unless the network is gone; counts of what came back are kept for an hour at least. */
  startTicketMs: 10 * MINUTE_MS,
  /** How long a challenge can be solved. */
  challengeMs: 10 * MINUTE_MS,
  /** Bytes of a body that asks for a challenge or brings a solution. */
  challengeBodyBytesMax: 8 * KIB,
  /** Challenges that a thread makes at once; each is 0.1 ms of another thread. */
  challengesMadeAtOnceMax: 256,

  /** Request ids remembered in the session record itself before they spill into its `repeats` rows. */
  seenIdsInlineMax: 128,
  /** Request ids of one spilled generation; two generations are kept, so at least this many are remembered. */
  seenIdsGenerationMax: 2048,

  contextValueMax,

  /** Characters of all texts that one memory of what visitors write holds: 4 MiB at most, some 10,000 user agents. */
  textMemoCharactersMax: 2 * KIB * KIB,

  /** Credentials memoised a thread; wrong ones are memoised too, so a full memo starts anew. */
  credentialMemoMax: 10_000,

  /**
   * Wrong account tokens from one address in a window that are answered at once; how long each further one waits; addresses
   * remembered; answers held at once, so that guessing from everywhere costs no more than this many connections.
   */
  failedAuthsFree: 10,
  failedAuthWindowMs: MINUTE_MS,
  failedAuthDelayMs: 500,
  failedAuthAddressesMax: 10_000,
  failedAuthsHeldMax: 1000,

  /**
   * Bytes of the disk that batches leave free, so that keys, rules, erasure and the sweep go on: a hundred of the largest
   * transactions. How often the disk is looked at: it fills by a few MiB in that time.
   */
  diskReserveBytes: 64 * KIB * KIB,
  diskLookMs: 100,

  /**
   * How long a group's reads and writes of the cluster may take, how long its batches wait for a shard that only some of them, or only their
   * counts, need, and how long a master waits for its replicas, before batches are refused and sent again; how often a group is done again because others wrote its sessions; how often a thread takes in paths of other nodes, and how
   * long its own counts and paths wait for those of the next groups.
   */
  clusterWriteMs: 2000,
  clusterImpatientMs: 250,
  clusterAckMs: 500,
  clusterConflictRounds: 5,
  clusterPathsRefreshMs: 500,
  clusterCountsMs: 50,
  /** How long an HTTP thread holds a session that it read from the cluster at most, and how many of them: verdicts of one page ask once. */
  clusterRowMs: 1000,
  clusterHeldRowsMax: 50_000,
  clusterHeldBytesMax: 64 * KIB * KIB,
  /**
   * Commands that read or write a whole cluster: how long a piece is tried again while a node is replaced; sessions of a piece, about half a
   * megabyte; keys of a page of `SCAN`, a few milliseconds of its master.
   */
  clusterPatienceMs: 60_000,
  clusterPieceRows: 256,
  clusterScanKeys: 1000,
  /** How long `store migrate` tries a piece: a little longer than an election that is held twice. Run again, it goes on where it ended. */
  clusterMigrationPatienceMs: 15_000,

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
  /** How often recorded blocks are; those that only raise a count wait for longer, below the 10 s in which it must be seen. */
  blocksFlushMs: 100,
  blockCountsMs: 2000,
  /** Blocks of a session and rule in a minute that are records; further ones raise the last one's count. */
  blocksOfSessionMinuteMax: 20,
  /** Blocks that wait to be stored, and sessions and rules of which any do; further ones are counted and dropped. About 10 MB each. */
  blocksWaitingMax: 50_000,
  blockTalliesMax: 50_000,
  /** Blocks stored in one transaction, some 10 us each: between two the thread serves others. */
  blocksAtOnce: 250,
  /** References kept of a recorded block, the latest; subjects whose further references find their block, as long as its verdict is cached. */
  blockReferencesMax: 16,
  blockSubjectsMax: 10_000,
  /** Recorded blocks of a project, the latest: about 50 MB, at most 200 MB. */
  blocksPerProjectMax: 100_000,

  /** Changes of an account's configuration that are kept, the latest: about 5 MB. */
  auditEntriesMax: 10_000,
  /** Marked sessions of a project: some 2 MB, and few enough to be sorted for each page. */
  marksPerProjectMax: 5000,

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
   * Timelines: bodies that a thread copies for them between two flushes, twice as many under load (40 us of work each, off the ingest
   * path), and the largest of them; of how many sessions at least one is followed; points and entries kept of a session (about 1 KiB), characters of a path; pixels of the grid on which
   * points lie and the largest coordinate; how far apart events of a batch may be.
   */
  timelineBatchesPerFlush: 25,
  timelineBodyBytesMax: 32 * KIB,
  timelineShareMax: 4096,
  timelinePointsMax: 96,
  timelineEntriesMax: 48,
  timelinePathMax: 64,
  timelineGridPx: 4,
  timelinePxMax: 16_384,
  timelineBatchMsMax: MINUTE_MS,

  /** Slots of a project's memory of pointer paths, against which replays are found. */
  shingleSlotsMax: 1 << 18,
  /**
   * What one visitor may put there: hashes of a share, shares of a session (a 32nd of the memory, some ten minutes of moves), and shares
   * of an address in this hour and the one before (an eighth).
   */
  pathShareHashes: 128,
  pathSharesPerSession: 64,
  pathSharesPerAddress: 256,
  /** Shingles, and rows, that its log holds before they are taken into buckets: two or three milliseconds of a transaction. */
  replayLogMax: 32_768,
  replayLogRowsMax: 2048,
  /** What a scoring thread keeps of these memories (2 MiB of a busy project), and of how many projects. */
  replayHeldBytesMax: 64 * KIB * KIB,
  replayProjectsMax: 128,

  /** Characters of rules whose compiled form a thread keeps, in each of two generations: a project with all the rules that it may have. */
  compiledSourceCharactersMax: 2 * KIB * KIB,
  /** Projects whose compiled rules a thread keeps. */
  compiledProjectsMax: 10_000,

  /**
   * Connections to a cluster: how long one may take until it can be used; how long a node may owe an answer before the connection to it is given
   * up, about as long as a failover takes; commands, and bytes of them, that wait on one connection: some seconds of a full node's work.
   */
  clusterConnectMs: 2000,
  /** How often a start looks at a cluster that does not answer. */
  clusterLookMs: 1000,
  /** How long a cluster that was waited for may lack replicas, or anything else, once it answers again: masters come back before replicas do. */
  clusterComingMs: 60_000,
  clusterSilenceMs: 3000,
  /** How long a command waits for the cluster before it says so. */
  clusterSilentMs: 2000,
  /**
   * A master without an answer for so long after a request failed, longer than a failover takes, is asked no more but by what waits longer than
   * that; how often it is probed then; how
   * often the log says that the cluster can't be used, and after how long without a failure that it can.
   */
  clusterGiveUpMs: 5000,
  clusterProbeMs: 250,
  outageSaidEveryMs: 60_000,
  outageOverMs: 5000,
  clusterPendingCommandsMax: 50_000,
  clusterPendingBytesMax: 64 * KIB * KIB,
  /** How far clocks of nodes may be from this machine's: what expires does so by theirs. */
  clusterClockOffMsMax: 5000,

  /**
   * Configuration on a cluster: how long a node may go on without having heard of its changes; how often it says that it is there; how much
   * longer others wait for one that fell silent. Then how long a change may take in all, with a failover in between; how long a master waits
   * for replicas; and how often a change is run again since another came first.
   */
  configLeaseMs: 2000,
  configBeatMs: 500,
  configLeaseSlackMs: 250,
  configChangeMs: 12_000,
  configAckMs: 500,
  configRoundsMax: 20,
  /** Changes that the cluster keeps for nodes to follow, and bytes and rows of one that is kept: behind a larger one nodes read all. */
  configLogMax: 256,
  configLogBytesMax: 64 * KIB,
  configLogRowsMax: 1000,
  /** Bytes of the whole configuration of a cluster: read in one step, during which its master does nothing else. */
  configBytesMax: 64 * KIB * KIB,

  /** Batches of one scoring task and its bytes: bounds how long one write transaction holds the store. */
  taskBatchesMax: 256,
  /**
   * Batches of a task that are read, folded and saved before the next are looked at: as many as the caches of a core hold what they are turned
   * into (some 20 KB each).
   */
  batchesAtOnce: 8,
  taskBytesMax: 4 * KIB * KIB,
  /** By how much a scoring thread runs at a lower priority than those that answer, where threads have one (Linux): a third of their share of a full core. */
  scoringNiceness: 5,
  /** MiB of a scoring thread's heap: a task of 4 MiB of JSON takes a tenth of it. A thread that needs more is replaced. */
  scoringHeapMibMax: 256,
  /**
   * MiB of the part of it where new objects are, of a thread that writes to a cluster: a group of batches lives there until it is written. In the
   * 48 MiB of Node's default it was copied twice, and collecting garbage took a third of the thread's time and as much of others.
   */
  clusterYoungHeapMib: 160,
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

  ruleSourceMax: 2000,
  ruleDepthMax: 32,
  ruleNodesMax: 128,
  ruleSetMax: 256,
  rulesPerProjectMax: 1000,
  /**
   * Steps (some nanoseconds each) that a project's rules may take for one verdict: 1,000 rules with a `wildcard` over a user agent of 150
   * characters take a third of it, one rule of 2,000 characters at most a tenth. The rules that are left count as not matching then.
   */
  ruleStepsMax: 1_000_000,
  /** How often a project whose rules are over it is logged. */
  ruleBudgetWarnMs: MINUTE_MS,

  /** Page size of the logs: least, most, and when none is asked for. */
  pageMin: 1,
  pageMax: 100,
  pageDefault: 50,
  /** Stored sessions that one `rules/test` evaluates when it does not say; 10 to 25 us of CPU each, with the costliest rule some 300. */
  ruleTestSessionsDefault: 1000,
  /** Sessions looked up before their rest is sorted out; fewer would read a busy second, which is read whole, again and again. */
  ruleTestLookup: 1000,
  /** Sessions taken from each slice of the time that `rules/test` samples. */
  ruleTestSliceSessions: 10,
  /** Tokens of matched sessions that `rules/test` shows. */
  ruleTestSampleMax: 10,
  /**
   * Stored sessions that one `sessions/query` scans at most, of a time that has more an even sample; 15 to 30 us of CPU each. Rules that each of
   * them is asked where it groups by action or rule: with more rules it scans as many sessions fewer.
   */
  sessionQueryMax: 20_000,
  sessionQueryRules: 100,
  /** Sessions that one call of `sessions/delete` deletes at most, and those of one transaction, during which no batch is stored: about 5 ms. */
  sessionDeletionMax: 5000,
  sessionDeletionGroup: 100,
  /** Rows of a table that are looked through at once for the names of sessions. */
  erasureStretchRows: 2000,
  /** Values of each dimension that `sessions/query` shows when it is not said. Bars of its chart at most. */
  sessionQueryTopDefault: 10,
  sessionQueryBarsMax: 100,
  /** Days that `sessions/query` goes back in one answer: more than sessions are kept by default. */
  sessionQueryDaysMax: 400,
  /** Buckets of one `stats` answer: a month of hours, two years of days; 200 KiB. */
  statsBucketsMax: 750,
  /** Hours of `stats` read before the clock is looked at: one to two milliseconds. */
  statsHoursChunk: 240,
  /** Keys of sessions read before the clock is looked at, about 5 us each. */
  sessionKeysRead: 500,
  /** How long work on behalf of one request keeps a thread before others have their turn. With what lies between two looks at the clock: 10 ms. */
  workSliceMs: 5,

  /** Account tokens of one account that the API makes: each is read by every list of them. */
  tokensPerAccountMax: 1000,

  /** Characters of an account's, user's or project's name; the same as a rule's. */
  nameMax: 255,
  /** Characters of an account token's name: what it is for, in a few words. */
  tokenNameMax: 100,
  /** How exactly the last use of an account token is known; in a cluster, where each is a change of the configuration, an hour. */
  tokenUseMs: 60_000,
  tokenUseClusterMs: 3_600_000,
  /** Members of an account, whom a list shows at once. */
  membersPerAccountMax: 500,

  /** Hours that a rotated key may go on working: a month, the slowest of roll-outs. */
  keyOverlapHoursMax: 720,
  /** Rotated keys of a project that still work, by kind. */
  oldKeysMax: 4,

  /** Entries of a verified-bot catalogue: the shipped one has 2,822; 50,000 still index in well under a second. */
  verifiedBotEntriesMax: 50_000,
  /** Characters of the `version` of a catalogue, of whichever bots. */
  catalogueVersionMax: 64,
  /**
   * Shortest prefixes a catalogue may hold: whoever is inside is allowed unseen. The widest crawler networks that operators publish are a
   * /16 and a /32; the shipped list has a /22 and a /56. And how much all ranges of a catalogue may cover together, as a prefix: many
   * ranges that are each narrow enough could hold everybody all the same.
   */
  verifiedBotPrefixMinV4: 12,
  verifiedBotPrefixMinV6: 28,
  verifiedBotCoverMinV4: 8,
  verifiedBotCoverMinV6: 24,
  /** Entries of a list of declared bots, characters of a token and of all of them: the shipped one has 1,500 with 16,000; each is a state. */
  declaredBotEntriesMax: 5000,
  declaredBotTokenMin: 3,
  declaredBotTokenMax: 128,
  declaredBotTokenCharactersMax: 60_000,
  /**
   * The operator's own lists of addresses: how many, bytes of a file, entries of a list (some MiB in each HTTP thread), characters of a
   * name. Each list costs a look-up 0.1 us.
   */
  ipListsMax: 100,
  ipListFileBytesMax: 32 * KIB * KIB,
  ipListEntriesMax: 200_000,
  ipListNameMax: 64,
  /** Files of `--ip-database`, bytes of one (a city file has 120 MiB), and how long reading all of them may take. */
  ipDatabasesMax: 8,
  ipDatabaseBytesMax: 1024 * KIB * KIB,
  ipDatabaseLoadMsMax: 120_000,
  /** Characters of the name of an autonomous system. */
  asNameMax: 255,
  /** Rows of network facts that a thread keeps as objects: a row is some hundred bytes. */
  networkFactsMemoMax: 16_384,
  /** Characters of a hostname, so of a suffix too (RFC 1035). */
  hostnameMax: 253,

  /** Agents of the allow-list, each asked for its keys every hour, and characters of an agent's address. */
  signedAgentsMax: 1000,
  agentUrlMax: 512,
  /** Keys of one agent, and characters of one of their members: an RSA modulus of 4096 bits has 683. */
  agentKeysMax: 20,
  agentKeyMemberMax: 1024,
  /** Bits of an RSA key: shorter ones can be broken, longer ones cost more than a millisecond to verify. */
  agentRsaBitsMin: 2048,
  agentRsaBitsMax: 4096,
  /** Bytes of a key directory, and of a file of keys or agents: 20 RSA keys are 16 KiB. How long a fetch may take from look-up to last byte. */
  agentDirectoryBytesMax: 64 * KIB,
  agentFetchMsMax: 3000,
  /** Directories fetched at once; how often each is; after a failure the first retry and, doubling, the last; how often what is due is looked for. */
  agentFetchesAtOnce: 4,
  agentFetchEveryMs: HOUR_MS,
  agentRetryMs: MINUTE_MS,
  agentLookEveryMs: 10_000,
  /** On a cluster: how long the node that fetches may say nothing before another one does. */
  agentLeaseMs: MINUTE_MS,
  /** Characters kept of `Signature`, `Signature-Input` and `Signature-Agent`, all lines together. */
  signatureFieldMax: 4096,
  /** Header lines of a judged request that count, the first ones; browsers send some 20. */
  requestHeadersMax: 100,
  /** How long a verdict waits for the host name of a visitor who claims to be a crawler. */
  requestDnsMs: 100,
  /** Signatures of a request that are looked at: an agent's and that of a browser it rents are two. With more the request is not verified. */
  signaturesMax: 4,
  /** Components one signature may cover: a browser's whole header set is 20. */
  signedComponentsMax: 64,
  /** How far the clock of a signer may be ahead; how long a signature may be valid. */
  signatureSkewMs: MINUTE_MS,
  signatureAgeMsMax: DAY_MS,
  /** Signatures being verified at once, per HTTP thread: 40 ms of four cores. More are not waited for. */
  signatureChecksMax: 1000,
  /** Results of verification that a thread remembers: about 2 MB. */
  signatureResultsMax: 10_000,
  /** Within what time the same nonce from the same address for the same path is the same request, asked about twice. */
  nonceRepeatMs: 10_000,
  /** Nonces that a process remembers (10 MiB when full), in sets of as many. */
  noncesMax: 1 << 18,
  nonceSetSize: 8,

  /** Faults that an integrity check lists; beyond them it only counts. A wrecked store has as many as rows. */
  integrityFaultsMax: 1000,
  /** Ranges in `--trusted-proxies`: a large CDN lists about 50. */
  trustedProxiesMax: 1000,
  /** Names of one PTR answer that are looked at: a crawler has one, more is somebody wasting our time. */
  reverseNamesMax: 4,
} as const;
