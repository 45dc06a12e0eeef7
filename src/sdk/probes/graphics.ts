/** Which graphics adapter the browser names. Opens a context and drops it; draws nothing. */

interface Graphics {
  webgl_vendor?: string | undefined;
  webgl_renderer?: string | undefined;
}

let known: Graphics | undefined;

/** Vendor and renderer as this page or this worker sees them, asked once; empty where there is no WebGL. */
export function graphics(): Graphics {
  known ??= graphicsOf(typeof document === "undefined" ? new OffscreenCanvas(1, 1) : document.createElement("canvas"));
  return known;
}

function graphicsOf(canvas: HTMLCanvasElement | OffscreenCanvas): Graphics {
  const gl = canvas.getContext("webgl") as WebGLRenderingContext | null;
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
  setTimeout(() => gl.getExtension("WEBGL_lose_context")?.loseContext());
  return found;
}
