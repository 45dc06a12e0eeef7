/** Says which agent a mark is of. Built from one list and thrown away with it; holds no state. */
import { type AgentMarkCatalogue, agentMarkText, type RetiredAgentMark } from "../../contract/bots/agent-marks.js";
import type { KnownAgent } from "../../contract/bots/agents.js";

/** Look-ups by mark in one list. */
interface AgentMarks {
  /**
   * The agent of the first of these marks that the list knows; undefined for none. `marks` as a session keeps them: texts of `agentMarkText`,
   * joined by commas. The same frozen object each time.
   */
  of(marks: string): KnownAgent | undefined;
}

/** Pure; `catalogue` is a checked one. `retired` is what was in it before: sessions that it named keep their agent. */
export function createAgentMarks(
  { entries }: AgentMarkCatalogue,
  retired: readonly RetiredAgentMark[] = [],
): AgentMarks {
  const agents = new Map(
    [...retired, ...entries].map((entry) => {
      const { name, category } = entry;
      return [agentMarkText(entry), Object.freeze({ name, category, certainty: "marked" } as const)] as const;
    }),
  );
  return {
    of(marks) {
      if (marks === "") return undefined;
      for (const mark of marks.split(",")) {
        const agent = agents.get(mark);
        if (agent !== undefined) return agent;
      }
      return undefined;
    },
  };
}
