/**
 * Recognises bots that no list has by how they name themselves: an address with `+http`, or a name with "bot", "crawler" or "spider" inside
 * `(compatible; …)`. People's browsers write neither: those of old that say `compatible` (Internet Explorer, Konqueror) are left out.
 */
import type { DeclaredBot } from "../../contract/bots/declared-bots.js";
import { limits } from "../../limits.js";

const address = /\+ ?https?:\/\//i;
const compatible = /\((?:[^()]*[;,] ?)?compatible; ?([^()]*)/i;
/** As the end of a word, or before a version: Abbott is none. */
const botWord = /(?:bot|crawler|spider)s?(?![a-z])/i;
/** Browsers that say `compatible`, and makers of phones whose names end like a bot's. */
const people = /\b(?:msie|konqueror|trident|cubot)/i;

/**
 * Returns the bot that a user agent names, with the category `other`; undefined for any other text. Its name is that of the token, at most 64
 * characters. Linear in the first 512 characters; 0.3 µs for a browser's.
 */
export function unlistedBot(userAgent: string): DeclaredBot | undefined {
  if (!userAgent.includes("compatible;") && !userAgent.includes("http")) return undefined;
  const text = userAgent.slice(0, limits.contextValueMax);
  const comment = compatible.exec(text)?.[1];
  const segments = comment?.split(";") ?? [];
  const named = segments.find((each) => botWord.test(each) && !people.test(each) && !/https?:/i.test(each));
  const isDeclared = address.test(text) || (named !== undefined && !people.test(comment!));
  if (!isDeclared) return undefined;
  const name = nameOf(named ?? segments.find((each) => !people.test(each)) ?? text);
  return name === "" ? undefined : Object.freeze({ name, operator: name, category: "other" });
}

/** The token before its version or address; of a browser's beginning, what comes after it. */
function nameOf(token: string): string {
  const bare = token.replace(/^Mozilla\/[\d.]+ ?/i, "").replace(/^[\s(+]+/, "");
  const name = /^[^/;,()+]*/.exec(bare)![0].replace(/ v?\d[\d.]*$/i, "");
  return (
    name
      .replace(/[^ -~]/g, "")
      .trim()
      .slice(0, nameMax)
      .trim() || "unnamed bot"
  );
}

const nameMax = 64;
