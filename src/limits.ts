/** Every bound of verdictd in one table: what it bounds, in which unit, and why it is as large. Values only: nothing here reads configuration or the clock. */

const KIB = 1024;
const MIB = 1024 * KIB;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Characters kept of a header or context value that a session or a verdict remembers. The client needs this bound, and none of the table. */
export const contextValueMax = 512;

/** What operators may choose is in `config.ts`; here is what they may not. */
export const limits = {
  // Requests and answers

  /** Bytes of an ingest body: a full batch of 100 events with long pointer paths is about 200 KiB. */
  ingestBodyBytesMax: 256 * KIB,
  /** Bytes of a request's line and headers, over which it is answered 431: browsers keep at most 4 KiB a cookie. */
  headerBytesMax: 16 * KIB,
  /** Bytes of any other body: a rule of 2000 characters escaped to the full is 12 KiB. */
  controlBodyBytesMax: 64 * KIB,
  /** Bytes of bodies that come to an HTTP thread in pieces, with a valid key or token: beyond them the one longest on its way is given up. */
  bodiesBytesMax: 64 * MIB,
  /** Bytes of the same from anybody: less, so that strangers can't fill the room of those who have a key. */
  anonymousBodiesBytesMax: 16 * MIB,
  /** Bytes of answers (files, which all share, not counted) that clients of an HTTP thread are slow to read: beyond them the oldest is cut off. */
  unreadAnswersBytesMax: 32 * MIB,
  /** Answers without a body (204, 304, HEAD) that a connection gets on average before it is closed: a client can leave 400 bytes of each unread. */
  bodilessAnswersOfConnection: 512,
  /** Such answers of an HTTP thread before they are counted: some 400 KB. */
  bodilessAnswersFree: 1000,
  /** Connections of an HTTP thread: each may hold as much as `headerBytesMax` for ten seconds. */
  connectionsMax: 16_384,
  /** Sockets looked at at once. With fewer open, more requests than that in a tick of the event loop were pipelined. */
  socketsPerTick: 1024,
  /** Requests beyond that which one address gets answered in a tick, some 0.1 s. More wait for the next, and cost pipelining connections the connection. */
  requestsPerTickMax: 3072,
  /** Verdicts of a tick that are answered at once; the others are at its end. */
  answersAtOnce: 4,
  /** Ticks with more of them, one after the other and none with pipelined requests, after which answers wait for a tick's end: some 0.2 s at full speed. */
  plainTicksMin: 200,
  /** Connections to the admin address: an answer is up to 100 KB. */
  adminConnectionsMax: 64,
  /** Requests of a connection to the admin address: so that none is held for ever. */
  adminRequestsOfConnection: 16,
  /** ms that the admin address waits for a client that does not read: longer than a scrape takes. */
  adminSilenceMs: 10_000,
  /** ms that the header of a request to the admin address may take, and ms between two looks at that: tools send it at once. */
  adminHeaderMs: 5000,
  adminLookMs: 1000,
  /** ms after which an admin address that is taken is tried again: the process before this one may still hold it. */
  adminRetryMs: 1000,
  /** Rows of a page of a log, at least: a page of none would never end. */
  pageMin: 1,
  /** Rows of a page of a log, at most: some tens of KB. */
  pageMax: 100,
  /** Rows of a page of a log, when none is asked for: what a person looks through. */
  pageDefault: 50,

  // Batches of events

  /** Events of a batch: the contract's bound. */
  batchEventsMax: 100,
  /** Rows of `points` or `strokes` in an event: the contract's bound, some seconds of a mouse. */
  rowsMax: 256,
  /** Characters of `packed_points`: 512 rows have 1,800 where a hand has moved. */
  packedPointsMax: 8192,
  /** Characters of a string in a payload: the contract's bound. */
  payloadStringMax: 512,
  /** Members of an array of scalars in a payload: the contract's bound. */
  payloadArrayMax: 64,
  /** Characters of an `Idempotency-Key`: the contract's bound. */
  idempotencyKeyMax: 255,
  /** ms for which an `Idempotency-Key` resolves to the session it minted: the contract's 24 hours. */
  idempotencyKeptMs: DAY_MS,
  /** ms by which a client's clock may be wrong; beyond it `received_at` is clamped: a wrong zone is within it. */
  clockSkewMs: DAY_MS,
  /** Request ids remembered in the session record itself before they spill into its `repeats` rows: most sessions have fewer. */
  seenIdsInlineMax: 128,
  /** Request ids of one spilled generation; two generations are kept, so at least this many are remembered: more than any retry brings. */
  seenIdsGenerationMax: 2048,
  /** Characters: see above. */
  contextValueMax,
  /** Characters of all texts that one memory of what visitors write holds: 4 MiB at most, some 10,000 user agents. */
  textMemoCharactersMax: 2 * MIB,
  /** A session whose last report is older than this, ms, is waited for until it reports: the contract's 2 s. After a fresher one, see the next row. */
  reportFreshMs: 2000,
  /** ms for which a report may come behind the question about its form's POST: a browser sends both at once, and the POST was seen to be 6 ms earlier. */
  reportBehindMs: 25,
  /** ms between two looks at a session that a verdict waits for: a read of microseconds on one host, a round trip on a cluster. */
  reportPollMs: 15,
  reportPollRemoteMs: 40,
  /** ms after a question that may wait in which reports under way are counted: where nobody asks so, a report costs one look at a word more. */
  reportWaitsAwaitedMs: HOUR_MS,
  /** Verdicts of a thread that wait for reports at once: their looks cost at most a tenth of a core. */
  reportWaitsMax: 500,
  /** The most that a verdict may wait, ms: the contract's. */
  reportWaitMsMax: 1000,
  /** ms for which a token that was handed out before the first report waits for it: as long as the cookie lives. */
  issuedTokenMs: DAY_MS,
  /** ms for which a start ticket holds: it comes back within seconds, unless the network is gone. */
  startTicketMs: 10 * MINUTE_MS,

  // Scoring

  /** Batches of one scoring task: with its bytes it bounds how long one write transaction holds the store. */
  taskBatchesMax: 256,
  /** Bytes of one scoring task: as above. */
  taskBytesMax: 4 * MIB,
  /** Batches of a task that are read, folded and saved before the next: a core's caches hold as many (some 20 KB each). */
  batchesAtOnce: 8,
  /** Tasks that a scoring thread is handed at once: one runs while the next is on its way. */
  tasksInFlightPerThread: 2,
  /** Batches that a task needs to be handed out before a thread is free: it grows while it waits, and a commit costs the same for more. */
  taskBatchesAhead: 128,
  /** Steps of priority that a scoring thread is below those that answer (Linux): it then gets a third of their share of a full core. */
  scoringNiceness: 5,
  /** MiB of a scoring thread's heap: a task of 4 MiB of JSON takes a tenth of it. A thread that needs more is replaced. */
  scoringHeapMibMax: 256,
  /** MiB for new objects of a thread that writes to a cluster: a group lives there until it is written; in Node's 48 MiB it was copied twice. */
  clusterYoungHeapMib: 160,
  /** ms within which scoring threads must start: measured as 0.3 s on an idle machine. */
  workersUpMs: 60_000,
  /** ms between two looks at scoring: 256 batches take 25 to 100 ms. */
  watchEveryMs: 1000,
  /** Looks after which a task or a transaction counts as hanging: ten seconds, a hundred times what it takes. */
  watchTicksMax: 10,

  // Pointer paths, against which replays are found

  /** Slots of a project's path-reuse index: 2 MiB of a busy project. */
  shingleSlotsMax: 1 << 18,
  /** Hashes of a share of that index, the unit in which room is granted: few rows of counts. */
  pathShareHashes: 128,
  /** Shares that a session may take: a 32nd of the index, some ten minutes of moves. */
  pathSharesPerSession: 64,
  /** Shares that an address may take in this hour and the one before: an eighth of the index. */
  pathSharesPerAddress: 256,
  /** Shingles that the index's log holds before they are folded into buckets: two or three milliseconds of a transaction. */
  replayLogMax: 32_768,
  /** Rows of that log: as above, for groups that bring few shingles each. */
  replayLogRowsMax: 2048,
  /** Bytes of these indexes that a scoring thread keeps: about 30 busy projects with full ones. */
  pathReuseHeldBytesMax: 64 * MIB,
  /** Projects whose index a scoring thread keeps: looking through more costs more than reading one again. */
  replayProjectsMax: 128,

  // Rules

  /** Characters of a rule's expression: the contract's bound. */
  ruleSourceMax: 2000,
  /** Levels of parentheses and NOT: the contract's bound; parsing and evaluating recurse. */
  ruleDepthMax: 32,
  /** Comparisons, connectives and NOTs of a rule: the contract's bound. */
  ruleNodesMax: 128,
  /** Members of a set: the contract's bound. */
  ruleSetMax: 256,
  /** Rules of a project: the contract's bound; all may be evaluated for each verdict. */
  rulesPerProjectMax: 1000,
  /** Exceptions of a project: each verdict looks its visitor up in them, and a change reads them all. */
  exceptionsPerProjectMax: 1000,
  /** Latest sessions and blocks in which the latest request of an address is looked for: some 50 ms, in slices. */
  exceptionLookBack: 5000,
  /** Rules read before the clock is looked at: about a millisecond. */
  rulesReadAtOnce: 100,
  /** Steps (some ns each) of a project's rules for one verdict, beyond which rules don't match: 1,000 costly rules take a third of it. */
  ruleStepsMax: 1_000_000,
  /** ms between two log lines on a project whose rules are over it: every verdict of it is one. */
  ruleBudgetWarnMs: MINUTE_MS,
  /** Characters of rules whose compiled form a thread keeps: two projects with all the rules that they may have. */
  compiledSourceCharactersMax: 4 * MIB,
  /** Projects whose compiled rules a thread keeps: some KB each. */
  compiledProjectsMax: 10_000,

  // Verdicts, logins and challenges

  /** ms of the logged-in window after an assertion: the contract's 24 hours. */
  loggedInMs: DAY_MS,
  /** ms between two log lines of forward-auth that it lets visitors in unseen: every request of a site with a wrong key is one. */
  forwardAuthWarnMs: MINUTE_MS,
  /** ms within which a challenge can be solved: a slow phone takes one minute. */
  challengeMs: 10 * MINUTE_MS,
  /** ms that a pass waits for what the session has reported to be scored. */
  challengeReportMs: 2000,
  /** ms after a refused pass before the session may try again. */
  challengeRefusedMs: 30_000,
  /** Bytes of a body that asks for a challenge or brings a solution: a solution has one. */
  challengeBodyBytesMax: 8 * KIB,
  /** Challenges that a thread makes at once: each is 4 ms of another thread. */
  challengesMadeAtOnceMax: 64,
  /** Header lines of a judged request that count, the first ones: browsers send some 20. */
  requestHeadersMax: 100,
  /** Texts of header lines that an HTTP thread knows again, a power of two, and bytes of one of them: 4 MB, and as much for what they are read into. */
  knownHeaders: 1024,
  knownHeadersBytesMax: 4 * KIB,
  /** ms that a verdict waits for the host name of a visitor who claims to be a crawler: a page should not wait for longer. */
  requestDnsMs: 100,

  // Keys, tokens and names

  /** Credentials memoised by a thread: wrong ones are memoised too, and those that nobody repeats go first. */
  credentialMemoMax: 10_000,
  /** Wrong account tokens of an address in a window that are answered at once: mistakes of a person. */
  failedAuthsFree: 10,
  /** ms of that window: a mistake is forgiven soon. */
  failedAuthWindowMs: MINUTE_MS,
  /** ms that each further one waits: two guesses a second are hopeless. */
  failedAuthDelayMs: 500,
  /** Addresses whose wrong tokens are counted: about a MB. */
  failedAuthAddressesMax: 10_000,
  /** Answers held at once: guessing from everywhere costs no more than this many connections. */
  failedAuthsHeldMax: 1000,
  /** Account tokens of an account that the API makes: the list of members counts them all. */
  tokensPerAccountMax: 1000,
  /** Projects of an account that the API makes: a list shows all at once. */
  projectsPerAccountMax: 1000,
  /** Members of an account: a list shows all at once. */
  membersPerAccountMax: 500,
  /** Characters of an account's, user's, project's or rule's name: the contract's bound for a rule's. */
  nameMax: 255,
  /** Characters of an account token's name: what it is for, in a few words. */
  tokenNameMax: 100,
  /** ms to which the last use of an account token is known: a write a minute at most. */
  tokenUseMs: MINUTE_MS,
  /** ms of the same in a cluster, where each is a change of the configuration. */
  tokenUseClusterMs: HOUR_MS,
  /** Hours that a rotated key may go on working: a month, the slowest of roll-outs. */
  keyOverlapHoursMax: 720,
  /** Rotated keys of a project that still work, by kind: each is looked up. */
  oldKeysMax: 4,

  // Recorded counts and blocks

  /** ms between two writes of counts of verdict answers: what a crash may lose of them. */
  trafficFlushMs: 1000,
  /** Values of a dimension, subject, band and action that a thread counts at least, of four times as many at most: a count misses 1/500 of all at most. */
  trafficSlots: 500,
  /** The same where memory is short: 1/100. */
  trafficSlotsLeast: 100,
  /** Values of a dimension that a thread stores of an hour: those left out are below 1/400 of all. */
  trafficValuesStored: 400,
  /** Values that it stores in addition of each subject, band and action: those left out are below 1/150 of these. */
  trafficStratumValues: 150,
  /** Values of a dimension and hour that are told. */
  trafficValuesMax: 200,
  /** Values that a thread holds of all projects: about 30 MB. */
  trafficValuesHeldMax: 200_000,
  /**
   * Allowed verdicts of a project, subject, band and hour that a thread counts one by one; from then on one of 2 is counted, of twice as many one of 4, and so
   * on up to the second number: more would let one request weigh as many as make an incident (`countMin`). The error is at most 0.7 % of the count of all.
   */
  trafficCountedMax: 60_000,
  trafficEveryMax: 8,
  /** Verdicts between two looks at how many values a thread holds: at most so many more by then, times 12. */
  trafficLookEvery: 2000,
  /** ms that a computed verdict waits to be counted by value with those that follow, and how many wait at most: fewer find caches that others have emptied each time. */
  judgedWaitMs: 20,
  judgedWaitingMax: 200,
  /** Operators of crawlers that are counted of a project and hour, and paths of each: the five most frequent are told. */
  crawlerOperatorsMax: 500,
  crawlerPathSlots: 50,
  /** Hours of projects that a thread holds where they can't be stored. */
  judgedHoursHeldMax: 2000,
  /** Samples of requests that a thread holds of all projects: about 12 MB. */
  requestSamplesHeldMax: 20_000,
  /** Bytes of a row of what was judged before it is compressed: 2,000 samples with all texts at their longest. */
  judgedRowBytesMax: 8 << 20,
  /** Hours of counts that are read at once. */
  judgedHoursChunk: 24,
  /** Days that a request for counts by value, or for samples, may span. */
  trafficDaysMax: 92,
  /** Values of a traffic answer unless told otherwise, rows of samples at most, paths of a crawler. */
  trafficValuesDefault: 50,
  requestSamplesPageMax: 500,
  crawlerPathsShown: 5,
  /** Share of a thread's time that goes into storing what was judged: above it, it waits longer between two writes, for as long as an operator may wait to see what happens now. */
  judgedWriteShare: 0.01,
  judgedFlushMaxMs: 10_000,
  /** User agents of which a thread remembers whom they name: 1 MB. */
  declaredBotsKnown: 2000,
  /** Paths, user agents and addresses whose facts a thread remembers for counting: 10 MB at most. */
  trafficMemoMax: 10_000,
  /** Characters of a user agent's family: a text without a product would count as a whole. */
  trafficFamilyCharactersMax: 64,
  /** ms between two writes of recorded blocks: a page of blocks is as fresh. */
  blocksFlushMs: 100,
  /** ms between two writes of blocks that only raise a count: below the 10 s in which it must be seen. */
  blockCountsMs: 2000,
  /** Blocks of a session and rule in a minute that are records: further ones raise the last one's count. */
  blocksOfSessionMinuteMax: 20,
  /** Challenges of a project that a thread records in a minute, to be found by their reference: a flood of them pushes no blocks out for a day. */
  challengesRecordedMinuteMax: 30,
  /** Blocks that wait to be stored: about 10 MB; further ones are counted and dropped. */
  blocksWaitingMax: 50_000,
  /** Subjects and rules whose blocks wait: about 10 MB, as above. */
  blockTalliesMax: 50_000,
  /** Blocks stored in one transaction, some 10 us each: between two the thread serves others. */
  blocksAtOnce: 250,
  /** References kept of a recorded block, the latest: enough to find it by an answer that somebody reports. */
  blockReferencesMax: 16,
  /** Subjects whose further references find their block: as long as its verdict is cached. */
  blockSubjectsMax: 10_000,
  /** Recorded blocks of a project, the latest: about 50 MB, at most 200 MB. */
  blocksPerProjectMax: 100_000,
  /** The latest entries of a log of changes, among which a change looks for the one that it repeats: some 100 us. */
  auditRepeatsLookedAt: 50,
  /** Share of these that one address (IPv6 /64) may record in a day: nobody pushes out what all others did. */
  blocksOfNetworkShare: 1 / 4,
  /** Networks whose records of the day a thread counts: some MB. */
  blockNetworksMax: 50_000,
  /** Changes of each of an account's four logs (people and tokens, keys, settings, the rest) that are kept: about 5 MB. */
  auditEntriesMax: 10_000,
  /** Entries that such a log may have more than that: looking for those that go costs some 50 ms, in portions. */
  auditEntriesOver: 250,
  /** Marked sessions of a project: some 2 MB, and few enough to be sorted for each page. */
  marksPerProjectMax: 5000,

  // Timelines

  /** Bodies that a thread copies for timelines between two flushes, twice as many under load: 40 us of work each, off the ingest path. */
  timelineBatchesPerFlush: 25,
  /** Bytes of the largest body that is copied: larger ones are rare. */
  timelineBodyBytesMax: 32 * KIB,
  /** Of so many sessions at least one is followed, however many there are. */
  timelineShareMax: 4096,
  /** Points kept of a session: a picture of its path, in about half a KiB. */
  timelinePointsMax: 96,
  /** Entries kept of a session: as above. */
  timelineEntriesMax: 48,
  /** Characters kept of an entry's path: what fits a line. */
  timelinePathMax: 64,
  /** px between the lines of the grid on which points lie: finer ones are not seen in the picture. */
  timelineGridPx: 4,
  /** px of the largest coordinate: larger than any window. */
  timelinePxMax: 16_384,
  /** ms that events of a batch may be apart: a batch is sent every few seconds. */
  timelineBatchMsMax: MINUTE_MS,

  // Work on behalf of one request: searches, backtests, statistics, deletions

  /** ms that such work keeps a thread before others have their turn; with what lies between two looks at the clock 10 ms. */
  workSliceMs: 5,
  /** Lists of an account read at once by a thread; further ones wait for them: who asks for many delays only the own ones. */
  accountReadsMax: 2,
  /** Keys of sessions read before the clock is looked at: about 5 us each. */
  sessionKeysRead: 500,
  /** Hours of `stats` read before the clock is looked at: one to two ms. */
  statsHoursChunk: 240,
  /** Buckets of a `stats` answer: a month of hours, two years of days; 200 KiB. */
  statsBucketsMax: 750,
  /** Stored sessions that `rules/test` evaluates when it does not say: 10 to 25 us of CPU each, with the costliest rule some 300. */
  ruleTestSessionsDefault: 1000,
  /** Sessions looked up before their rest is sorted out: fewer would read a busy second, which is read whole, again and again. */
  ruleTestLookup: 1000,
  /** Sessions taken from each slice of the time that `rules/test` samples: neighbours are alike. */
  ruleTestSliceSessions: 10,
  /** Tokens of matched sessions that `rules/test` shows: a person opens a few. */
  ruleTestSampleMax: 10,
  /** Stored sessions that `sessions/query` scans, of a time that has more an even sample: 15 to 30 us of CPU each. */
  sessionQueryMax: 20_000,
  /** Rules that each of them is asked where it groups by action or rule: with more rules it scans as many sessions fewer. */
  sessionQueryRules: 100,
  /** Values of each dimension that `sessions/query` shows when it is not said: what a card holds. */
  sessionQueryTopDefault: 10,
  /** Bars of the chart of `sessions/query`: what a screen shows apart. */
  sessionQueryBarsMax: 100,
  /** Days that `sessions/query` goes back: more than sessions are kept by default. */
  sessionQueryDaysMax: 400,
  /** Sessions that one call of `sessions/delete` deletes: a call takes seconds, and another goes on. */
  sessionDeletionMax: 5000,
  /** Sessions deleted in one transaction, during which no batch is stored: about 5 ms. */
  sessionDeletionGroup: 100,

  // Verified and declared bots, lists of addresses, networks

  /** Bytes of a file that a command reads: the longest list of addresses has some 15 MB. */
  importBytesMax: 64 * MIB,
  /** Entries of a verified-bot catalogue: the shipped one has 2,822; 50,000 still index in well under a second. */
  verifiedBotEntriesMax: 50_000,
  /** Characters of the `version` of a catalogue, of whichever bots: a date or a hash. */
  catalogueVersionMax: 64,
  /** Bits of the shortest IPv4 prefix of a catalogue: who is inside is allowed unseen; the widest crawler network published is a /16. */
  verifiedBotPrefixMinV4: 12,
  /** Bits of the same of IPv6, where the widest is a /32. */
  verifiedBotPrefixMinV6: 28,
  /** How much all IPv4 ranges of a catalogue may cover together, as bits of a prefix: many narrow ranges could hold everybody all the same. */
  verifiedBotCoverMinV4: 8,
  /** The same of IPv6. */
  verifiedBotCoverMinV6: 24,
  /** Entries of a list of declared bots: the shipped one has 1,500. */
  declaredBotEntriesMax: 5000,
  /** Characters of a token at least: shorter ones stand in people's user agents. */
  declaredBotTokenMin: 3,
  /** Characters of a token at most: the longest that is shipped is far shorter. */
  declaredBotTokenMax: 128,
  /** Characters of all tokens of a list, each of which is a state of the search: the shipped one has 16,000. */
  declaredBotTokenCharactersMax: 60_000,
  /** Entries of a list of agents' marks: each is looked for in every page. */
  agentMarkEntriesMax: 200,
  /** Marks that were taken out of the list and still name the sessions that they named: two whole lists. */
  agentMarksRetiredMax: 400,
  /** Characters of a mark at least, without its final `*`: shorter ones are in pages that no agent works in. */
  agentMarkValueMin: 4,
  /** Characters of a mark at most: the longest that is shipped is half as long. */
  agentMarkValueMax: 80,
  /** Characters of a mark's source: an address, a file in it, a date. */
  agentMarkSourceMax: 300,
  /** Bytes of all marks as browsers get them, gzipped. */
  agentMarkGzipBytesMax: 4096,
  /** Marks that a session keeps, the first ones: one is enough for a name. */
  agentMarksKept: 4,
  /** Lists of addresses of the operator's own: each costs a look-up 0.1 us. */
  ipListsMax: 100,
  /** Bytes of a list's file: 200,000 ranges with comments. */
  ipListFileBytesMax: 32 * MIB,
  /** Entries of a list: some MiB in each HTTP thread. */
  ipListEntriesMax: 200_000,
  /** Characters of a list's name: it stands in rules. */
  ipListNameMax: 64,
  /** Files of `--ip-database`: country, network and city, of both families, and some to spare. */
  ipDatabasesMax: 8,
  /** Bytes of such a file: one of cities has 120 MiB. */
  ipDatabaseBytesMax: 1024 * MIB,
  /** Bytes that a record of such a file takes with all that it names: one of a city in eight languages has 3 KiB. */
  mmdbRecordBytesMax: 64 * KIB,
  /** ms that reading all of them may take: a minute each for the largest on a slow disk. */
  ipDatabaseLoadMsMax: 120_000,
  /** Characters of the name of an autonomous system: longer ones are cut. */
  asNameMax: 255,
  /** Characters of a hostname, so of a suffix too: RFC 1035. */
  hostnameMax: 253,
  /** Names of a PTR answer that are looked at: a crawler has one, more is somebody wasting our time. */
  reverseNamesMax: 4,
  /** Ranges in `--trusted-proxies`: a large CDN lists about 50. */
  trustedProxiesMax: 1000,

  // Signed agents

  /** Agents of the allow-list: each is asked for its keys every hour. */
  signedAgentsMax: 1000,
  /** Characters of an agent's address: a URL of a host. */
  agentUrlMax: 512,
  /** Keys of an agent: those in use and some that are being rotated. */
  agentKeysMax: 20,
  /** Characters of a member of a key: an RSA modulus of 4096 bits has 683. */
  agentKeyMemberMax: 1024,
  /** Bits of an RSA key at least: shorter ones can be broken. */
  agentRsaBitsMin: 2048,
  /** Bits of an RSA key at most: longer ones cost more than a millisecond to verify. */
  agentRsaBitsMax: 4096,
  /** Bytes of a key directory, and of a file of keys or agents: 20 RSA keys are 16 KiB. */
  agentDirectoryBytesMax: 64 * KIB,
  /** ms that a fetch may take, from look-up to last byte: a directory is one small file. */
  agentFetchMsMax: 3000,
  /** Directories fetched at once: a server fetches beside its work. */
  agentFetchesAtOnce: 4,
  /** ms between two fetches of a directory: how soon a rotated key is known. */
  agentFetchEveryMs: HOUR_MS,
  /** ms after a failure until the first retry, and, doubling, up to the hour. */
  agentRetryMs: MINUTE_MS,
  /** ms between two looks for what is due: a look is cheap. */
  agentLookEveryMs: 10_000,
  /** ms that the node of a cluster that fetches may say nothing before another one does. */
  agentLeaseMs: MINUTE_MS,
  /** Characters kept of `Signature`, `Signature-Input` and `Signature-Agent`, all lines together: two signatures have a quarter. */
  signatureFieldMax: 4096,
  /** Sessions of the last day whose hosts are counted where a project has no such list: an even sample shows what a tenth of them reported. */
  projectHostsSessions: 1000,
  /** ms after which they are counted again: 5 to 10 ms of work. */
  projectHostsMs: 10 * MINUTE_MS,
  /** Characters of a signed request's target, which is parsed where a signature covers its query: servers take 8 KiB of a request line. */
  signedTargetMax: 8192,
  /** Signatures of a request that are looked at: an agent's and that of a browser it rents are two. With more the request is not verified. */
  signaturesMax: 4,
  /** Components of a signature that are worked on: a browser's whole header set is 20. One that covers more is unverified. */
  signedComponentsMax: 64,
  /** ms by which the clock of a signer may be ahead: clocks of servers are kept. */
  signatureSkewMs: MINUTE_MS,
  /** ms for which a signature may be valid: one that holds for longer is as good as a password. */
  signatureAgeMsMax: DAY_MS,
  /** Signatures being verified at once by an HTTP thread: 40 ms of four cores. More are not waited for. */
  signatureChecksMax: 1000,
  /** Results of verification that a thread remembers: about 2 MB. */
  signatureResultsMax: 10_000,
  /** ms within which the same nonce from the same address for the same path is the same request, asked about twice. */
  nonceRepeatMs: 10_000,
  /** Nonces that a process remembers: 10 MiB when full. */
  noncesMax: 1 << 18,
  /** Nonces of a set, among which one is looked for: a line or two of a cache. */
  nonceSetSize: 8,

  // The store of one host

  /** Bytes of the disk that batches leave free, so that keys, rules, erasure and the sweep go on: a hundred of the largest transactions. */
  diskReserveBytes: 64 * MIB,
  /** ms between two looks at the disk: it fills by a few MiB in that time. */
  diskLookMs: 100,
  /** Rows that one transaction of the sweep removes: it holds the store for a few milliseconds. */
  sweepRowsMax: 500,
  /** ms between two sweeps of what has outlived its retention: retention is in days. */
  sweepEveryMs: 10 * MINUTE_MS,
  /** Faults that an integrity check lists, beyond which it only counts: a wrecked store has as many as rows. */
  integrityFaultsMax: 1000,

  // Connections to a cluster

  /** ms until a connection can be used: far longer than a round trip and TLS. */
  clusterConnectMs: 2000,
  /** ms that a node may owe an answer before the connection to it is given up: about as long as a failover takes. */
  clusterSilenceMs: 3000,
  /** ms that a command waits for the cluster before it says so: a person wonders. */
  clusterSilentMs: 2000,
  /** ms between two looks of a start at a cluster that does not answer: a start then is as late at most. */
  clusterLookMs: 1000,
  /** ms between two looks of a running node at its cluster: its metrics and its readiness are as old at most, and a look costs an engine under 1 ms. */
  clusterWatchMs: 5000,
  /** ms that an engine has to take a connection before it counts as out of this node's reach. */
  clusterReachMs: 1500,
  /** ms that a cluster that was waited for may lack replicas, or anything else, once it answers again: masters come back before replicas do. */
  clusterComingMs: 60_000,
  /** ms without an answer after which a master is asked no more but by what waits longer: longer than a failover takes. */
  clusterGiveUpMs: 5000,
  /** ms between two probes of such a master: it is used again as soon. */
  clusterProbeMs: 250,
  /** Commands that wait on one connection: some seconds of a full node's work. */
  clusterPendingCommandsMax: 50_000,
  /** Bytes of commands that wait on one connection: as above. */
  clusterPendingBytesMax: 64 * MIB,
  /** ms by which clocks of nodes may be off this machine's: what expires does so by theirs. */
  clusterClockOffMsMax: 5000,
  /** ms between two log lines that the cluster can't be used: an outage is a line a minute. */
  outageSaidEveryMs: 60_000,
  /** ms without a failure after which the log says that the cluster can be used again: failures come in bursts. */
  outageOverMs: 5000,

  // Sessions on a cluster

  /** ms that a group's reads and writes may take before its batches are refused and sent again: longer than a slow tick of a master. */
  clusterWriteMs: 2000,
  /** ms that a group's batches wait for a shard that only some of them, or only their counts, need: others should not wait for it. */
  clusterImpatientMs: 250,
  /** ms that a master which keeps writes waiting has for any other answer: many round trips, and some less than half of the above. */
  clusterSignMs: 60,
  /** ms that a master waits for its replicas before batches are refused: some round trips. */
  clusterAckMs: 500,
  /** Times that a group is done again because others wrote its sessions: two nodes seldom have the same visitor at once. */
  clusterConflictRounds: 5,
  /** ms between two reads of the paths of other nodes: how soon a replay on another node is found. */
  clusterPathsRefreshMs: 500,
  /** ms after which a project without batches makes room for paths of others: loading it again, 4 MiB at most, is then rare. */
  clusterPathsIdleMs: 60_000,
  /** ms that a thread's own counts and paths wait for those of the next groups: they are then written together. */
  clusterCountsMs: 50,
  /** ms for which an HTTP thread holds a session that it read from the cluster: verdicts of one page ask once. */
  clusterRowMs: 1000,
  /** Sessions that it holds: those of a busy second. */
  clusterHeldRowsMax: 50_000,
  /** Bytes of the sessions that it holds: as above. */
  clusterHeldBytesMax: 64 * MIB,
  /** ms for which a command that reads or writes a whole cluster tries a piece again: while a node is replaced. */
  clusterPatienceMs: 60_000,
  /** Sessions of such a piece: about half a megabyte. */
  clusterPieceRows: 256,
  /** Bytes of a piece of other rows, of which some are far larger; a row that is larger by itself is a piece: written in a fraction of `clusterWriteMs`. */
  clusterPieceBytes: 512 * KIB,
  /** Keys of a page of `SCAN`: a few milliseconds of its master. */
  clusterScanKeys: 1000,
  /** ms for which `store migrate` tries a piece: a little longer than an election that is held twice. Run again, it goes on where it ended. */
  clusterMigrationPatienceMs: 15_000,

  // Configuration on a cluster

  /** ms that a node may go on without having heard of changes: how long a change has to wait for a node that is gone. */
  configLeaseMs: 2000,
  /** ms between two times that a node says that it is there: several in a lease. */
  configBeatMs: 500,
  /** ms that others wait beyond the lease for a node that fell silent: timers are late by as much. */
  configLeaseSlackMs: 250,
  /** ms that a change may take in all: a failover may lie in between. */
  configChangeMs: 12_000,
  /** ms that a master waits for replicas to have a change: some round trips. */
  configAckMs: 500,
  /** Times that a change is run again since another came first: more are a fault. */
  configRoundsMax: 20,
  /** Changes that the cluster keeps for nodes to follow: behind the first of them a node reads all. */
  configLogMax: 256,
  /** Bytes of a change that is kept: after a larger one nodes read all. */
  configLogBytesMax: 64 * KIB,
  /** Rows of a change that is kept: as above. */
  configLogRowsMax: 1000,
  /** ms that a node may take to read the whole configuration: the largest at 18 Mbit/s. */
  configReadMs: 30_000,
  /** ms over which nodes spread their reads of the largest whole configuration, less of a smaller one: ten nodes then need 1.8 Gbit/s of its master. */
  configSpreadMs: 3000,
  /** Bytes of the whole configuration of a cluster: read in one step, during which its master does nothing else. */
  configBytesMax: 64 * MIB,

  // The process: metrics, logs, `tail`, stopping

  /** Characters of an error's message or stack in the log: a line stays below what a pipe takes at once. */
  logTextMax: 1500,
  /** ms between two times that a thread shows the state that metrics read (event loop, DNS): scrapes are seconds apart. */
  stateShownEveryMs: 500,
  /** Who may follow a thread's verdicts at once: each costs every verdict its filter. */
  followersMax: 16,
  /** Characters of what a follower sends to begin with: a rule's expression. */
  followFilterMax: 4 * KIB,
  /** Bytes of verdicts that wait for a follower who reads slowly, before further ones are left out: some thousand. */
  followBytesMax: MIB,
  /** ms between two looks of a follower for servers that have just started: a restart loses as little. */
  followLookMs: 500,
  /** ms of age from which a socket where nobody answers is one that a killed process left behind: a start takes less. */
  socketLeftBehindMs: MINUTE_MS,
  /** ms that open connections of a stopping server may still bring requests, each answered with `Connection: close`. */
  stopQuietMs: 1000,
  /** ms that a stopping server waits for requests: a body that never ends must not keep it. */
  stopRequestsMsMax: 10_000,
  /** ms after which a stopping process ends as it is: acknowledged batches survive that as they survive a crash. */
  stopMsMax: 15_000,
  /** ms from closing a listener until answers close their connections: the time in which all threads close theirs. */
  stopListenersMs: 100,
  /** ms between two looks of a stopping server whether all is answered: a stop is as late at most. */
  stopLookMs: 20,

  // Incidents, alerts and the event log

  /** Values and pairs of values that the detector of incidents follows for a project: some 3 MB. */
  incidentValuesMax: 10_000,
  /** Requests of a project and minute that are kept whole for the detector, at random: an attack's share of them says which values it has. */
  incidentSamplesOfMinute: 1000,
  /** Requests a second of an HTTP thread that the detector is told of one by one; above, each stands for several. */
  incidentFactsOfSecond: 200,
  /** Values whose count of an hour is kept as a baseline. */
  incidentHourValuesMax: 2000,
  /** Candidates of a minute and project that are compared with each other. */
  incidentCandidatesMax: 200,
  /** Incidents of a project that are kept; the oldest that ended go first. */
  incidentsKept: 500,
  /** Open incidents of a project: beyond that an operator is not helped by more. */
  incidentsOpenMax: 20,
  /** Reports of the next minute that wait until the detector has ended the present one, some seconds of them. */
  incidentEarlyMax: 20_000,
  /** Alerts of a project, each asked every minute, and compared with every judged request. */
  alertsPerProjectMax: 50,
  /** Channels of a project. */
  channelsPerProjectMax: 20,
  /** ms that a receiver has to answer. */
  alertSendMs: 5000,
  /** ms in which an alert fires once at most. */
  alertEveryMs: 10 * MINUTE_MS,
  /** ms from a failed try to the next one; after the last one a delivery has failed. */
  alertRetriesMs: [10_000, MINUTE_MS, 10 * MINUTE_MS, HOUR_MS],
  /** ms for which one sender has a delivery: longer than a try takes. A sender that dies leaves it to the next after that. */
  alertClaimMs: 30_000,
  /** ms between two looks for deliveries that are due. */
  alertLookMs: 1000,
  /** Deliveries that are sent at the same time: a receiver that hangs keeps no other waiting. */
  alertsAtOnce: 20,
  /** Deliveries of a channel that are kept. */
  deliveriesKept: 200,
  /** Times that a test of an alert tells at most. */
  alertTestTimesMax: 100,
  /** ms between two reports of an HTTP thread to the detector. */
  reportEveryMs: 1000,
  /** ms after its end at which a minute is looked at: all threads have told of it. */
  reportLateMs: 2500,
  /** ms after `reportLateMs` at which the reports of other nodes of a cluster are read. */
  nodeReportWaitMs: 3000,
  /** Requests of a minute that a node tells the others of; where there were more, each stands for several. */
  nodeReportRequestsMax: 2000,
  /** Bytes of another node's report: several times what such requests take. */
  nodeReportBytesMax: 16 * MIB,
  /** ms for which one node of a cluster stores incidents and fires alerts: until its next minute, and some seconds. */
  incidentLeaseMs: 90_000,
  /** Bytes of lines of an HTTP thread that wait for the event log's file; more are dropped. */
  eventLogBytesMax: 4 * MIB,
  /** Between tries to write an event log that could not be written; its lines meanwhile are dropped. */
  eventLogRetryMs: 1000,
} as const;
