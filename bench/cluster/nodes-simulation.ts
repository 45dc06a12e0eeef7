/**
 * What several nodes on one engine come to where each has cores of its own: a simulation of closed loops over measured times, since a machine of
 * two cores can't show it. Pure but for the random shares of masters.
 */

/** Measured, microseconds of a group. */
interface GroupTimes {
  /** Batches of a group. */
  readonly group: number;
  /** CPU of a node's scoring thread. */
  readonly nodeUs: number;
  /** CPU of all masters together. */
  readonly mastersUs: number;
  /** From a group's begin to its answer when nothing else is under way. */
  readonly wholeUs: number;
}

interface Simulated {
  readonly nodes: number;
  readonly masters: number;
  /** Groups of a node under way at once. */
  readonly inFlight: number;
  /** Share of batches that are done again because another node was ahead. */
  readonly conflicts: number;
}

/** Groups that are simulated for each node. */
const groupsOfNode = 20_000;

/**
 * Batches a second. A group is worked on by its node's one thread, then by every master for its share, then waits for what is left of the
 * measured whole (the network, replicas); thread and masters take one group after another.
 */
export function simulateRate(times: GroupTimes, { nodes, masters, inFlight, conflicts }: Simulated): number {
  const { group, nodeUs, mastersUs, wholeUs } = times;
  const again = 1 + conflicts;
  const waitUs = Math.max(0, wholeUs - nodeUs - mastersUs / masters);
  const threadFree = new Array<number>(nodes).fill(0);
  const masterFree = new Array<number>(masters).fill(0);
  // When each loop may begin its next group.
  const loops = Array.from({ length: nodes * inFlight }, (_, index) => ({ node: index % nodes, atUs: index }));
  let endUs = 0;
  const groups = groupsOfNode * nodes;
  for (let count = 0; count < groups; count++) {
    const next = loops.reduce((first, each) => (each.atUs < first.atUs ? each : first));
    const { node } = next;
    const workedUs = Math.max(next.atUs, threadFree[node]!) + nodeUs * again;
    threadFree[node] = workedUs;
    let doneUs = workedUs;
    for (let master = 0; master < masters; master++) {
      // Shares are not equal: sessions fall on masters at random.
      const share = (0.8 + 0.4 * Math.random()) * ((mastersUs * again) / masters);
      const servedUs = Math.max(workedUs, masterFree[master]!) + share;
      masterFree[master] = servedUs;
      doneUs = Math.max(doneUs, servedUs);
    }
    next.atUs = doneUs + waitUs;
    endUs = Math.max(endUs, next.atUs);
  }
  return (groups * group * 1e6) / endUs;
}
