/** `verdictd tail`: the verdicts that running servers answer, as they answer them, until it is interrupted. */

import type { LiveVerdict } from "../../contract/verdicts/live-verdict.js";
import { actions, bands } from "../../contract/verdicts/verdict.js";
import { limits } from "../../limits.js";
import { type FollowState, followVerdicts } from "../../live/follow.js";
import { printableLine } from "../../runtime/printable.js";
import { dataDirFlag, jsonFlag, type ProcessCommand } from "../command.js";
import type { Given } from "../flag.js";
import { idOf, someOf } from "../given.js";
import { print, printJson } from "../output.js";
import { storeFolder } from "../store-folder.js";

/**
 * A line a verdict, or one JSON value a line; servers that come later are followed too. Verdicts that were left out are counted on
 * stderr.
 */
export const tailCommand: ProcessCommand = {
  name: "tail",
  help: "print verdicts as running servers give them, until interrupted",
  flags: [
    { name: "project", placeholder: "ID", help: "only of this project" },
    { name: "band", placeholder: "BAND,…", help: `only of these bands: ${bands.join(", ")}`, values: bands },
    {
      name: "action",
      placeholder: "ACTION,…",
      help: `only with these actions: ${actions.join(", ")}`,
      values: actions,
    },
    { name: "count", placeholder: "N", help: "end after this many" },
    dataDirFlag,
    { ...jsonFlag, help: "print one JSON value per line" },
  ],
  runProcess: (given) => tail(storeFolder(given), given),
};

async function tail(dataDir: string, given: Given): Promise<void> {
  const filter = {
    project: given["project"] === undefined ? null : idOf(given, "project"),
    bands: someOf(given, "band", bands),
    actions: someOf(given, "action", actions),
  };
  const write = given["json"] === undefined ? (verdict: LiveVerdict) => print(lineOf(verdict)) : printJson;
  let left = given["count"] === undefined ? Number.POSITIVE_INFINITY : idOf(given, "count");
  await new Promise<void>((resolve) => {
    const stop = followVerdicts(dataDir, filter, {
      onVerdict: (verdict) => {
        if (left === 0) return;
        left--;
        write(verdict);
        if (left === 0) end();
      },
      onLeftOut: (count) => console.error(`${count} verdicts were left out: they come faster than they can be printed`),
      onServer: (state) => {
        // At the end the connection is closed by us.
        if (left > 0) console.error(stateWords[state]);
      },
    });
    const end = (): void => {
      stop();
      process.off("SIGINT", end).off("SIGTERM", end);
      resolve();
    };
    process.on("SIGINT", end).on("SIGTERM", end);
  });
}

const stateWords: Readonly<Record<FollowState, string>> = {
  following: "following",
  refused: `a server runs, but ${limits.followersMax} others follow it already: retrying`,
  denied: "this user may not open the server's sockets: run this as the user who runs the server",
  unreachable: "no server on this store can be reached: waiting for one",
};

/** What clients sent is shown without characters that a terminal would obey. */
function lineOf({ at, project_id, verdict, score, action, reason, ...asked }: LiveVerdict): string {
  const state = [verdict.padEnd(19), String(score).padStart(2), action.padEnd(9)];
  const request = [asked.method, `${asked.host ?? ""}${asked.path ?? ""}`].filter(Boolean).join(" ");
  const cells = [at.slice(11, 23), `project ${project_id}`, ...state, asked.session_token ?? "-", request, reason];
  return printableLine(cells.filter((cell) => cell !== "").join("  "));
}
