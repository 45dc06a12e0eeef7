/**
 * The page that a challenged visitor sees (`middleware/challenge-page.ts` writes it): passes the challenge without being asked to, says how it
 * goes, and loads what was asked for again. Its words come with the page, in the visitor's language.
 */
import type { Verdictd } from "../options.js";

/** When this tab last passed, ms since the epoch. */
const passedAt = "verdictd_passed_at";
/** From a pass to the page that is then loaded. */
const loadMsMax = 10_000;

/** Whether this page is what a pass led to. It did not hold then, as where the browser keeps no cookies: it would be passed and loaded for ever. */
function isPassedInVain(): boolean {
  try {
    return Date.now() - Number(sessionStorage.getItem(passedAt)) < loadMsMax;
  } catch {
    // Storage is refused together with cookies.
    return true;
  }
}

/** Passes `main`'s page through its states. */
export async function runPage(main: HTMLElement, verdictd: Pick<Verdictd, "challenge"> | undefined): Promise<void> {
  const { done, failed, form, back, again } = main.dataset as Record<string, string>;
  const status = main.querySelector("[role=status]")!;
  const progress = main.querySelector("progress")!;
  const button = (text: string, act: () => void): void => {
    const element = document.createElement("button");
    element.textContent = text;
    element.onclick = act;
    status.after(element);
  };
  const isInVain = isPassedInVain();
  const hasPassed = await verdictd?.challenge();
  progress.hidden = true;
  if (!hasPassed || (isInVain && !form)) {
    status.textContent = failed!;
    button(again!, () => location.reload());
  } else if (form) {
    // What was posted is gone: to load this address again would not send it.
    status.textContent = form;
    button(back!, () => history.back());
  } else {
    status.textContent = done!;
    sessionStorage.setItem(passedAt, `${Date.now()}`);
    location.reload();
  }
}
