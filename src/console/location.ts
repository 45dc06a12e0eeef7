/** Which page is open: the part of the address after `#`, so that back, forward, reload and links work. Never holds a credential. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

/** The pages of a project: the first word of the address, and the name in the navigation, in its order. */
export const projectPages = [
  ["overview", "Overview"],
  ["explore", "Explore"],
  ["sessions", "Sessions"],
  ["blocks", "Blocks"],
  ["exceptions", "Exceptions"],
  ["rules", "Rules"],
  ["crawlers", "Crawlers"],
  ["alerts", "Alerts"],
  ["settings", "Settings"],
  ["keys", "Keys"],
] as const;
/** The pages of an account, as `projectPages`. */
export const accountPages = [
  ["projects", "Projects"],
  ["bots", "Verified bots"],
  ["members", "Members"],
  ["tokens", "Account tokens"],
  ["changes", "Changes"],
  ["usage", "Usage"],
] as const;
const pages = [...projectPages, ...accountPages];
/** A page by the first word of its address. */
export type PageName = (typeof pages)[number][0];

/** An address taken apart. `usePlace` makes it, `hashOf` is the way back. */
export interface Place {
  /** Null: no page has this address. */
  readonly page: PageName | null;
  /** What of the page: a session's token, a rule's id; null: the page itself. */
  readonly item: string | null;
  /** The id of the project, where the address names one: the accounts that have several need it. */
  readonly project: number | null;
  /** What the page shows, as `name=value` pairs behind a question mark. */
  readonly query: URLSearchParams;
}

const projectName = "project";

/**
 * The address of a page, from `#` on, for links: `#/rules/7`, `#/explore?q=…`. The item is percent-encoded. It is of the project that the present
 * address names, if it names one, unless it is given another.
 */
export function hashOf(
  page: PageName,
  item?: string | number,
  query?: Readonly<Record<string, string>>,
  project: number | null = placeOf(location.hash).project,
): string {
  const path = item === undefined ? `#/${page}` : `#/${page}/${encodeURIComponent(item)}`;
  const pairs = String(new URLSearchParams({ ...(project !== null && { [projectName]: String(project) }), ...query }));
  return pairs === "" ? path : `${path}?${pairs}`;
}

/** The address as it is, but of this project. */
export function hashOfProject(project: number): string {
  const [path = "", text = ""] = location.hash.split(/\?(.*)/s);
  const query = new URLSearchParams(text);
  query.set(projectName, String(project));
  return `${path === "" ? "#/overview" : path}?${query}`;
}

function placeOf(hash: string): Place {
  const end = hash.indexOf("?");
  // "#explore" is "#/explore", as people write it.
  const [name = "", item = ""] = (end < 0 ? hash : hash.slice(0, end)).replace(/^#?\/?/, "").split("/");
  const page = name === "" ? "overview" : (pages.find(([each]) => each === name)?.[0] ?? null);
  const query = new URLSearchParams(end < 0 ? "" : hash.slice(end));
  const project = Number(query.get(projectName)) || null;
  query.delete(projectName);
  return { page, item: item === "" ? null : decoded(item), project, query };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Changes the address without a step of its own in the history. */
export function replaceHash(hash: string): void {
  try {
    history.replaceState(null, "", hash);
  } catch {
    // Safari refuses more than a hundred changes in half a minute: the next one that it takes has all of them.
    return;
  }
  dispatchEvent(new HashChangeEvent("hashchange"));
}

/** The open page; renders again whenever the part of the address after `#` changes. */
export function usePlace(): Place {
  const [place, setPlace] = useState(() => placeOf(location.hash));
  useEffect(() => {
    const follow = () => setPlace(placeOf(location.hash));
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return place;
}

/**
 * A text that the address holds: a change of it replaces the address, and an address that comes from elsewhere (back, a link) brings its own.
 * `hashFor` makes the address of a text.
 */
export function useAddressed(
  inAddress: string,
  hashFor: (text: string) => string,
): readonly [text: string, set: (text: string) => void] {
  const [text, setText] = useState(inAddress);
  /** What was put into the address from here: typing must not be undone by it. */
  const written = useRef(inAddress);
  // At once: an effect that comes later than the next key would take that back.
  useLayoutEffect(() => {
    if (written.current !== inAddress) setText(inAddress);
    written.current = inAddress;
  }, [inAddress]);
  const set = (value: string) => {
    setText(value);
    written.current = value;
    replaceHash(hashFor(value));
  };
  return [text, set];
}
