/**
 * The script tag's entry: `<script async src="…/sdk.js" data-site-key="pk_…"></script>`. Sets `window.verdictd`.
 */
import { doc } from "./bare.js";
import { optionsOf, type Verdictd } from "./options.js";
import { startSdk } from "./start.js";

function start(): void {
  const page = window as unknown as { verdictd?: Verdictd };
  const script = doc.currentScript ?? doc.querySelector("script[data-site-key]");
  if (script instanceof HTMLScriptElement) {
    const options = optionsOf(script);
    const { siteKey, consent = "wait" } = options;
    // Of other mistakes the second file tells, once a first report was answered.
    if (!siteKey || consent !== "wait") console.error("verdictd: check data-site-key, data-consent");
    const handle = startSdk(options);
    // Of several the first one; an element of that name yields.
    if (typeof page.verdictd?.token !== "function") page.verdictd = handle;
  }
}

try {
  start();
} catch {
  // The page goes on without us.
}
