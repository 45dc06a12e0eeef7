/** Long and encoded texts as people can read them. Pure. */

/** A path with what is encoded of letters and signs beyond ASCII as these; control and direction characters stay encoded. */
export function readablePath(path: string): string {
  return path.replace(/(?:%[89A-F][0-9A-F])+/gi, (run) => {
    try {
      const text = decodeURIComponent(run);
      return /^[\p{L}\p{M}\p{N}\p{P}\p{S}]+$/u.test(text) ? text : run;
    } catch {
      return run;
    }
  });
}

/** What every browser says, whichever it is. */
const said = /^(?:Mozilla\/5\.0|AppleWebKit\/\S+|\(KHTML,? like Gecko\)|Gecko\/\S+|Version\/\S+|Mobile\/\S+)$/i;

/** A browser's user agent with its own name first and its system behind it; any other as it is. */
export function readableAgent(text: string): string {
  const [, system, rest] = /^Mozilla\/5\.0 \(([^()]*(?:\([^()]*\)[^()]*)*)\)(.*)$/.exec(text) ?? [];
  if (system === undefined || rest === undefined) return text;
  const products = (rest.match(/\([^()]*\)|\S+/g) ?? []).filter((part) => !said.test(part));
  const own = products.filter((part) => !/^(?:Mobile )?Safari\/|^Mobile$|^Chrome\//.test(part));
  const chrome = products.filter((part) => part.startsWith("Chrome/"));
  const safari = products.filter((part) => part.startsWith("Safari/"));
  // The last that a browser says is its own: Edge says that it is Chrome, and Chrome that it is Safari.
  const name = own.length > 0 ? [...own, ...chrome] : chrome.length > 0 ? chrome : safari;
  return name.length === 0 ? text : `${name.join(" ")} (${system})`;
}
