/** A progress bar on stderr for long work, drawn only where a person looks at it. */

const width = 30;

/** Draws `done` of `total`; a no-op unless stderr is a terminal. Ends the line when done. */
export function progressBar(label: string, isWanted: boolean): (done: number, total: number) => void {
  if (!isWanted || !process.stderr.isTTY) return () => {};
  return (done, total) => {
    const share = total === 0 ? 1 : Math.min(1, done / total);
    const bar = "█".repeat(Math.round(share * width)).padEnd(width, "░");
    process.stderr.write(`\r${label} ${bar} ${Math.floor(share * 100)} %${share === 1 ? "\n" : ""}`);
  };
}
