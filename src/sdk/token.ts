/** The session's token: in memory, and in a cookie that all tabs of the site share. Never throws. */
import { doc } from "./bare.js";
import type { Settings } from "./options.js";
import { attempt } from "./page-hooks.js";

/** Where the token is kept. */
export interface TokenStore {
  /** The token now: the cookie's, so that a tab sees what another one or the server wrote; else the one in memory. */
  read(): string | null;
  /** Takes an answer's token, unless another tab has written one since `sent` was read: then that one is adopted. */
  write(answered: string, sent: string | null): void;
  /** Removes all that the SDK keeps in this browser. */
  forget(): void;
}

/** What the names of all that a tab keeps begin with. */
export const storagePrefix = "verdictd";
/** Where it keeps the token whose session has handed in a start ticket. */
export const ticketKey = "verdictd_ticket";

const wellFormed = /^sess_[\w-]{1,128}$/;

/** The host and the domains above it, the nearest first; browsers refuse cookies for those that are no site's. */
function domains(): string[] {
  const labels = location.hostname.split(".");
  return labels.map((_, at) => labels.slice(at).join("."));
}

/** Opens the store. The cookie carries the token alone. */
export function openTokenStore(settings: Settings): TokenStore {
  let memory = settings.token;
  /** A token that the server has replaced: a second cookie of this name, from another domain or path, may bring it again and again. */
  let dead: string | null = null;
  let domain = settings.cookieDomain;
  let isTidy = false;

  const values = () => {
    const found: string[] = [];
    if (settings.cookie) {
      for (const pair of (attempt(() => doc.cookie) ?? "").split(/; */)) {
        const value = pair.slice(settings.cookieName.length + 1);
        if (pair.startsWith(`${settings.cookieName}=`) && wellFormed.test(value)) found.push(value);
      }
    }
    return found;
  };
  const live = () => values().find((value) => value !== dead);
  // A sandboxed frame has no cookies: memory serves. Of two ages the last one counts.
  const put = (value: string, at: string) =>
    attempt(() => {
      if (settings.cookie) {
        doc.cookie = `${settings.cookieName}=${value}${settings.cookieAttributes}${at && `; Domain=${at}`}${value ? "" : "; Max-Age=0"}`;
      }
    });
  /** There is one cookie of this name: the domain's. A page that was not told the domain finds it where the other cookie can be removed. */
  const tidy = (value: string) => {
    if (isTidy || values().length < 2) return;
    isTidy = true;
    put("", "");
    if (domain) return;
    for (const each of domains()) {
      put("", each);
      if (values().length) continue;
      domain = each;
      break;
    }
    put(value, domain);
  };
  return {
    read: () => (memory = live() ?? memory),
    write(answered, sent) {
      if (answered !== sent) dead = sent;
      const now = live();
      memory = now && now !== sent ? now : answered;
      put(memory, domain);
      tidy(memory);
    },
    forget() {
      memory = null;
      // Firefox complains of a domain that is none of the page's, so no more are tried than there are cookies for.
      for (const each of ["", domain, ...domains()]) if (values().length) put("", each);
      attempt(() => {
        for (const key of Object.keys(sessionStorage))
          if (key.startsWith(storagePrefix)) sessionStorage.removeItem(key);
      });
    },
  };
}
