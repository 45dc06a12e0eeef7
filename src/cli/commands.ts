/** The command table: every command of `verdictd`, in the order of the help. */
import type { AnyCommand } from "./command.js";
import { accountCommands } from "./commands/account.js";
import { agentMarkCommands } from "./commands/agent-marks.js";
import { agentCommands } from "./commands/agents.js";
import { changesCommand } from "./commands/changes.js";
import { completionCommand } from "./commands/completion.js";
import { configCommand } from "./commands/config.js";
import { declaredBotCommands } from "./commands/declared-bots.js";
import { exceptionCommands } from "./commands/exception.js";
import { initCommand } from "./commands/init.js";
import { ipListCommands } from "./commands/ip-list.js";
import { licensesCommand } from "./commands/licenses.js";
import { memberCommands } from "./commands/member.js";
import { projectCommands } from "./commands/project.js";
import { recipeCommand } from "./commands/recipe.js";
import { ruleCommands } from "./commands/rules.js";
import { serveCommand } from "./commands/serve.js";
import { sessionCommands } from "./commands/session.js";
import { deleteMatchingCommand } from "./commands/session-delete-matching.js";
import { storeCommands } from "./commands/store.js";
import { migrateCommand, reopenCommand } from "./commands/store-migrate.js";
import { tailCommand } from "./commands/tail.js";
import { tokenCommands } from "./commands/token.js";
import { userCommands } from "./commands/user.js";
import { verifiedBotCommands } from "./commands/verified-bots.js";

/** The table that parser, help and completion are made from. */
export const commands: readonly AnyCommand[] = [
  serveCommand,
  configCommand,
  initCommand,
  ...accountCommands,
  ...userCommands,
  ...memberCommands,
  ...projectCommands,
  ...tokenCommands,
  ...ruleCommands,
  ...verifiedBotCommands,
  ...declaredBotCommands,
  ...agentMarkCommands,
  ...exceptionCommands,
  ...ipListCommands,
  ...agentCommands,
  changesCommand,
  ...sessionCommands,
  deleteMatchingCommand,
  tailCommand,
  ...storeCommands,
  migrateCommand,
  reopenCommand,
  recipeCommand,
  completionCommand(() => commands),
  licensesCommand,
];
