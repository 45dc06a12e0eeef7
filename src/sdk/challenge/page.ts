/**
 * The page that a challenged visitor sees (`middleware/challenge-page.ts` writes it): passes the challenge without being asked to, says how it
 * goes, and loads what was asked for again. Its words come with the page, in the visitor's language.
 */
import type { Verdictd } from "../options.js";

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
  const hasPassed = await verdictd?.challenge();
  progress.hidden = true;
  if (!hasPassed) {
    status.textContent = failed!;
    button(again!, () => location.reload());
  } else if (form) {
    // What was posted is gone: to load this address again would not send it.
    status.textContent = form;
    button(back!, () => history.back());
  } else {
    status.textContent = done!;
    location.reload();
  }
}
