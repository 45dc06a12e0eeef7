/** How the user agents of browsers look, whatever they claim: for detections of clients that name themselves. */

/** Beginnings: text browsers and old telephones have names of their own. */
const beginnings =
  /^(?:Mozilla|Opera|URL\/Emacs|Lynx|E?Links|w3m|Dillo|NetSurf|Emacs|edbrowse|retawq|amaya|UCWEB|BlackBerry|DoCoMo|J-PHONE|KDDI|LG|MOT|Nokia|SAMSUNG|SonyEricsson)/i;

/** An app's name, then the user agent of the web view inside; not the header's own name, which no browser repeats. */
const afterName = /^(?!["'\s]*user-agent)(?:[^()]*\([^()]*\))?[^()]*\bMozilla\/5\.0 \(/i;
/** Apps name themselves in brackets before it, too. */
const afterBrackets = /^\[[^\]]*\] ?Mozilla\/5\.0 \(/;

/** Whether a user agent is a browser's or that of a web view in an app. Linear. */
export function namesBrowser(userAgent: string): boolean {
  return beginnings.test(userAgent) || afterName.test(userAgent) || afterBrackets.test(userAgent);
}
