/**
 * Reads that no content of the page answers in place of the browser: a form field named `elements`, an `<img name="cookie">` or a
 * `<form name="currentScript">` hides the property of that name on its form or on the document.
 */

/** `node`, read and written past its named children. Properties that a script of the page has replaced by accessors stay replaced. */
export function bare<T extends object>(node: T): T {
  const ownerOf = (key: PropertyKey): object =>
    // Named children are values; consent tools put accessors there, for `cookie`.
    Object.getOwnPropertyDescriptor(node, key)?.get ? node : Object.getPrototypeOf(node);
  return new Proxy({} as T, {
    get(_, key) {
      const value: unknown = Reflect.get(ownerOf(key), key, node);
      return typeof value === "function" ? (...all: unknown[]) => Reflect.apply(value, node, all) : value;
    },
    set: (_, key, value) => Reflect.set(ownerOf(key), key, value, node),
  });
}

/** The document; undefined on a server. */
export const doc = (typeof document === "object" ? bare(document) : undefined) as Document;

/** A property of `window` that the browser or a script has put there; no element of that id or name. */
export function own<T>(name: string): T | undefined {
  return (Object.getOwnPropertyDescriptor(window, name) && window[name as never]) as T | undefined;
}
