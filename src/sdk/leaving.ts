/** Notices that the page is about to be left while there is still time to say what was seen. `pagehide`, which comes after the next page's request, is the agent's. */
import { own } from "./bare.js";
import type { Scene } from "./collector.js";

const withoutHash = (address: string): string => address.replace(/#.*/, "");

/** Reports on `submit`, and on a click that leaves the page. Called last, so that the collectors have recorded these by then. */
export function reportBeforeLeaving(scene: Scene): void {
  scene.listen(window, "submit", scene.report);
  const navigation = own<EventTarget>("navigation");
  if (navigation) {
    // Says it of links, forms and scripts alike.
    scene.listen<Event & { destination: { sameDocument: boolean }; downloadRequest: unknown }>(
      navigation,
      "navigate",
      (event) => {
        if (event.destination.sameDocument || event.downloadRequest != null) return;
        // Whoever types an address, or gives one from outside, comes by no such event.
        scene.record("focus", { state: "leave", scroll_input: scene.input.kind });
        scene.report();
      },
    );
  } else {
    scene.listen<MouseEvent>(window, "click", (event) => {
      const link = (event.target as Element | null)?.closest?.<HTMLAnchorElement>("a[href]");
      if (!link || withoutHash(String(link.href)) === withoutHash(location.href)) return;
      // By then the page has decided whether it stays.
      scene.later(() => {
        if (!event.defaultPrevented) scene.report();
      }, 0);
    });
  }
}
