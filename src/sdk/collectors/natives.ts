/** Built-in functions that are no longer the browser's own, as stealth plug-ins leave them. */
import { withFrame } from "./contexts.js";

/** Objects and their properties that automation is known to disguise. Not those that monitoring scripts wrap (fetch, console). */
function suspects(): [owner: string, prototype: object | undefined, keys: string[]][] {
  const of = (name: string) =>
    (window as unknown as Record<string, { prototype?: object } | undefined>)[name]?.prototype;
  return [
    [
      "navigator",
      of("Navigator"),
      [
        "webdriver",
        "userAgent",
        "platform",
        "plugins",
        "mimeTypes",
        "languages",
        "hardwareConcurrency",
        "deviceMemory",
      ],
    ],
    ["permissions", of("Permissions"), ["query"]],
    ["webgl", of("WebGLRenderingContext"), ["getParameter"]],
    ["iframe", of("HTMLIFrameElement"), ["contentWindow"]],
    ["screen", of("Screen"), ["width", "height", "availHeight", "colorDepth"]],
    ["function", Function.prototype, ["toString"]],
  ];
}

/**
 * Names such as `navigator.webdriver`; an empty list when all is as it was built. The functions' texts are read with the
 * `toString` of a fresh frame, which the page's scripts have not reached.
 */
export function tamperedNatives(): string[] | undefined {
  return withFrame((frame) => {
    const sourceOf = (frame as unknown as { Function: FunctionConstructor }).Function.prototype.toString;
    const found: string[] = [];
    for (const [owner, prototype, keys] of suspects()) {
      for (const key of keys) {
        const property = prototype && Object.getOwnPropertyDescriptor(prototype, key);
        if (!property) {
          // Deleted from the prototype, though a fresh frame has it.
          if (owner === "navigator" && key in frame.navigator) found.push(`${owner}.${key}`);
          continue;
        }
        const native = property.get ?? property.value;
        const source = sourceOf.call(native);
        const genuine = source.includes("[native code]") && source.includes(key) && !("prototype" in native);
        const shadowed = owner === "navigator" && Object.hasOwn(navigator, key);
        if (!genuine || shadowed) found.push(`${owner}.${key}`);
      }
    }
    return found;
  });
}
