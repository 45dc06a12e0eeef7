/** Connections that send requests and read nothing of what is answered. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { Test } from "tap";

/** Opens a connection that never reads. Gone at the end of the test. */
export async function openUnread(t: Test, port: number): Promise<Socket> {
  // From another address than everybody else: what one gets answered in a turn is an address's share.
  const socket = connect({ port, host: "127.0.0.1", localAddress: "127.0.0.2" });
  t.teardown(() => socket.destroy());
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket.pause();
}

/** Sends so many bytes of this request again and again; resolves when they are with the kernel, or the server has closed the connection. */
export async function pipeline(socket: Socket, request: string, bytes: number): Promise<void> {
  const piece = request.repeat(Math.ceil((32 * 1024) / request.length));
  for (let sent = 0; sent < bytes && !socket.destroyed; sent += piece.length) {
    await new Promise<void>((resolve) => {
      socket.once("close", resolve);
      socket.write(piece, "latin1", () => {
        socket.off("close", resolve);
        resolve();
      });
    });
  }
}
