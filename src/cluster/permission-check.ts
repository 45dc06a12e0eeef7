/** Checks whether the store's user may do on a node what the store does there, without doing any of it. */
import { blame, type Findings, isOfUser } from "./inspection-findings.js";
import type { ClusterDemands, NodeFacts } from "./node-rules.js";
import type { RespCommand } from "./resp-encoder.js";
import type { RespReply } from "./resp-parser.js";
import type { NodeAddress } from "./slots.js";
import type { StoreUrl } from "./store-url.js";

/** Asks one node one command; rejects with a `ClusterError`. */
export type Ask = (address: NodeAddress, command: RespCommand) => Promise<RespReply>;

/** Asks a server whether the user may do all this, without doing any of it. Each server has its own permissions. */
export async function judgePermissions(
  { address, role }: Pick<NodeFacts, "address" | "role">,
  url: StoreUrl,
  { commands = [], keys }: ClusterDemands,
  ask: Ask,
  findings: Findings,
): Promise<void> {
  let isForbidden = false;
  // A replica refuses WAIT even to users who may run it, and refuses everything while it loads its file or has lost its master.
  const failed = (error: unknown): void => {
    if (role === "master" || isOfUser(error)) blame(address, error, url, findings, { isNeeded: role === "master" });
  };
  for (const probe of probes) {
    await ask(address, probe).catch((error: unknown) => {
      isForbidden ||= probe[0] === "EVAL";
      failed(error);
    });
  }
  if (isForbidden) return;
  // Writes and most reads ask masters; what a replica refuses matters once it becomes one.
  const kind = role === "master" ? "refused" : "lasting";
  const user = url.user ?? "the default user";
  const mayAll = async (questions: readonly RespCommand[]): Promise<readonly boolean[]> => {
    const args = questions.flatMap((words) => [words.length, ...words]);
    const reply = await ask(address, ["EVAL", permissionsScript, 0, ...args]);
    return Array.isArray(reply) ? reply.map((each) => each === 1) : [];
  };
  const isKeyed = (command: RespCommand): boolean =>
    keys !== undefined && command.some((word) => String(word).startsWith(keys.slice(0, -1)));
  // The user may run EVAL, so the server can only have refused the key.
  const keyQuestion: readonly RespCommand[] = keys === undefined ? [] : [["EVAL", "", 1, keys.replace("*", "0}")]];
  try {
    const [[mayUseKeys = true], allowed] = await Promise.all([mayAll(keyQuestion), mayAll(commands)]);
    if (!mayUseKeys) findings.fault(`${user} has no access to keys ${keys} on {nodes}`, address, kind);
    for (const [index, command] of commands.entries()) {
      if (allowed[index] === true || (!mayUseKeys && isKeyed(command))) continue;
      findings.fault(`${user} may not run ${command.slice(0, 2).join(" ")} on {nodes}`, address, kind);
    }
  } catch (error) {
    failed(error);
  }
}

/** Returns 1 if the user may run the command in the arguments, else 0. */
export const permissionScript = "return redis.acl_check_cmd(unpack(ARGV)) and 1 or 0";

/** Takes commands, each after its number of words; returns for each whether the user may run it. */
const permissionsScript = `local may, at = {}, 1
while at <= #ARGV do
  local last = at + tonumber(ARGV[at])
  may[#may + 1] = redis.acl_check_cmd(unpack(ARGV, at + 1, last)) and 1 or 0
  at = last + 1
end
return may`;

/** Commands that are checked besides those in `demands`: a server refuses each one separately. */
const probes: readonly RespCommand[] = [
  ["CLUSTER", "NODES"],
  ["CLUSTER", "SLOTS"],
  ["CLUSTER", "INFO"],
  ["TIME"],
  ["SCRIPT", "LOAD", permissionScript],
  ["WAIT", 0, 1],
  ["EVAL", "return 1", 0],
];
