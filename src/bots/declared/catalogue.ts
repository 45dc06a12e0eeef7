/**
 * Checks and loads lists of declared bots. The shipped one is `catalogue.json`, the tools of `automation-user-agents.ts` and the claims of
 * `ua-claims.json` together: each token is written in one of them only.
 */
import { readAsset } from "../../assets.js";
import { isJsonObject } from "../../contract/api/json-body.js";
import { type BotCategory, botCategories } from "../../contract/bots/bot-categories.js";
import type { DeclaredBotCatalogue, DeclaredBotEntry } from "../../contract/bots/declared-bots.js";
import { type AutomationKind, automationUserAgents } from "../../detections/automation-user-agents.js";
import { limits } from "../../limits.js";
import {
  type CatalogueFault,
  checkFile,
  checkWord,
  cut,
  fault,
  isCatalogueFault,
  isLine,
  lineFault,
} from "../catalogue-file.js";
import { shippedClaimTokens } from "../verified/claims.js";
// Only for the compiler, which then copies the file beside the compiled module; it is read below, when it is asked for.
import type shippedFile from "./catalogue.json";

/**
 * The list with exact repeats dropped, or the first fault found: one bad entry refuses the whole list. Unknown keys are ignored. An empty
 * list is fine: then nobody is declared.
 */
export function checkDeclaredBots(value: unknown): DeclaredBotCatalogue | CatalogueFault {
  const file = checkFile(value, "entries", limits.declaredBotEntriesMax, checkEntry);
  if (isCatalogueFault(file)) return file;
  const byToken = new Map<string, DeclaredBotEntry>();
  let characters = 0;
  for (const [index, entry] of file.entries.entries()) {
    const held = byToken.get(entry.token.toLowerCase());
    if (held !== undefined && !isSame(held, entry)) {
      const at = `entries[${file.entries.indexOf(held)}]`;
      return fault(
        `entries[${index}].token`,
        `${JSON.stringify(entry.token)} is that of ${at} too, which is another bot`,
      );
    }
    if (held !== undefined) continue;
    byToken.set(entry.token.toLowerCase(), entry);
    characters += entry.token.length;
  }
  if (characters > limits.declaredBotTokenCharactersMax) {
    return fault(
      "entries",
      `have tokens of ${characters} characters together: at most ${limits.declaredBotTokenCharactersMax} are allowed`,
    );
  }
  return { version: file.version, entries: [...byToken.values()] };
}

/** The list that comes with verdictd (sources in `SOURCES.md`). Reads the files, whose whole a test holds to the check. */
export function shippedDeclaredBots(): DeclaredBotCatalogue {
  const file: typeof shippedFile = JSON.parse(readAsset("src/bots/declared/catalogue.json").toString("utf8"));
  const held = new Set(file.entries.map(({ token }) => token.toLowerCase()));
  const others = [...claimEntries(), ...toolEntries()].filter(({ token }) => !held.has(token.toLowerCase()));
  return { version: file.version, entries: [...(file.entries as DeclaredBotEntry[]), ...others] };
}

const categoryOfKind: Readonly<Record<AutomationKind, BotCategory>> = {
  cli: "library",
  library_python: "library",
  library_js: "library",
  library_go: "library",
  library_jvm: "library",
  library_other: "library",
  headless: "library",
  automation: "library",
  scraper: "library",
  scanner: "security",
  load_test: "library",
  api_client: "library",
};

/** Enough for a hint among others, but also in user agents of old phones (`Java/Jbed`) and add-ons (`FirePHP/`): the file has them longer. */
const tooShort: ReadonlySet<string> = new Set(["Java/", "PHP/"]);

function toolEntries(): DeclaredBotEntry[] {
  return automationUserAgents
    .filter(({ token }) => !tooShort.has(token))
    .map(({ token, kind }) => {
      const name = nameOf(token);
      return { name, operator: name, category: categoryOfKind[kind], token };
    });
}

/** Those without one of the verified bots' categories are in the file, with a category of ours. */
function claimEntries(): DeclaredBotEntry[] {
  return shippedClaimTokens().flatMap(({ operator, category, token }) =>
    category === null ? [] : [{ name: nameOf(token), operator, category, token }],
  );
}

/** `curl/` is called curl. */
function nameOf(token: string): string {
  return token.replace(/^[ (]+|[ /)]+$/g, "");
}

function checkEntry(entry: unknown, at: string): DeclaredBotEntry | CatalogueFault {
  if (!isJsonObject(entry)) return fault(at, "must be an object {name, operator, category, token}");
  const { name, operator, category, token } = entry;
  for (const [key, text] of Object.entries({ name, operator })) {
    if (!isLine(text, limits.nameMax)) return lineFault(`${at}.${key}`, limits.nameMax);
  }
  const known = checkWord(botCategories, category, `${at}.category`);
  if (typeof known !== "string") return known;
  const { declaredBotTokenMin: least, declaredBotTokenMax: most } = limits;
  if (typeof token !== "string" || token.length < least || token.length > most || !/^[ -~]+$/.test(token)) {
    return fault(`${at}.token`, `must be ${least} to ${most} printable ASCII characters`);
  }
  const lowered = token.toLowerCase();
  const browser = ordinaryUserAgents[loweredUserAgents.findIndex((each) => each.includes(lowered))];
  if (browser !== undefined) {
    return fault(`${at}.token`, `${JSON.stringify(cut(token))} is a part of a browser's user agent: ${browser}`);
  }
  return { name: name as string, operator: operator as string, category: known, token };
}

function isSame(one: DeclaredBotEntry, other: DeclaredBotEntry): boolean {
  return one.name === other.name && one.operator === other.operator && one.category === other.category;
}

/** A token that one of these contains would name most visitors a bot. */
const ordinaryUserAgents: readonly string[] = [
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0",
  "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36",
  "Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 OPR/124.0.0.0",
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1",
  "Mozilla/5.0 (iPad; CPU OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/140.0.0.0 Mobile/15E148 Safari/604.1",
  "Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0",
  "Mozilla/5.0 (Android 15; Mobile; rv:143.0) Gecko/143.0 Firefox/143.0",
  "Mozilla/5.0 (Linux; Android 14; SM-S928B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36",
];

const loweredUserAgents = ordinaryUserAgents.map((each) => each.toLowerCase());
