/** A virtual screen (Xvfb) for windows that nobody sees. No window manager: windows stand where they ask to. */
import { awaitOutput, endChild, startChild } from "./child-process.js";
import { programs } from "./chromium.js";

export const screenSize = { width: 1366, height: 900 } as const;

/** A running screen. */
export interface Display {
  /** For the environment: `:7`. */
  readonly name: string;
  close(): Promise<void>;
}

/** Starts a screen on the first free display number. */
export async function openDisplay(): Promise<Display> {
  const size = `${screenSize.width}x${screenSize.height}x24`;
  const child = startChild(programs.Xvfb, ["-displayfd", "3", "-screen", "0", size, "-nolisten", "tcp", "-noreset"], {
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  const numbers = child.stdio[3] as NodeJS.ReadableStream;
  const number = await new Promise<string>((resolve, reject) => {
    let said = "";
    const timer = setTimeout(() => reject(new Error("Xvfb did not name its display")), 60_000);
    numbers.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      if (!said.includes("\n")) return;
      clearTimeout(timer);
      resolve(said.trim());
    });
    awaitOutput(child, /fatal.*/i, 60_000).then(
      ([why]) => reject(new Error(`Xvfb: ${why}`)),
      () => {},
    );
  }).catch(async (error) => {
    await endChild(child);
    throw error;
  });
  return { name: `:${number}`, close: () => endChild(child) };
}
