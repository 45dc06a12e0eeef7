/** Loading what a page shows: once, again when asked to, and from time to time while the tab is looked at. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { messageOf } from "./api.js";

/** What `useResource` gives: a failed reload keeps the value that was there, beside the fault. */
export interface Resource<T> {
  /** undefined until the first answer, then the last good one. */
  readonly value: T | undefined;
  /** Why the latest attempt failed; null when it did not. */
  readonly fault: unknown;
  readonly loadedAt: Date | null;
  reload(): Promise<void>;
}

/** `load` runs when a dependency changes (what was shown goes), on `reload`, and every `everyMs` in a visible tab. */
export function useResource<T>(
  load: () => Promise<T>,
  dependencies: readonly unknown[],
  everyMs?: number,
): Resource<T> {
  const [state, setState] = useState<Omit<Resource<T>, "reload">>({ value: undefined, fault: null, loadedAt: null });
  const latest = useRef(load);
  latest.current = load;
  const turn = useRef(0);
  const reload = useCallback(async () => {
    const mine = ++turn.current;
    try {
      const value = await latest.current();
      if (mine === turn.current) setState({ value, fault: null, loadedAt: new Date() });
    } catch (fault) {
      if (mine === turn.current) setState((before) => ({ ...before, fault }));
    }
  }, []);
  useEffect(() => {
    setState({ value: undefined, fault: null, loadedAt: null });
    void reload();
    return () => {
      turn.current++;
    };
  }, dependencies);
  useEffect(() => {
    if (everyMs === undefined) return;
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") void reload();
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs, reload]);
  return { ...state, reload };
}

/** Runs what a button does: one at a time, with the reason of a failure kept until the next try. */
export function useTask(): {
  readonly isRunning: boolean;
  readonly fault: string | null;
  run(task: () => Promise<void>): Promise<void>;
  /**
   * For what a dialog does, which shows its own faults: when `work` has succeeded, an earlier fault of the page goes, unless it came behind this
   * dialog, where nobody reads it.
   */
  confirmed(work: Promise<unknown>): Promise<void>;
} {
  const [isRunning, setRunning] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const busy = useRef(false);
  /** The dialog behind which the fault came; it leaves the page when it closes, and then the fault is seen. */
  const behind = useRef<Element | null>(null);
  const run = useCallback(async (task: () => Promise<void>) => {
    if (busy.current) return;
    busy.current = true;
    setRunning(true);
    setFault(null);
    behind.current = null;
    try {
      await task();
    } catch (error) {
      behind.current = document.querySelector("dialog[open]");
      setFault(messageOf(error));
    } finally {
      busy.current = false;
      setRunning(false);
    }
  }, []);
  const confirmed = useCallback(async (work: Promise<unknown>) => {
    await work;
    if (behind.current?.isConnected !== true) setFault(null);
    behind.current = null;
  }, []);
  return { isRunning, fault, run, confirmed };
}
