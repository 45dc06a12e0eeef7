/** The session's token: in memory, and in a cookie that all tabs of the site share. Never throws. */
import type { Settings } from "./options.js";

/** Where the token is kept. */
export interface TokenStore {
  /** The token now: the cookie's, so that a tab sees what another one wrote; else the one in memory. */
  read(): string | null;
  /** Takes an answer's token, unless another tab has written one since `sent` was read: then that one is adopted. */
  write(answered: string, sent: string | null): void;
}

const wellFormed = /^sess_[\w-]{1,128}$/;

function readCookie(name: string): string | null {
  try {
    for (const pair of document.cookie.split(/; */)) {
      const value = pair.slice(name.length + 1);
      if (pair.startsWith(`${name}=`) && wellFormed.test(value)) return value;
    }
  } catch {
    // A sandboxed frame has no cookies: memory serves.
  }
  return null;
}

/** Opens the store. The cookie carries the token alone. */
export function openTokenStore(settings: Settings): TokenStore {
  let memory = settings.token;
  const read = () => (memory = (settings.cookie && readCookie(settings.cookieName)) || memory);
  return {
    read,
    write(answered, sent) {
      const other = settings.cookie ? readCookie(settings.cookieName) : null;
      memory = other && other !== sent ? other : answered;
      try {
        // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is missing in browsers still in use.
        if (settings.cookie) document.cookie = `${settings.cookieName}=${memory}${settings.cookieAttributes}`;
      } catch {
        // See readCookie.
      }
    },
  };
}
