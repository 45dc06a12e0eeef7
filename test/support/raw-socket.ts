/** HTTP by hand over a TCP socket, for tests of what `fetch` won't send: pipelines, chunks, broken bodies, clients that leave. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";

export interface RawAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** One connection. Answers are read in order, each to the end that its `Content-Length` names. */
export class RawClient {
  readonly #socket: Socket;
  #received = Buffer.alloc(0);
  #isOver = false;
  #wake: () => void = () => {};

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (piece: Buffer) => {
      this.#received = Buffer.concat([this.#received, piece]);
      this.#wake();
    });
    const over = (): void => {
      this.#isOver = true;
      this.#wake();
    };
    socket.on("error", over).on("close", over);
  }

  static async open(port: number): Promise<RawClient> {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    return new RawClient(socket);
  }

  /** Resolves when it is with the kernel, or the connection is gone. */
  write(text: string | Uint8Array): Promise<void> {
    if (this.#socket.destroyed) return Promise.resolve();
    return new Promise((resolve) => this.#socket.write(text, () => resolve()));
  }

  /** The next answer, or null when the server closed the connection first. `toHead`: the answer to a HEAD has no body. */
  async answer(toHead = false): Promise<RawAnswer | null> {
    for (;;) {
      const found = this.#next(toHead);
      if (found !== null) return found;
      if (this.#isOver) return null;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Leaves without a word more. */
  leave(): void {
    this.#socket.destroy();
  }

  #next(toHead: boolean): RawAnswer | null {
    const headEnd = this.#received.indexOf("\r\n\r\n");
    if (headEnd === -1) return null;
    const [first, ...lines] = this.#received.toString("latin1", 0, headEnd).split("\r\n");
    const headers = new Map(
      lines.map((line) => {
        const colon = line.indexOf(":");
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    const bodyBytes = toHead ? 0 : Number(headers.get("content-length") ?? 0);
    const end = headEnd + 4 + bodyBytes;
    if (this.#received.length < end) return null;
    const body = this.#received.toString("utf8", headEnd + 4, end);
    this.#received = this.#received.subarray(end);
    return { status: Number(first!.split(" ")[1]), headers, body };
  }
}

/** A request as text, with `Content-Length` where there is a body. */
export function rawRequest(method: string, path: string, headers: Record<string, string> = {}, body?: string): string {
  const lines = Object.entries({ Host: "localhost", ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  if (body !== undefined) lines.push(`Content-Length: ${Buffer.byteLength(body)}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body ?? ""}`;
}

/** A body in chunks of the chunked transfer coding. */
export function chunked(pieces: readonly string[]): string {
  return `${pieces.map((piece) => `${Buffer.byteLength(piece).toString(16)}\r\n${piece}\r\n`).join("")}0\r\n\r\n`;
}
