/** Names of agents in expressions that nobody in the lists has. */
import t from "tap";
import { agentNameWarnings } from "../../src/rules/agent-names.js";
import { compileRule } from "../../src/rules/compile-rule.js";
import { isRuleFault } from "../../src/rules/fault.js";

const names = new Set(["Claude in Chrome", "GPTBot", "unknown agent"]);

function said(source: string): string {
  const rule = compileRule(source);
  if (isRuleFault(rule)) throw new Error(rule.message);
  return agentNameWarnings(rule.ast, names).join(" ");
}

t.test("a name is compared with case, and one of nobody is said", async (t) => {
  for (const source of [
    'agent == "GPTBot"',
    'agent != "unknown agent"',
    'agent in {"GPTBot", "Claude in Chrome"}',
    'agent contains "Chrome"',
    'agent starts_with "Claude"',
    'agent ends_with "Bot"',
    'agent wildcard "gpt*"',
    'user_agent == "gptbot"',
    'agent == ""',
  ]) {
    t.equal(said(source), "", source);
  }
  for (const [source, expected] of [
    ['agent == "gptbot"', /^agent == "gptbot" is in another case than "GPTBot", and never meets it\.$/],
    ['NOT agent in {"GPTBot", "gptbot"}', /^agent == "gptbot" is in another case/],
    ['path == "/" AND (agent contains "chrome" OR score < 3)', /^agent contains "chrome" is in another case/],
    ['agent starts_with "gpt"', /"GPTBot"/],
    ['agent ends_with "BOT"', /"GPTBot"/],
    ['agent wildcard "codex*"', /^agent wildcard "codex\*" names nobody/],
    ['agent == "Codex"', /^agent == "Codex" names nobody in the lists/],
  ] as const) {
    t.match(said(source), expected, source);
  }
});
