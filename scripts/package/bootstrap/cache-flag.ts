/** Takes `--cache-dir` out of the command line: the executable needs it before the program that reads the other flags is there. */

interface CacheFlag {
  /** Undefined when the default folders are meant. */
  readonly folder: string | undefined;
  /** The other arguments, in their order. */
  readonly rest: readonly string[];
}

/** `--cache-dir DIR` or `--cache-dir=DIR` anywhere before `--`, or else `VERDICTD_CACHE_DIR`; null when the value is missing. */
export function readCacheFlag(args: readonly string[], env: NodeJS.ProcessEnv): CacheFlag | null {
  const end = args.indexOf("--");
  const flag = "--cache-dir";
  const at = args.findIndex((arg, index) => (arg === flag || arg.startsWith(`${flag}=`)) && (end < 0 || index < end));
  if (at < 0) return { folder: env["VERDICTD_CACHE_DIR"] || undefined, rest: args };
  const isApart = args[at] === flag;
  const folder = isApart ? args[at + 1] : args[at]!.slice(flag.length + 1);
  if (folder === undefined || folder === "" || (isApart && folder.startsWith("--"))) return null;
  return { folder, rest: args.toSpliced(at, isApart ? 2 : 1) };
}
