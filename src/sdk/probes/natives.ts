/** Built-in functions that are no longer the browser's own, as stealth plug-ins leave them. */

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
 * Names such as `navigator.webdriver`; an empty list when all is as it was built. The functions' texts are read with the
 * `toString` of a fresh frame, which the page's scripts have not reached.
 */
export function tamperedNatives(frame: Window): string[] {
  const sourceOf = (frame as unknown as { Function: FunctionConstructor }).Function.prototype.toString;
  const found: string[] = [];
  for (const suspect of suspects) {
    const [owner, type, ...keys] = suspect.split(" ");
    const { prototype } = (window as unknown as Record<string, { prototype?: object }>)[type!] ?? {};
    for (const key of keys) {
      const property = prototype && Object.getOwnPropertyDescriptor(prototype, key);
      if (!property) {
        // Deleted from the prototype, though a fresh frame has it.
        if (owner === "navigator" && key in frame.navigator) found.push(`${owner}.${key}`);
        continue;
      }
      const native = property.get ?? property.value;
      const source = sourceOf.call(native);
      const genuine = looksNative(source) && source.includes(key) && !("prototype" in native);
      const shadowed = owner === "navigator" && Object.hasOwn(navigator, key);
      if (!genuine || shadowed) found.push(`${owner}.${key}`);
    }
  }
  return found;
}
