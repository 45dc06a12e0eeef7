/** Tells whether a server runs on a data folder: one of its live sockets accepts a connection. */
import { once } from "node:events";
import { connect } from "node:net";
import { liveFolder, socketPath, socketsIn } from "./folder.js";

/** Also false if the folder's file system has no sockets. */
export async function isServed(dataDir: string): Promise<boolean> {
  const folder = liveFolder(dataDir);
  const answers = await Promise.all(
    socketsIn(folder).map(async (name) => {
      const { path, release } = socketPath(folder, name);
      const socket = connect(path);
      try {
        await once(socket, "connect");
        return true;
      } catch {
        // A killed server left it behind.
        return false;
      } finally {
        socket.destroy();
        release();
      }
    }),
  );
  return answers.includes(true);
}
