/**
 * One keep-alive HTTP connection on a bare TCP socket, for load: writes finished request bytes, reads answers with a
 * `Content-Length` (or without a body). Several requests may be in flight. Not a general HTTP client: no chunked answers.
 */
import { connect, type Socket } from "node:net";

/** Called for each complete answer. `bytes` holds it from `start` to `end`, for the time of the call. */
export type OnAnswer = (status: number, bytes: Buffer, start: number, end: number) => void;

const headEnd = Buffer.from("\r\n\r\n");
const lengthHeads = [Buffer.from("\r\nContent-Length: "), Buffer.from("\r\ncontent-length: ")];
const readBytes = 64 * 1024;

export class LoadConnection {
  readonly #socket: Socket;
  readonly #onAnswer: OnAnswer;
  #pending: Buffer | null = null;
  #lengthHead = lengthHeads[0]!;

  private constructor(socket: Socket, onAnswer: OnAnswer) {
    this.#socket = socket;
    this.#onAnswer = onAnswer;
  }

  /** Rejects when the connection can't be had. `onClosed` is called when it ends for any reason but `close`. */
  static open(
    host: string,
    port: number,
    onAnswer: OnAnswer,
    onClosed: (error: Error) => void,
  ): Promise<LoadConnection> {
    return new Promise((resolve, reject) => {
      let connection: LoadConnection | null = null;
      const buffer = Buffer.allocUnsafe(readBytes);
      const socket = connect({
        host,
        port,
        noDelay: true,
        onread: {
          buffer,
          callback: (count) => {
            connection?.read(buffer.subarray(0, count));
            return true;
          },
        },
      });
      let failure = new Error("the server closed the connection");
      socket.once("connect", () => {
        connection = new LoadConnection(socket, onAnswer);
        resolve(connection);
      });
      socket.on("error", (error) => {
        failure = error;
        reject(error);
      });
      socket.on("close", () => onClosed(failure));
    });
  }

  send(bytes: Uint8Array): void {
    this.#socket.write(bytes);
  }

  close(): void {
    this.#socket.removeAllListeners("close");
    this.#socket.destroy();
  }

  read(chunk: Buffer): void {
    let bytes = this.#pending === null ? chunk : Buffer.concat([this.#pending, chunk]);
    let at = 0;
    while (at < bytes.length) {
      const end = this.#answerEnd(bytes, at);
      if (end === -1 || end > bytes.length) break;
      // "HTTP/1.1 200": the digits are at 9 to 11.
      const status = (bytes[at + 9]! - 48) * 100 + (bytes[at + 10]! - 48) * 10 + bytes[at + 11]! - 48;
      this.#onAnswer(status, bytes, at, end);
      at = end;
    }
    if (at === bytes.length) {
      this.#pending = null;
      return;
    }
    // The read buffer is used again: what is left of it is copied.
    bytes = Buffer.from(bytes.subarray(at));
    this.#pending = bytes;
  }

  /** Where the answer that starts at `at` ends; -1 while its head is incomplete. */
  #answerEnd(bytes: Buffer, at: number): number {
    const head = bytes.indexOf(headEnd, at);
    if (head === -1) return -1;
    let length = bytes.indexOf(this.#lengthHead, at);
    if (length === -1 || length > head) {
      const other = lengthHeads.find((each) => {
        const found = bytes.indexOf(each, at);
        return found !== -1 && found < head;
      });
      if (other === undefined) return head + 4;
      this.#lengthHead = other;
      length = bytes.indexOf(other, at);
    }
    let body = 0;
    for (let digit = length + this.#lengthHead.length; digit < head; digit++) {
      const value = bytes[digit]! - 48;
      if (value < 0 || value > 9) break;
      body = body * 10 + value;
    }
    return head + 4 + body;
  }
}
