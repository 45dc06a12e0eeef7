/** Which page is open: the part of the address after `#`, so that back, forward and reload work. Never holds a credential. */
import { useEffect, useState } from "preact/hooks";

/** Every page by the first word of its address, in the order of the navigation. */
export const pageNames = [
  "overview",
  "explore",
  "sessions",
  "blocks",
  "rules",
  "settings",
  "keys",
  "bots",
  "members",
  "tokens",
  "changes",
  "usage",
] as const;
/** One of `pageNames`; an address with another name opens the overview. */
export type PageName = (typeof pageNames)[number];

/** An address taken apart. `usePlace` makes it, `hashOf` is the way back. */
export interface Place {
  readonly page: PageName;
  /** What of the page: a session's token, a rule's id; null: the page itself. */
  readonly item: string | null;
  /** What the page shows, as `name=value` pairs behind a question mark. */
  readonly query: URLSearchParams;
}

/** The address of a page, from `#` on, for links: `#/rules/7`, `#/explore?q=…`. The item is percent-encoded. */
export function hashOf(page: PageName, item?: string | number, query?: Readonly<Record<string, string>>): string {
  const path = item === undefined ? `#/${page}` : `#/${page}/${encodeURIComponent(item)}`;
  const pairs = String(new URLSearchParams(query));
  return pairs === "" ? path : `${path}?${pairs}`;
}

function placeOf(hash: string): Place {
  const end = hash.indexOf("?");
  const [, name = "", item = ""] = (end < 0 ? hash : hash.slice(0, end)).split("/");
  const page = pageNames.find((each) => each === name) ?? "overview";
  return { page, item: item === "" ? null : decoded(item), query: new URLSearchParams(end < 0 ? "" : hash.slice(end)) };
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
  history.replaceState(null, "", hash);
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
