/** The session's token: in memory, and in a cookie that all tabs of the site share. Never throws. */
import type { Settings } from "./options.js";
import { attempt } from "./page-hooks.js";

/** Where the token is kept. */
export interface TokenStore {
  /** The token now: the cookie's, so that a tab sees what another one wrote; else the one in memory. */
  read(): string | null;
  /** Takes an answer's token, unless another tab has written one since `sent` was read: then that one is adopted. */
  write(answered: string, sent: string | null): void;
  /** Removes all that the SDK keeps in this browser. */
  forget(): void;
}

/** Where the tab keeps, for its next page, what a page without a token could not send. */
export const storageKey = "verdictd";
/** Where it keeps the token whose session has handed in a start ticket. */
export const ticketKey = "verdictd_ticket";

const wellFormed = /^sess_[\w-]{1,128}$/;

function readCookie(name: string): string | null {
  const pairs = attempt(() => document.cookie.split(/; */)) ?? [];
  for (const pair of pairs) {
    const value = pair.slice(name.length + 1);
    if (pair.startsWith(`${name}=`) && wellFormed.test(value)) return value;
  }
  return null;
}

/** Opens the store. The cookie carries the token alone. */
export function openTokenStore(settings: Settings): TokenStore {
  let memory = settings.token;
  const read = () => (memory = (settings.cookie && readCookie(settings.cookieName)) || memory);
  const setCookie = (value: string, more = "") =>
    // A sandboxed frame has no cookies: memory serves.
    attempt(() => {
      // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is missing in browsers still in use.
      if (settings.cookie) document.cookie = `${settings.cookieName}=${value}${settings.cookieAttributes}${more}`;
    });
  return {
    read,
    write(answered, sent) {
      const other = settings.cookie ? readCookie(settings.cookieName) : null;
      memory = other && other !== sent ? other : answered;
      setCookie(memory);
    },
    forget() {
      memory = null;
      // Of two ages the last one counts.
      setCookie("", "; Max-Age=0");
      for (const key of [storageKey, ticketKey]) attempt(() => sessionStorage.removeItem(key));
    },
  };
}
