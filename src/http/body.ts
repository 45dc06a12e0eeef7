/** Reads request bodies under a bound. What is over it is refused at once and never buffered. */
import type { HttpResponse } from "uWebSockets.js";

export interface BodyReader {
  /** The whole body, for the time of the call: copy what is kept. */
  readonly onBody: (body: Buffer) => void;
  /** Called once, when the body turned out to be over the bound; the rest of it is dropped unread. */
  readonly onOversize: () => void;
}

/** Attach before anything asynchronous happens. A body that comes in one piece, as most do, is not copied. */
export function readBody(res: HttpResponse, bytesMax: number, { onBody, onOversize }: BodyReader): void {
  let chunks: Buffer[] | null = null;
  let bytes = 0;
  let done = false;
  res.onData((piece, isLast) => {
    if (done) return;
    bytes += piece.byteLength;
    if (bytes > bytesMax) {
      done = true;
      chunks = null;
      onOversize();
      return;
    }
    // The piece is uWebSockets' own memory and gone after this callback.
    const chunk = Buffer.from(piece);
    if (isLast) {
      done = true;
      onBody(chunks === null ? chunk : Buffer.concat([...chunks, chunk], bytes));
    } else if (chunk.length > 0) {
      chunks ??= [];
      chunks.push(Buffer.from(chunk));
    }
  });
}
