/** Built-in functions that are no longer the browser's own, as stealth plug-ins leave them. */
import { attempt } from "../page-hooks.js";

/** Whether a function's text is that of the browser's own; whoever replaced the function could have disguised it, too. */
export const looksNative = (text: unknown): boolean => String(text).includes("[native code]");

/** Objects, their types and properties that automation is known to disguise. Not those that monitoring scripts wrap (fetch, console). */
const suspects = [
  "navigator Navigator webdriver userAgent platform plugins mimeTypes languages hardwareConcurrency deviceMemory",
  "permissions Permissions query",
  "webgl WebGLRenderingContext getParameter",
  "iframe HTMLIFrameElement contentWindow",
  "screen Screen width height availHeight colorDepth",
  "function Function toString",
];

/**
 * The text of a function as the engine itself has it, where no script can stand between: V8 names in an error what a class can't extend. Empty, or
 * without `[native code]`, for functions of the page, for proxies, and in other engines.
 */
export function engineText(native: object): string {
  try {
    const before = Reflect.getPrototypeOf(native);
    // Anything but a proxy refuses to be its own prototype.
    if (!Reflect.setPrototypeOf(native, native)) return String(class extends (native as ObjectConstructor) {});
    Reflect.setPrototypeOf(native, before);
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

/** Whether a fresh frame should be asked: always in engines that don't show their functions, else where something here is not as it was built. */
export function isDoubtful(): boolean {
  return (
    !!tamperedNatives()[0] ||
    // What takes the navigator's place is not what its getters want.
    !attempt(() => Reflect.get(Navigator.prototype, "userAgent", navigator))
  );
}

/**
 * Names such as `navigator.webdriver`; an empty list when all is as it was built. The functions' texts are read with the `toString` of a fresh frame,
 * which the page's scripts have not reached; without one by `engineText`, and then what is absent counts as deleted.
 */
export function tamperedNatives(frame?: Window & typeof globalThis): string[] {
  const found: string[] = [];
  // Nobody has a use for another `atob`.
  const shows = looksNative(engineText(atob)) || !frame;
  for (const suspect of suspects) {
    const [owner, type, ...keys] = suspect.split(" ");
    const prototype = (window as unknown as Record<string, { prototype?: object }>)[type!]?.prototype;
    for (const key of keys) {
      const property = prototype && Reflect.getOwnPropertyDescriptor(prototype, key);
      const native = property && (property.get ?? property.value);
      const source = native && (shows ? engineText(native) : frame!.Function.prototype.toString.call(native));
      const isGenuine = native
        ? !Object.hasOwn(navigator, key) && !("prototype" in native) && source.includes(key) && looksNative(source)
        : // Else it was deleted from the prototype.
          frame && !(key in frame.navigator);
      if (!isGenuine) found.push(`${owner}.${key}`);
    }
  }
  return found;
}
