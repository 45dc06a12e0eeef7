/** Family 3001, replays: paths that another session of the project has shown before. */
import { detection, retiredDetection } from "./detection.js";

/** About sessions, against what is remembered of other sessions of the same project. */
export const replayDetections = [
  detection({
    id: 300112,
    slug: "replayed-path",
    meaning: "The pointer path was recorded earlier: another session of the project showed the same steps.",
    strength: "strong",
    cause: "replay",
    reads: ["replayedShare", "shingles", "isDevicePath"],
    when: (e) => (e.shingles >= 24 ? e.replayedShare >= 0.2 : e.replayedShare > 0.5) && !e.isDevicePath,
    source:
      "matching shingles of eight steps: 100 % of exact replays, at most 0.09 of the shingles of any of 2,500 human windows with 24",
    fires: { replayedShare: 0.95, shingles: 40, isDevicePath: false },
    staysQuiet: { replayedShare: 0.09, shingles: 40, isDevicePath: false },
  }),
  detection({
    id: 300129,
    slug: "replayed-turns",
    meaning: "The pointer path was recorded earlier: it turns where another session's path turned, at any speed.",
    strength: "strong",
    cause: "replay",
    reads: ["replayedTurnShare", "turnHashes", "isDevicePath"],
    when: (e) => e.replayedTurnShare >= 0.2 && e.replayedTurnShare * e.turnHashes >= 6 && !e.isDevicePath,
    source:
      "12 s of moves, one a frame, at 0.7 to 1.5 times the time: 87 % and 95 % of two sources, whose steps match in 0 % and 49 %; of 5,574 human windows, drawings of the same letter among them, none has more than 3 matches",
    fires: { replayedTurnShare: 0.7, turnHashes: 60, isDevicePath: false },
    staysQuiet: { replayedTurnShare: 0.25, turnHashes: 8, isDevicePath: false },
  }),
  detection({
    id: 300139,
    slug: "turns-in-common",
    meaning: "Parts of the pointer path turn where another session's path turned.",
    strength: "moderate",
    cause: "replay",
    reads: ["replayedTurnShare", "turnHashes", "isDevicePath"],
    when: (e) => e.replayedTurnShare >= 0.08 && e.replayedTurnShare * e.turnHashes >= 4.5 && !e.isDevicePath,
    source:
      "recorded paths to which noise was added match in 5 to 20 %; of 5,574 human windows none has more than 3 matches, nor two in more than 5 % of 40",
    fires: { replayedTurnShare: 0.1, turnHashes: 80, isDevicePath: false },
    staysQuiet: { replayedTurnShare: 0.25, turnHashes: 12, isDevicePath: false },
  }),
  detection({
    id: 300144,
    slug: "steps-in-common",
    meaning: "Parts of the pointer path have the steps of another session's path.",
    strength: "moderate",
    cause: "replay",
    reads: ["replayedShare", "shingles", "isDevicePath"],
    when: (e) => e.replayedShare >= 0.1 && e.replayedShare * e.shingles >= 3.5 && !e.isDevicePath,
    source:
      "recorded paths in other time, thinned out by the browser in another way: from a tenth of the shingles on; of 5,466 human windows none has more than 2 matches, whichever source is left out",
    fires: { replayedShare: 0.12, shingles: 56, isDevicePath: false },
    staysQuiet: { replayedShare: 0.17, shingles: 12, isDevicePath: false },
  }),
  detection({
    id: 300141,
    slug: "redrawn-path",
    meaning: "The pointer path has the corners of another session's path, even if moved, turned or scaled.",
    strength: "strong",
    cause: "replay",
    reads: ["cornerLead", "cornerLeadShare", "isDevicePath"],
    when: (e) => e.cornerLead >= 4 && e.cornerLeadShare >= 0.1 && !e.isDevicePath,
    source:
      "four ways between corners: their turns and ratios of lengths; 65 % of recordings turned by up to 35° and scaled by 0.8 to 1.3, 60 % of those with noise; of 5,466 human windows none has more than 2 with any one other",
    fires: { cornerLead: 12, cornerLeadShare: 0.6, isDevicePath: false },
    staysQuiet: { cornerLead: 2, cornerLeadShare: 0.1, isDevicePath: false },
  }),
  detection({
    id: 300142,
    slug: "corners-in-common",
    meaning: "The pointer path shares some corners with another session's path, even if moved, turned or scaled.",
    strength: "moderate",
    cause: "replay",
    reads: ["cornerLead", "cornerLeadShare", "isDevicePath"],
    when: (e) => e.cornerLead >= 3 && e.cornerLeadShare >= 0.1 && !e.isDevicePath,
    source: "as `redrawn-path`, one match beyond what chance gives",
    fires: { cornerLead: 3, cornerLeadShare: 0.3, isDevicePath: false },
    staysQuiet: { cornerLead: 2, cornerLeadShare: 0.5, isDevicePath: false },
  }),
  retiredDetection({
    id: 300132,
    slug: "path-played-back",
    meaning: "The pointer path was recorded earlier and arrives through the operating system, like a hand's.",
    strength: "notable",
    cause: "replay",
    source:
      "macro recorders; retired, since how moves were delivered is what a client says of itself: `replayed-path` and `replayed-turns` hold for all",
  }),
];
