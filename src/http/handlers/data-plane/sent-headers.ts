/** The header lines of a proxy's call. uWebSockets makes new strings on each call, so they are read in one walk. */
import type { HttpRequest } from "uWebSockets.js";
import { sessionHeaderName } from "../../../contract/sessions/session-cookie.js";
import type { Framing } from "../../framing.js";

/** Headers with several lines that form one list, and the separator. */
const joiners: ReadonlyMap<string, string> = new Map([
  ["x-forwarded-for", ", "],
  [sessionHeaderName, ", "],
  ["cookie", "; "],
]);

/** Lines as they came, names in small letters. */
export class SentHeaders {
  readonly lines: (readonly [name: string, value: string])[] = [];

  /** Call in the synchronous callback; `framing` gets the lines as well. */
  constructor(req: HttpRequest, framing: Framing) {
    framing.begin();
    req.forEach((name, value) => {
      framing.take(name, value);
      this.lines.push([name, value]);
    });
  }

  /**
   * The value of a name in small letters. A proxy adds its line after the visitor's lines, so the last line of a name counts. Lists are joined; in
   * `X-Forwarded-For` the last entry is still the proxy's. Looks through all lines: a dozen names are asked for, and a map of all costs more.
   */
  get(name: string): string | undefined {
    const { lines } = this;
    let found: string | undefined;
    for (let index = lines.length - 1; index >= 0; index--) {
      const line = lines[index]!;
      if (line[0] !== name) continue;
      const joiner = joiners.get(name);
      if (joiner === undefined) return line[1];
      found = found === undefined ? line[1] : `${line[1]}${joiner}${found}`;
    }
    return found;
  }
}
