/** Which page is open: the part of the address after `#`, so that back, forward and reload work. Never holds a credential. */
import { useEffect, useState } from "preact/hooks";

export const pageNames = [
  "overview",
  "sessions",
  "blocks",
  "rules",
  "settings",
  "keys",
  "bots",
  "tokens",
  "usage",
] as const;
export type PageName = (typeof pageNames)[number];

export interface Place {
  readonly page: PageName;
  /** What of the page: a session's token, a rule's id; null: the page itself. */
  readonly item: string | null;
}

export function hashOf(page: PageName, item?: string | number): string {
  return item === undefined ? `#/${page}` : `#/${page}/${encodeURIComponent(item)}`;
}

function placeOf(hash: string): Place {
  const [, name = "", item = ""] = hash.split("/");
  const page = pageNames.find((each) => each === name) ?? "overview";
  return { page, item: item === "" ? null : decoded(item) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function usePlace(): Place {
  const [place, setPlace] = useState(() => placeOf(location.hash));
  useEffect(() => {
    const follow = () => setPlace(placeOf(location.hash));
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return place;
}
