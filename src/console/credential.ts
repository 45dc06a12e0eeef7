/**
 * What the console keeps in this tab's session storage, and nowhere else, until sign-out or the tab closes: the account token,
 * which project was looked at, drafts of rules. Another tab gets the token by asking (`tabs.ts`).
 */

const prefix = "verdictd.";
const tokenItem = `${prefix}token`;
const projectItem = `${prefix}project`;

/** The account token of this tab; null: signed out. It survives a reload, not the closing of the tab. */
export function storedToken(): string | null {
  return sessionStorage.getItem(tokenItem);
}

/** Keeps a token that the server has accepted. */
export function storeToken(token: string): void {
  sessionStorage.setItem(tokenItem, token);
}

/** Forgets the token and everything that was done with it. */
export function forgetToken(): void {
  for (const item of Object.keys(sessionStorage)) if (item.startsWith(prefix)) sessionStorage.removeItem(item);
}

/** Id of the project that was last looked at in this tab; null: none. */
export function storedProject(): number | null {
  return Number(sessionStorage.getItem(projectItem)) || null;
}

/** Remembers the project by its id, for `storedProject` after a reload. */
export function storeProject(id: number): void {
  sessionStorage.setItem(projectItem, String(id));
}

const draftItem = (project: number, item: string): string => `${prefix}draft.${project}.${item}`;

/** The draft of a rule (`item`: its id, or "new") that was left unsaved; null: none. */
export function storedDraft<Draft>(project: number, item: string): Draft | null {
  const text = sessionStorage.getItem(draftItem(project, item));
  return text === null ? null : (JSON.parse(text) as Draft);
}

/** Keeps the draft of a rule (`item`: its id, or "new") as JSON, in place of an earlier one. */
export function storeDraft(project: number, item: string, draft: object): void {
  sessionStorage.setItem(draftItem(project, item), JSON.stringify(draft));
}

/** For a draft that was saved: the editor begins with the stored rule again. */
export function forgetDraft(project: number, item: string): void {
  sessionStorage.removeItem(draftItem(project, item));
}
