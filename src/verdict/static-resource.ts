/** Which request paths are static resources: by extension, from a published list. `/.well-known/` never is one. */

/** Lower case, without the dot. */
export const staticExtensions: ReadonlySet<string> = new Set(
  (
    "7z avi avif bmp br bz2 css csv doc docx eot eps flac flv gif gz ico jar jpeg jpg js jxl m4a m4v map mjs mkv mov mp3 mp4 " +
    "mpeg mpg oga ogg ogv opus otf pdf png ppt pptx psd rar svg svgz swf tar tif tiff ttf txt wasm wav webm webmanifest webp " +
    "woff woff2 xls xlsx xml zip zst"
  ).split(" "),
);

/** True when `path` (with or without a query) names a static resource. */
export function isStaticResource(path: string): boolean {
  // Most paths have no extension, and need no closer look.
  if (!path.includes(".")) return false;
  const end = path.search(/[?#]/);
  const bare = end === -1 ? path : path.slice(0, end);
  if (bare.startsWith("/.well-known/")) return false;
  const name = bare.slice(bare.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  return dot > 0 && staticExtensions.has(name.slice(dot + 1).toLowerCase());
}
