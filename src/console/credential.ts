/** Where the console keeps the account token: in this tab's session storage, nowhere else, until sign-out or the tab closes. */

const tokenItem = "verdictd.token";
const projectItem = "verdictd.project";

export function storedToken(): string | null {
  return sessionStorage.getItem(tokenItem);
}

export function storeToken(token: string): void {
  sessionStorage.setItem(tokenItem, token);
}

/** Forgets the token and what was chosen with it. */
export function forgetToken(): void {
  sessionStorage.removeItem(tokenItem);
  sessionStorage.removeItem(projectItem);
}

/** Id of the project that was last looked at in this tab; null: none. */
export function storedProject(): number | null {
  return Number(sessionStorage.getItem(projectItem)) || null;
}

export function storeProject(id: number): void {
  sessionStorage.setItem(projectItem, String(id));
}
