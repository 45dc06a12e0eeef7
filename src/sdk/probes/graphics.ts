/** Which graphics adapter the browser names. Opens a context and drops it; draws nothing. */

import { doc } from "../bare.js";
import { attempt } from "../page-hooks.js";

interface Graphics {
  webgl_vendor?: string | undefined;
  webgl_renderer?: string | undefined;
}

let context: WebGLRenderingContext | null | undefined;
let known: Graphics | undefined;

/** Opens the context, once: the longer part of the work. */
export function openGraphics(): WebGLRenderingContext | null {
  if (context === undefined) {
    const canvas = typeof document === "undefined" ? new OffscreenCanvas(1, 1) : doc.createElement("canvas");
    context = canvas.getContext("webgl") as WebGLRenderingContext | null;
  }
  return context;
}

/** Vendor and renderer as this page or this worker sees them, asked once; empty where there is no WebGL. */
export function graphics(): Graphics {
  known ??= graphicsOf(openGraphics());
  return known;
}

function graphicsOf(gl: WebGLRenderingContext | null): Graphics {
  if (!gl) return {};
  const named = (plain: number, unmasked: number) => {
    const value = gl.getParameter(plain);
    // Firefox names the adapter here and warns about the extension; the others say "WebKit".
    const name =
      /^WebKit/.test(value) && gl.getExtension("WEBGL_debug_renderer_info") ? gl.getParameter(unmasked) : value;
    return typeof name === "string" && name ? name.slice(0, 512) : undefined;
  };
  const found = { webgl_vendor: named(gl.VENDOR, 0x9245), webgl_renderer: named(gl.RENDERER, 0x9246) };
  // Later, because it takes as long as opening it.
  setTimeout(() => attempt(() => gl.getExtension("WEBGL_lose_context")?.loseContext()));
  return found;
}
