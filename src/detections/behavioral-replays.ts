/** Family 3001, replays: paths that another session of the project has shown before. */
import { detection } from "./detection.js";

export const replayDetections = [
  detection({
    id: 300112,
    slug: "replayed-path",
    engine: "behavioral",
    state: "scoring",
    meaning: "The pointer path was recorded before: another session of the project showed the same steps.",
    strength: "strong",
    cause: "replay",
    reads: ["replayedShare", "shingles"],
    when: (e) => (e.shingles >= 24 ? e.replayedShare >= 0.2 : e.replayedShare > 0.5),
    source:
      "matching shingles of eight steps: 100 % of exact replays, at most 0.09 of the shingles of any of 2,500 human windows with 24",
    fires: { replayedShare: 0.95, shingles: 40 },
    staysQuiet: { replayedShare: 0.09, shingles: 40 },
  }),
  detection({
    id: 300129,
    slug: "replayed-turns",
    engine: "behavioral",
    state: "scoring",
    meaning:
      "The pointer path was recorded before: it turns where the path of another session of the project turned, at whatever pace.",
    strength: "strong",
    cause: "replay",
    reads: ["replayedTurnShare", "turnHashes"],
    when: (e) => e.replayedTurnShare >= 0.2 && e.replayedTurnShare * e.turnHashes >= 6,
    source:
      "12 s of moves, one a frame, at 0.7 to 1.5 times the time: 87 % and 95 % of two sources, whose steps match in 0 % and 49 %; of 5,574 human windows, drawings of the same letter among them, none has more than 3 matches",
    fires: { replayedTurnShare: 0.7, turnHashes: 60 },
    staysQuiet: { replayedTurnShare: 0.25, turnHashes: 8 },
  }),
  detection({
    id: 300139,
    slug: "turns-in-common",
    engine: "behavioral",
    state: "scoring",
    meaning: "In part, the pointer path turns where the path of another session of the project turned.",
    strength: "moderate",
    cause: "replay",
    reads: ["replayedTurnShare", "turnHashes"],
    when: (e) => e.replayedTurnShare >= 0.08 && e.replayedTurnShare * e.turnHashes >= 4.5,
    source:
      "recorded paths to which noise was added match in 5 to 20 %; of 5,574 human windows none has more than 3 matches, nor two in more than 5 % of 40",
    fires: { replayedTurnShare: 0.1, turnHashes: 80 },
    staysQuiet: { replayedTurnShare: 0.25, turnHashes: 12 },
  }),
  detection({
    id: 300141,
    slug: "redrawn-path",
    engine: "behavioral",
    state: "scoring",
    meaning:
      "The pointer path has the corners of one of another session of the project, be it moved, turned or scaled.",
    strength: "strong",
    cause: "replay",
    reads: ["cornerLead", "cornerLeadShare"],
    when: (e) => e.cornerLead >= 4 && e.cornerLeadShare >= 0.1,
    source:
      "four ways between corners: their turns and ratios of lengths; 65 % of recordings turned by up to 35° and scaled by 0.8 to 1.3, 60 % of those with noise; of 5,466 human windows none has more than 2 with any one other",
    fires: { cornerLead: 12, cornerLeadShare: 0.6 },
    staysQuiet: { cornerLead: 2, cornerLeadShare: 0.1 },
  }),
  detection({
    id: 300142,
    slug: "corners-in-common",
    engine: "behavioral",
    state: "scoring",
    meaning:
      "The pointer path has some corners of one of another session of the project, be it moved, turned or scaled.",
    strength: "moderate",
    cause: "replay",
    reads: ["cornerLead", "cornerLeadShare"],
    when: (e) => e.cornerLead >= 3 && e.cornerLeadShare >= 0.1,
    source: "as `redrawn-path`, one match beyond what chance gives",
    fires: { cornerLead: 3, cornerLeadShare: 0.3 },
    staysQuiet: { cornerLead: 2, cornerLeadShare: 0.5 },
  }),
  detection({
    id: 300132,
    slug: "path-played-back",
    engine: "behavioral",
    state: "retired",
    meaning: "The pointer path was recorded before, and the operating system delivers it as it delivers a hand's.",
    strength: "notable",
    cause: "replay",
    reads: ["replayedShare", "shingles", "mergedMoves"],
    when: (e) => e.mergedMoves && (e.shingles >= 24 ? e.replayedShare >= 0.2 : e.replayedShare > 0.5),
    source:
      "macro recorders; retired, since how moves were delivered is what a client says of itself: `replayed-path` and `replayed-turns` hold for all",
    fires: { replayedShare: 0.95, shingles: 40, mergedMoves: true },
    staysQuiet: { replayedShare: 0.95, shingles: 40, mergedMoves: false },
  }),
];
