/**
 * The script tag's entry: `<script async src="…/sdk.js" data-site-key="pk_…"></script>`. Sets `window.verdictd`.
 * Started as a worker, the same file answers with what a worker sees (see collectors/contexts.ts).
 */
import { init } from "./browser.js";
import { contextFacts } from "./collectors/contexts.js";
import { optionsOf, type Verdictd } from "./options.js";

function start(): void {
  if (typeof document === "undefined") {
    postMessage(contextFacts(navigator));
    return;
  }
  const page = window as unknown as { verdictd?: Verdictd };
  // Included twice, or an element of that name: the first SDK wins, an element gives way.
  if (typeof page.verdictd?.token === "function") return;
  const script = document.currentScript ?? document.querySelector("script[data-site-key]");
  if (script instanceof HTMLScriptElement) page.verdictd = init(optionsOf(script));
}

try {
  start();
} catch {
  // The page goes on without us.
}
