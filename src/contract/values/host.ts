/** The one spelling of a host's name in which rules compare hosts, for every entrance. Pure, without anything from Node. */

/** Most names already have it. */
const plainName = /^[a-z0-9-]+(?:\.[a-z0-9-]+)*$/;

/**
 * Returns a host as rules see it: lower case, without port and one trailing dot, international names as A-labels (`xn--…`), IPv6 in brackets in its
 * shortest form. A text that is no host is only lower-cased. Idempotent; never throws.
 */
export function canonicalHost(host: string): string {
  if (plainName.test(host)) return host;
  const name = host
    .trim()
    .toLowerCase()
    .replace(/^([^:]+|\[.*\]):\d*$/s, "$1");
  if (name.startsWith("[")) return shortestV6(name);
  return withALabels(name.replace(/([^.])\.$/, "$1"));
}

function shortestV6(name: string): string {
  if (!/^\[[\da-f:.]+\]$/.test(name)) return name;
  try {
    return new URL(`http://${name}`).hostname;
  } catch {
    return name;
  }
}

/**
 * The same for a part of a host, as a comparison with `contains` or a wildcard has one. What would leave nothing, or a star alone, stays: a comparison
 * that never holds must not become one that always does.
 */
export function canonicalHostPart(part: string, isEnd: boolean): string {
  const lower = part.toLowerCase().replace(/([^*?.:]\.?):\d*$/, "$1");
  return withALabels(isEnd ? lower.replace(/([^*?.:])\.$/, "$1") : lower);
}

/** Each label by itself, so that a label that can't be converted (a wildcard's) leaves the others. */
function withALabels(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
  if (/^[\u0000-\u007f]*$/.test(name)) return name;
  return name
    .split(/[.\u3002\uff0e\uff61]/)
    .map(aLabel)
    .join(".");
}

function aLabel(label: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
  if (/^[\u0000-\u007f]*$/.test(label) || /[\s/?#@:\\%*[\]]/.test(label)) return label;
  try {
    return new URL(`http://${label}.example`).hostname.slice(0, -".example".length);
  } catch {
    return label;
  }
}
