/** Which request paths are static resources: by extension, from a published list. `/.well-known/` never is one. */

import { rulePath } from "../contract/verdicts/visitor-request.js";
import { contextValueMax } from "../limits.js";

/** Lower case, without the dot. */
export const staticExtensions: ReadonlySet<string> = new Set(
  (
    "7z avi avif bmp br bz2 css csv doc docx eot eps flac flv gif gz ico jar jpeg jpg js jxl m4a m4v map mjs mkv mov mp3 mp4 " +
    "mpeg mpg oga ogg ogv opus otf pdf png ppt pptx psd rar svg svgz swf tar tif tiff ttf txt wasm wav webm webmanifest webp " +
    "woff woff2 xls xlsx xml zip zst"
  ).split(" "),
);

/** Those of them of which pages are made: pictures, styles, scripts and fonts. Documents, archives, data, sound and films are what people come for. */
export const pagePartExtensions: ReadonlySet<string> = new Set(
  "avif bmp css eot gif ico jpeg jpg js jxl map mjs otf png svg svgz ttf wasm webmanifest webp woff woff2".split(" "),
);

/**
 * True when the path of `target` (see `rulePath`) names a static resource. A path that servers read in different ways does not count: a last segment
 * with path parameters (`/checkout;.css`) or with an encoded delimiter (`/checkout%2F.css`, `/checkout%00.css`), and a path that was cut for its
 * length.
 */
export function isStaticResource(target: string): boolean {
  return hasExtensionOf(staticExtensions, target);
}

/** True when a request only reads a part of a page, by the same reading of its path. */
export function isPagePart(method: string, target: string): boolean {
  return (method === "GET" || method === "HEAD") && hasExtensionOf(pagePartExtensions, target);
}

function hasExtensionOf(extensions: ReadonlySet<string>, target: string): boolean {
  // Most paths have no extension, so they return here.
  if (!target.includes(".") && !target.includes("%")) return false;
  const path = rulePath(target);
  if (path === undefined || path.length >= cutLength || path.startsWith("/.well-known/")) return false;
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  return dot > 0 && extensions.has(name.slice(dot + 1).toLowerCase()) && !ambiguous.test(name);
}

/** Least length of a cut path: the cut also drops a part of an encoded octet, and then dots, at its end. */
const cutLength = contextValueMax - 4;

/** Path parameters; encoded control characters, `#`, `%`, `/`, `;`, `?`, `\` and DEL; a `%` that encodes nothing. */
const ambiguous = /;|%(?:[01][0-9A-F]|23|25|2F|3B|3F|5C|7F|(?![0-9A-F]{2}))/;
