/** Words and forms in which the console shows the API's values. */
import type { Action, Band } from "../contract/verdicts/verdict.js";

/** Bands as people read them. */
export const bandWords: Readonly<Record<Band, string>> = {
  definite: "Definite bot",
  confident_automated: "Confident bot",
  likely_automated: "Likely bot",
  likely_human: "Likely human",
  verified: "Verified bot",
  not_computed: "Not computed",
};

/** From the surest bot to what is not known. */
export const bandOrder: readonly Band[] = [
  "definite",
  "confident_automated",
  "likely_automated",
  "likely_human",
  "verified",
  "not_computed",
];

/** Actions as people read them. */
export const actionWords: Readonly<Record<Action, string>> = {
  block: "Block",
  challenge: "Challenge",
  delay: "Delay",
  log: "Log",
  allow: "Allow",
};

/** From the hardest to none. */
export const actionOrder: readonly Action[] = ["block", "challenge", "delay", "log", "allow"];

const number = new Intl.NumberFormat("en-GB");
const compact = new Intl.NumberFormat("en-GB", { notation: "compact", maximumFractionDigits: 1 });
const moment = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });
const momentOfYear = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
});
const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });

/** A number with its thousands grouped: 12,345. */
export const count = (value: number): string => number.format(value);
/** A number for an axis, with one decimal at most: 12.3k. */
export const shortCount = (value: number): string => compact.format(value);
/** Date and time in the operator's zone. */
export const time = (iso: string): string => moment.format(new Date(iso));
/** The same without the year, if it is this one. */
export function shortTime(iso: string): string {
  const at = new Date(iso);
  return (at.getFullYear() === new Date().getFullYear() ? momentOfYear : moment).format(at);
}
/** Time of day to the second, in the operator's zone. */
export const clockTime = (date: Date): string => clock.format(date);

/** The operator's time zone as people name it, with what it is ahead of UTC now: "Europe/Berlin, UTC+1". */
export function zone(): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  const ahead = -new Date().getTimezoneOffset();
  const minutes = Math.abs(ahead) % 60;
  const hours = Math.floor(Math.abs(ahead) / 60);
  const offset = ahead === 0 ? "" : `${ahead < 0 ? "−" : "+"}${hours}${minutes === 0 ? "" : `:${minutes}`}`;
  return timeZone === "UTC" ? timeZone : `${timeZone}, UTC${offset}`;
}

/** "once", "2 times". */
export const times = (value: number): string => (value === 1 ? "once" : `${count(value)} times`);

/** "1 rule", "2 rules". */
export function plural(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
}

/** With a capital at its start, unless it begins with a name in code, such as `expires_at`. */
export const sentence = (text: string): string =>
  text.replace(/^[a-z](?=[a-z]*[ ,’'-])/, (letter) => letter.toUpperCase());
