/** `verdictd-client/browser`. Importing it does nothing, on a server either; `init` starts the SDK in a browser. */
import { checkOptionNames } from "../contract/values/option-names.js";
import type { Verdictd, VerdictdOptions } from "./options.js";
import { startSdk } from "./start.js";

export type { Verdictd, VerdictdOptions } from "./options.js";

declare global {
  interface Window {
    /** Of the script tag; absent until it has run. */
    verdictd?: Verdictd;
  }
}

const optionNames: Readonly<Record<keyof VerdictdOptions, true>> = {
  siteKey: true,
  endpoint: true,
  cookie: true,
  cookieName: true,
  cookieDomain: true,
  cookiePath: true,
  cookieSameSite: true,
  cookieMaxAge: true,
  token: true,
  interval: true,
  consent: true,
  probesUrl: true,
  workerUrl: true,
};

/**
 * Starts collecting, or waits for `start` where that is wanted. Without a browser, without a site key or where anything essential is
 * missing, the answer is inert: `ready` is null and nothing is sent. Never throws: what is wrong with the options is said in the console.
 */
export function init(options: VerdictdOptions): Verdictd {
  const mistake = mistakeIn(options);
  // On a server the answer is inert, whatever the options are.
  if (mistake !== null && typeof document === "object") console.error(mistake);
  return startSdk(options);
}

function mistakeIn(options: VerdictdOptions): string | null {
  try {
    checkOptionNames("verdictd", options, optionNames);
    if (!options.siteKey) return "verdictd: `siteKey` is missing, so nothing is collected";
    return ["wait", undefined].includes(options.consent)
      ? null
      : 'verdictd: `consent` can only be "wait", so nothing is collected until start()';
  } catch (error) {
    return (error as Error).message;
  }
}
