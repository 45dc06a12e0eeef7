/** Bots that name themselves in their user agent, in the form of files, the API and the store. */
import type { BotCategory } from "./bot-categories.js";

/** Whom a user agent names. */
export interface DeclaredBot {
  /** Name of the bot, such as `GPTBot`. */
  readonly name: string;
  /** Who runs it, or the host where it is described; the name again where neither is known. */
  readonly operator: string;
  /** `library`: HTTP libraries, command lines and driven browsers, which anybody runs. */
  readonly category: BotCategory;
}

/** One row of the list: a bot, and how to recognise it. */
export interface DeclaredBotEntry extends DeclaredBot {
  /** The part of a user agent by which the bot is known; ASCII case does not matter. */
  readonly token: string;
}

/** The whole list: the form of the shipped file and of `declared-bots import`. */
export interface DeclaredBotCatalogue {
  /** Free text naming the state of the list, usually its date. */
  readonly version: string;
  readonly entries: readonly DeclaredBotEntry[];
}
