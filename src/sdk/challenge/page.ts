/**
 * The page that a challenged visitor sees (`middleware/challenge-page.ts` writes it): passes the challenge without being asked to, says how it
 * goes, and loads what was asked for again. Its words come with the page, in the visitor's language.
 */
import type { Verdictd } from "../options.js";

/** When this tab last passed, ms since the epoch. */
const passedAt = "verdictd_passed_at";
/** How long after a pass that did not hold, or a refusal, nothing is tried. */
const againMs = 30_000;

/** The tab keeps it in its storage, or in its name where storage is refused. */
function lastPassMs(): number {
  let kept: string | null | undefined;
  try {
    kept = sessionStorage.getItem(passedAt);
  } catch {
    // Storage is refused together with cookies.
    kept = new RegExp(`^${passedAt} (\\d+)$`).exec(window.name)?.[1];
  }
  return Number(kept ?? 0);
}

function keepPass(): void {
  try {
    sessionStorage.setItem(passedAt, `${Date.now()}`);
  } catch {
    window.name = `${passedAt} ${Date.now()}`;
  }
}

/** Takes `main`'s page through its states. `isRefused`: whether the server has refused the last try. */
export async function runPage(
  main: HTMLElement,
  verdictd: Pick<Verdictd, "challenge"> | undefined,
  isRefused: () => boolean,
): Promise<void> {
  const { done, failed, refused, form, back, again } = main.dataset as Record<string, string>;
  const status = main.querySelector("[role=status]")!;
  const progress = main.querySelector("progress")!;
  // It tells those whom this script does not reach.
  main.querySelector(".late")?.remove();
  const button = (text: string, act: () => void): void => {
    const element = document.createElement("button");
    element.textContent = text;
    element.onclick = act;
    status.after(element);
  };
  const stop = (text: string, ms: number): void => {
    progress.hidden = true;
    status.textContent = text;
    setTimeout(() => button(again!, () => location.reload()), ms);
  };
  const sinceMs = Date.now() - lastPassMs();
  // This page is what a pass led to, which did not hold: it would be passed and loaded for ever.
  if (sinceMs >= 0 && sinceMs < againMs) return stop(refused!, againMs - sinceMs);
  if (!(await verdictd?.challenge())) return isRefused() ? stop(refused!, againMs) : stop(failed!, 0);
  progress.hidden = true;
  keepPass();
  // Where cookies are refused the form would meet this page again, however late it is sent.
  if (form && !navigator.cookieEnabled) return stop(refused!, againMs);
  if (form) {
    // What was posted is gone: to load this address again would not send it.
    status.textContent = form;
    button(back!, () => history.back());
  } else {
    status.textContent = done!;
    location.reload();
  }
}
