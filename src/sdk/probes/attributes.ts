/** Says on the console which attributes of the script tag have names or values that the SDK does not know: it goes on without them. */
import { doc } from "../bare.js";

const anything = /^/;
const onOrOff = /^(on|off)$/;

/** What each attribute can be, by its name without `data-`. */
const allowed: Readonly<Record<string, readonly [RegExp, string]>> = {
  "site-key": [anything, ""],
  endpoint: [/^https?:/, "an http(s) address"],
  cookie: [onOrOff, "on or off"],
  "cookie-name": [/^[^\s;,=]+$/, "a cookie's name"],
  "cookie-domain": [/^[^\s;,/:]+$/, "a domain"],
  "cookie-path": [/^\/[^;]*$/, "a path beginning with /"],
  "cookie-same-site": [/^(Lax|Strict|None)$/, "Lax, Strict or None"],
  "cookie-max-age": [/^[1-9]\d*$/, "seconds"],
  token: [anything, ""],
  interval: [/^[1-9]\d*$/, "milliseconds"],
  worker: [onOrOff, "on or off"],
  probes: [onOrOff, "on or off"],
  consent: [/^wait$/, "wait"],
};

/** Attributes that frameworks, proxies and consent tools set on any script. */
const foreign = /^data-(nscript|cfasync|turbo.*|cookieconsent|category|ot-.*|usercentrics|react.*)$/;

/** Looks at the tags of this site key; where a script was taken out of the page, or the module is used, there is none. */
export function checkAttributes(siteKey: string): void {
  for (const script of doc.querySelectorAll<HTMLScriptElement>("script[data-site-key]")) {
    if (script.dataset["siteKey"] !== siteKey) continue;
    for (const { name, value } of script.attributes) {
      if (!name.startsWith("data-") || foreign.test(name)) continue;
      const mistake = mistakeIn(name.slice(5), value);
      if (mistake) console.warn(`verdictd: ${mistake}`);
    }
  }
}

function mistakeIn(name: string, value: string): string | null {
  if (!Object.hasOwn(allowed, name)) {
    const near = Object.keys(allowed).sort((one, other) => likeness(other, name) - likeness(one, name))[0]!;
    return `unknown attribute data-${name}${likeness(near, name) > 2 ? `; did you mean data-${near}?` : ""}`;
  }
  const [form, expected] = allowed[name]!;
  // An empty attribute is one that a template left out.
  return !value || form.test(value) ? null : `data-${name}: expected ${expected}, got "${value.slice(0, 100)}"`;
}

/** How many letters two names begin with in common, hyphens apart. */
function likeness(...names: [string, string]): number {
  const [one, other] = names.map((each) => each.replace(/-/g, "")) as [string, string];
  let count = 0;
  while (one[count] && one[count] === other[count]) count++;
  return count;
}
