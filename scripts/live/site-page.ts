/**
 * The page of the live measurement: what a small shop might show. Its own script reports where things are, for visitors that
 * point at the screen and not at elements; it takes no part in the detection.
 */

/** Ids of the buttons that a visit clicks. */
export const buttonIds = ["info", "prices", "photos", "basket", "send"] as const;

const style = `
  body { font: 16px/1.5 sans-serif; margin: 0; padding: 10px 40px; }
  h1 { margin: 0; }
  nav { display: flex; gap: 40px; margin: 10px 0 30px; }
  button { font: inherit; padding: 10px 22px; }
  form { display: grid; gap: 16px; width: 440px; margin-left: 180px; }
  input, textarea { font: inherit; padding: 8px; width: 100%; }
  .trap { position: absolute; left: -9999px; }
`;

const script = `
  const report = () => {
    const boxes = {};
    for (const each of document.querySelectorAll("[id]")) {
      const box = each.getBoundingClientRect();
      boxes[each.id] = [box.left, box.top, box.width, box.height];
    }
    const place = { outerHeight, innerHeight, innerWidth, boxes };
    navigator.sendBeacon(placeUrl, JSON.stringify(place));
  };
  addEventListener("load", report);
  addEventListener("resize", report);
  let told = "";
  setInterval(() => { if (document.cookie !== told) { told = document.cookie; report(); } }, 200);
  addEventListener("submit", (event) => event.preventDefault());
  // As a single-page application does when a fetch of it was challenged. Told by an event: some tools' scripts can't reach the page's own.
  document.addEventListener("challenged", () => window.verdictd.challenge());
`;

/**
 * The page of the visit at `address`; the SDK sends its batches below that address, at most a second late. All that a
 * visit clicks is inside the 800 x 600 pixels that some tools open. `ownScript` runs once the page is there.
 */
export function sitePage(address: string, siteKey: string, ownScript = ""): string {
  const words = "Each lamp is turned, sanded and oiled by hand, and none is quite like the other. ".repeat(6);
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Lamps</title><link rel="icon" href="data:,">
<style>${style}</style>
<script async src="/sdk.js" data-site-key="${siteKey}" data-endpoint="${address}" data-interval="1000"></script></head>
<body><h1>Lamps of wood</h1>
<nav>${buttonIds
    .slice(0, 4)
    .map((id) => `<button id="${id}" type="button">Show ${id}</button>`)
    .join("")}</nav>
<form><label>Name <input id="name" name="name" autocomplete="off"></label>
<label>Message <textarea id="message" name="message" rows="2"></textarea></label>
<label class="trap" aria-hidden="true">Leave empty <input name="website" tabindex="-1" autocomplete="off" data-verdictd-honeypot></label>
<button id="send" type="submit">Send</button></form>
${`<p>${words}</p>`.repeat(14)}
<script>{ const placeUrl = "${address}/place"; ${script} }</script><script>{ ${ownScript} }</script></body></html>`;
}
